import type { Presented, Schemas } from "../../api/answer.ts";
import { newWebhook, webhookChange } from "../../api/bodies.ts";
import { fingerprint } from "../../crypto/seal.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import type { NewWebhook, WebhookChange, RecordedAttempt, Webhook } from "../../model/webhook.ts";
import { requireRoom } from "../../store/health/room.ts";
import { sendAttemptRequest, sendWebhookRequest } from "../coordinator.ts";
import { newId } from "../new-id.ts";
import { presentTime } from "../present/time.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/vaults/{v}/webhooks (contract 17): lists, creates, changes, tests and deletes the webhooks of a vault. */

export const listWebhooks = async (call: Call): ReplyTo<"listWebhooks"> =>
  map(await sendWebhookRequest(call, { kind: "list" }), (answer) => ({ json: answer.map(presentWebhook) }));

export const getWebhook = (call: Call): ReplyTo<"getWebhook"> => answerOne(call, { kind: "get", id: call.webhook });

export const createWebhook = serveBy({
  parse({ body, store }: ParseCall): Result<NewWebhook> {
    const input = parseValue(newWebhook(store.settings.allowedOrigins), body!.json, "the webhook");
    return input.ok ? ok({ ...input.value, enabled: input.value.enabled ?? true }) : input;
  },
  async handle(call: Call, webhook: NewWebhook): ReplyTo<"createWebhook"> {
    const room = await requireRoom(call.store);
    if (!room.ok) return room;
    const id = await newId(call, "new webhook");
    return answerOne(call, { kind: "create", id, request: await fingerprint(JSON.stringify(webhook)), webhook });
  },
});

export const updateWebhook = serveBy({
  parse: ({ body, store }: ParseCall): Result<WebhookChange> =>
    parseValue(webhookChange(store.settings.allowedOrigins), body!.json, "the webhook"),
  async handle(call: Call, change: WebhookChange): ReplyTo<"updateWebhook"> {
    const { webhook: id, idempotencyKey: key } = call;
    const text = JSON.stringify(change);
    const request = key === undefined ? crypto.randomUUID() : await fingerprint("webhook change", key.owner, id, key.text, text);
    return answerOne(call, { kind: "update", id, request, change });
  },
});

export const deleteWebhook = async (call: Call): ReplyTo<"deleteWebhook"> =>
  map(await sendWebhookRequest(call, { kind: "delete", id: call.webhook }), () => ({ response: call.c.body(null, 204) }));

export async function testWebhook(call: Call): ReplyTo<"testWebhook"> {
  const answer = await sendAttemptRequest(call, "test");
  if (!answer.ok) return answer;
  const { status, error } = answer.value[0]!;
  return ok({ json: { status, error } });
}

export const listDeliveries = async (call: Call): ReplyTo<"listDeliveries"> =>
  map(await sendAttemptRequest(call, "list"), (answer) => ({ json: answer.map(presentDelivery) }));

async function answerOne(call: Call, request: Parameters<typeof sendWebhookRequest>[1]): ReplyTo<"getWebhook"> {
  const answer = await sendWebhookRequest(call, request);
  if (!answer.ok) return answer;
  const [webhook] = answer.value;
  return ok({ json: presentWebhook(webhook!), made: webhook!.id });
}

/** Presents a webhook (contract 17.1). */
function presentWebhook({
  url,
  managedBy,
  secret,
  createdAt,
  lastDelivery,
  lastError,
  ...webhook
}: Webhook): Presented<Schemas.Webhook> {
  return {
    ...webhook,
    url,
    broken: url === undefined ? "integrity" : undefined,
    enabled: webhook.state !== "DISABLED",
    createdAt: presentTime(createdAt),
    lastDelivery: lastDelivery === undefined ? undefined : presentTime(lastDelivery),
    lastError: lastError && { kind: lastError.kind, status: lastError.status, at: presentTime(lastError.at) },
    managedBy,
    secret,
  };
}

/** Presents an attempt to deliver (contract 17.13). */
function presentDelivery({ at, milliseconds, status, error, events, test }: RecordedAttempt): Presented<Schemas.WebhookDelivery> {
  return { at: presentTime(at), milliseconds, status, error, events, test };
}
