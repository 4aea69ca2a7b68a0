import * as z from "zod";
import { fingerprint } from "../../crypto/seal.ts";
import { LIMITS } from "../../model/limits.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { explain, optional } from "../../model/text.ts";
import { DAY, SECOND } from "../../model/time.ts";
import type { NewWebhook, WebhookChange } from "../../model/webhook.ts";
import { webhookUrlFault } from "../../model/webhook-url.ts";
import { requireRoom } from "../../store/health/room.ts";
import { sendWebhookRequest } from "../coordinator.ts";
import { newId } from "../new-id.ts";
import { presentWebhook } from "../present/webhooks.ts";
import type { Call, ParseCall, ReplyTo } from "../route.ts";

/** /v1/admin/vaults/{v}/webhooks (contract 17): lists, creates, changes and deletes the webhooks of a vault. */

/** Seconds for which a secret that is replaced also signs, unless the request says otherwise. */
const OVERLAP_SECONDS = DAY / SECOND;

/** In: the origin for tests, if one is set. */
const url = (testOrigin: string | undefined) =>
  z.string("is not a string").transform((text, context): string => {
    const fault = webhookUrlFault(text, testOrigin);
    if (fault === undefined) return new URL(text).href;
    context.addIssue({ code: "custom", message: fault });
    return z.NEVER;
  });

const enabled = optional(z.boolean("is not a boolean"));

const OVERLAP_FAULT = `is neither true nor an integer from 0 to ${LIMITS.webhookSecret}`;

/** `true`, or the seconds for which the previous secret also signs. */
const rotateSecret = optional(
  z.union(
    [
      z.literal(true, OVERLAP_FAULT).transform(() => OVERLAP_SECONDS),
      z.int(OVERLAP_FAULT).min(0, OVERLAP_FAULT).max(LIMITS.webhookSecret, OVERLAP_FAULT),
    ],
    OVERLAP_FAULT,
  ),
);

const newWebhook = (testOrigin: string | undefined) => z.object({ url: url(testOrigin), enabled });

const webhookChange = (testOrigin: string | undefined) =>
  z
    .object({
      url: optional(url(testOrigin)),
      enabled,
      resume: optional(z.enum(["cursor", "latest"], "is not cursor or latest")),
      rotateSecret,
    })
    .refine(({ enabled: on, resume }) => on !== false || resume === undefined, {
      message: "does not fit enabled: false",
      path: ["resume"],
    });

export async function listWebhooks(call: Call): ReplyTo<"listWebhooks"> {
  const answer = await sendWebhookRequest(call, { kind: "list" });
  return answer.ok ? ok({ json: answer.value.map(presentWebhook) }) : answer;
}

export const getWebhook = (call: Call): ReplyTo<"getWebhook"> => answerOne(call, { kind: "get", id: call.webhook });

export const createWebhook = {
  parse({ body, store }: ParseCall): Result<NewWebhook> {
    const input = newWebhook(store.settings.webhookTestOrigin).safeParse(body!.json);
    if (!input.success) return invalid(explain(input.error, "the webhook"));
    return ok({ url: input.data.url, enabled: input.data.enabled ?? true });
  },
  async handle(call: Call, webhook: NewWebhook): ReplyTo<"createWebhook"> {
    const room = await requireRoom(call.store);
    if (!room.ok) return room;
    const id = await newId(call, "new webhook");
    return answerOne(call, { kind: "create", id, request: await fingerprint(JSON.stringify(webhook)), webhook });
  },
};

export const updateWebhook = {
  parse({ body, store }: ParseCall): Result<WebhookChange> {
    const input = webhookChange(store.settings.webhookTestOrigin).safeParse(body!.json);
    return input.success ? ok(input.data) : invalid(explain(input.error, "the webhook"));
  },
  async handle(call: Call, change: WebhookChange): ReplyTo<"updateWebhook"> {
    const { webhook: id, idempotencyKey: key } = call;
    const request = key === undefined ? crypto.randomUUID() : await fingerprint("webhook change", id, key);
    return answerOne(call, { kind: "update", id, request, change });
  },
};

export async function deleteWebhook(call: Call): ReplyTo<"deleteWebhook"> {
  const answer = await sendWebhookRequest(call, { kind: "delete", id: call.webhook });
  return answer.ok ? ok({ response: call.c.body(null, 204) }) : answer;
}

async function answerOne(call: Call, request: Parameters<typeof sendWebhookRequest>[1]): ReplyTo<"getWebhook"> {
  const answer = await sendWebhookRequest(call, request);
  if (!answer.ok) return answer;
  const [webhook] = answer.value;
  return ok({ json: presentWebhook(webhook!), made: webhook!.id });
}
