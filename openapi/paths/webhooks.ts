import { json, listOf, required } from "../content.ts";
import { newSecret, newWebhook, webhook, webhookMessage } from "../examples.ts";
import { ADMIN, type Row } from "../operation.ts";
import type { PathItem } from "../types.ts";

/** Webhooks (contract 17): the requests of the admin, and the message that receivers get. */

const tag = "Admin: webhooks";
const WEBHOOKS = "/v1/admin/vaults/{vault}/webhooks";
const WEBHOOK = `${WEBHOOKS}/{webhook}`;

export const webhookRows: readonly Row[] = [
  {
    method: "get",
    path: WEBHOOKS,
    operationId: "listWebhooks",
    tag,
    summary: "List the webhooks of a vault",
    description: "The oldest first (contract 17.2).",
    access: ADMIN,
    answers: { 200: { description: "The webhooks.", content: listOf("Webhook", [webhook]) } },
    errors: ["version_skew"],
  },
  {
    method: "post",
    path: WEBHOOKS,
    operationId: "createWebhook",
    tag,
    summary: "Make a webhook",
    description: "The answer contains the `secret` (contract 17.4).",
    access: ADMIN,
    json: required(json("NewWebhook", newWebhook)),
    idempotent: true,
    coordinated: true,
    grows: true,
    answers: { 200: { description: "The webhook.", content: json("Webhook", newSecret) } },
  },
  {
    method: "get",
    path: WEBHOOK,
    operationId: "getWebhook",
    tag,
    summary: "Read a webhook",
    description: "Returns the webhook and how its deliveries went (contract 17.1).",
    access: ADMIN,
    answers: { 200: { description: "The webhook.", content: json("Webhook", webhook) } },
    errors: ["version_skew"],
  },
  {
    method: "patch",
    path: WEBHOOK,
    operationId: "updateWebhook",
    tag,
    summary: "Change a webhook",
    description: "Changes the URL, stops or continues the deliveries, or makes a new secret (contract 17.5).",
    access: ADMIN,
    json: required(json("WebhookChange", { resume: "cursor" })),
    idempotent: true,
    coordinated: true,
    answers: { 200: { description: "The webhook.", content: json("Webhook", webhook) } },
    errors: ["database_full"],
  },
  {
    method: "delete",
    path: WEBHOOK,
    operationId: "deleteWebhook",
    tag,
    summary: "Delete a webhook",
    description: "For a day also when it is repeated (contract 17.6).",
    access: ADMIN,
    coordinated: true,
    answers: { 204: { description: "The webhook is deleted." } },
  },
];

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
        "410": { description: "Disables the webhook." },
        default: { description: "A failed attempt, which is repeated (contract 17.8, 17.9)." },
      },
    },
  },
};
