import { LIMITS } from "../../../model/limits.ts";
import { DELIVERY_FAULTS, WEBHOOK_STATES } from "../../../model/webhook.ts";
import { newWebhook, webhookChange } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, MANAGED_BY, managedBy, nullable, ref, words } from "./shapes.ts";

/** Webhooks (contract 17): the admin's answers and requests, and the messages that receivers get. */

const url: Schema = {
  type: "string",
  format: "uri",
  maxLength: LIMITS.webhookUrl,
  // Visible ASCII characters without # and \.
  pattern: String.raw`^[\x21\x22\x24-\x5b\x5d-\x7e]+$`,
  description: "An absolute URL that begins with `https://`, of a host with a full domain name (contract 17.3).",
  examples: ["https://hooks.example.com/item-vault"],
};
const enabled = "`false`: no event is delivered.";

const vault = closed("The vault.", { id: ref("Uuid") });
const sequence = integer("The number of the write (contract 15.1).", 1);
const cursor: Schema = { type: "string", description: "A cursor for `after` of `GET /vaults/{vault}/events`." };
const actor: Schema = { type: "string", description: "The id of the token, `admin` or `service`." };

const answered = integer("The status of the receiver's answer; absent without one.", 100, 599);
const fault = words("The kind of the fault (contract 17.8); absent: the message was delivered.", DELIVERY_FAULTS);

const message = (description: string, type: Schema, data: Schema): Schema =>
  closed(description, { type, timestamp: ref("Time"), data });

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  Webhook: closed(
    "A receiver of the events of a vault (contract 17.1).",
    {
      id: { type: "string", description: "A UUID; together with `broken` as the row has it." },
      url: { type: "string", description: "As the URL standard writes it; absent together with `broken`." },
      broken: { type: "string", const: "integrity", description: "The stored record cannot be decrypted." },
      enabled: { type: "boolean", description: "`false` when the state is DISABLED." },
      state: words("PAUSED: attempts have failed for a day. DISABLED: by the admin or by a 410.", WEBHOOK_STATES),
      managedBy,
      createdAt: ref("Time"),
      lastDelivery: ref("Time", "Absent before the first delivery."),
      lastError: ref("DeliveryError", "Why the last attempt failed; absent after a delivery."),
      failures: integer("Attempts that failed since the last delivery.", 0),
      pending: integer("Events that are not delivered yet.", 0),
      secret: {
        type: "string",
        pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
        description: "The key of the signatures; only in the answers that make it (contract 17.4, 17.5).",
      },
    },
    ["url", "broken", "managedBy", "lastDelivery", "lastError", "secret"],
  ),
  DeliveryError: closed(
    "Why an attempt failed (contract 17.8).",
    {
      kind: words("The kind of the fault.", DELIVERY_FAULTS),
      status: answered,
      at: ref("Time"),
    },
    ["status"],
  ),
  WebhookTest: closed("How the receiver has answered a test (contract 17.12).", { status: answered, error: fault }, [
    "status",
    "error",
  ]),
  WebhookDelivery: closed(
    "An attempt to deliver a message (contract 17.13).",
    {
      at: ref("Time", "When it began."),
      milliseconds: integer("How long it took.", 0),
      status: answered,
      error: fault,
      events: integer("The events of the message: none in a `reset` and in a test.", 0),
      test: { type: "boolean", const: true, description: "The admin has asked for it; else absent." },
    },
    ["status", "error", "test"],
  ),
  NewWebhook: body("A webhook to make (contract 17.4).", newWebhook([]), { url, enabled, managedBy: MANAGED_BY }),
  WebhookChange: {
    ...body("What changes of a webhook (contract 17.5).", webhookChange([]), {
      url: nullable(url),
      enabled,
      resume: "Makes it active: from the event where it stopped, or without what was missed.",
      rotateSecret:
        "Makes a new secret: `true`, or the seconds for which the previous one also signs. With `true` it signs for a day.",
    }),
    not: {
      type: "object",
      properties: { enabled: { const: false }, resume: { type: "string" } },
      required: ["enabled", "resume"],
    },
  },
  WebhookEventMessage: message(
    "A message about an event (contract 17.7).",
    ref("EventType"),
    closed(
      "The event. Ids are UUIDs.",
      {
        vault,
        sequence,
        cursor,
        item: closed("The Item.", { id: ref("Uuid") }),
        version: integer("The version of the Item after the write, where it has one.", 1),
        actor,
      },
      ["item", "version"],
    ),
  ),
  WebhookResetMessage: message(
    "Events before this position are missing (contract 17.10).",
    { type: "string", const: "reset" },
    closed("The position.", { vault, sequence, cursor }),
  ),
  WebhookTestMessage: message(
    "A test (contract 17.12): nothing has happened.",
    { type: "string", const: "test" },
    closed("The vault of the webhook.", { vault }),
  ),
  WebhookMessage: {
    description: "The body of a message (contract 17.7). New types and attributes may be added.",
    oneOf: [ref("WebhookEventMessage"), ref("WebhookResetMessage"), ref("WebhookTestMessage")],
  },
};
