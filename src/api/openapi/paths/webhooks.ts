import { json, listOf, required } from "../content.ts";
import { delivery, newSecret, newWebhook, webhook, webhookMessage } from "../examples.ts";
import type { Descriptions } from "../operation.ts";
import type { PathItem } from "../types.ts";

/** Webhooks (contract 17): the requests of the admin, and the message that receivers get. */

const tag = "Admin: webhooks";

export const webhookDescriptions = {
  listWebhooks: {
    tag,
    summary: "List the webhooks of a vault",
    description: "The oldest first (contract 17.2).",
    answers: { 200: { description: "The webhooks.", content: listOf("Webhook", [webhook]) } },
    errors: ["version_skew"],
  },
  createWebhook: {
    tag,
    summary: "Make a webhook",
    description: "The answer contains the `secret` (contract 17.4).",
    body: required(json("NewWebhook", newWebhook)),
    coordinated: true,
    grows: true,
    answers: { 200: { description: "The webhook.", content: json("Webhook", newSecret) } },
  },
  getWebhook: {
    tag,
    summary: "Read a webhook",
    description: "Returns the webhook and how its deliveries went (contract 17.1).",
    answers: { 200: { description: "The webhook.", content: json("Webhook", webhook) } },
    errors: ["version_skew"],
  },
  updateWebhook: {
    tag,
    summary: "Change a webhook",
    description: "Changes the URL, stops or continues the deliveries, or makes a new secret (contract 17.5).",
    body: required(json("WebhookChange", { resume: "cursor" })),
    coordinated: true,
    answers: { 200: { description: "The webhook.", content: json("Webhook", webhook) } },
    // The key only says which request has made the secret.
    never: ["idempotency"],
  },
  testWebhook: {
    tag,
    summary: "Send a test to a webhook",
    description:
      "Sends one message of the type `test` and waits for the answer of the receiver. The deliveries of events do not change (contract 17.12).",
    answers: { 200: { description: "How the receiver has answered.", content: json("WebhookTest", { status: 204 }) } },
    errors: ["uncertain"],
  },
  listDeliveries: {
    tag,
    summary: "List the last deliveries to a webhook",
    description: "The last 20 attempts, also those that failed and tests, newest first (contract 17.13).",
    answers: { 200: { description: "The attempts.", content: listOf("WebhookDelivery", [delivery]) } },
  },
  deleteWebhook: {
    tag,
    summary: "Delete a webhook",
    description: "For a day also when it is repeated (contract 17.6).",
    coordinated: true,
    answers: { 204: { description: "The webhook is deleted." } },
  },
} satisfies Partial<Descriptions>;

/** Webhooks of OpenAPI 3.1: requests that the service sends. */
export const webhookMessages: Readonly<Record<string, PathItem>> = {
  event: {
    post: {
      operationId: "receiveEvent",
      tags: [tag],
      summary: "A message to a webhook",
      description:
        "A POST of Standard Webhooks 1.0.0, with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (contract 17.7 to " +
        "17.11). Messages of a vault arrive in order, each possibly more than once with the same `webhook-id`.",
      security: [],
      requestBody: required(json("WebhookMessage", webhookMessage)),
      responses: {
        "2XX": { description: "The message was received. The body of the answer is not read." },
        "410": { description: "Disables the webhook, unless the message is a test." },
        default: { description: "A failed attempt, which is repeated, unless the message is a test (contract 17.8, 17.9)." },
      },
    },
  },
};
