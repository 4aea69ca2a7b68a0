import { createWebhookSecret } from "../../crypto/webhook-signature.ts";
import type { Cursor } from "../../model/cursor.ts";
import { SECOND } from "../../model/time.ts";
import type { Webhook, WebhookChange } from "../../model/webhook.ts";
import type { Progress } from "../../store/events/webhook-progress.ts";
import type { WebhookDefinition } from "../../store/events/webhook-rows.ts";

/** What a change by the admin makes of a webhook. Pure but for the new secret; times are Unix milliseconds. */

/** Out: the definition itself when nothing of it changes, also when the request has made its secret already. */
export function changeDefinition(
  definition: WebhookDefinition,
  { url = definition.url, rotateSecret }: WebhookChange,
  request: string,
  now: number,
): WebhookDefinition {
  const rotates = rotateSecret !== undefined && definition.rotation !== request;
  if (!rotates) return url === definition.url ? definition : { ...definition, url };
  const previous = rotateSecret > 0 ? { secret: definition.secret, until: now + rotateSecret * SECOND } : undefined;
  return { ...definition, url, secret: createWebhookSecret(), previous, rotation: request };
}

/** The progress after a change by the admin. In: the newest position of the vault. */
export function changeProgress(progress: Progress, change: WebhookChange, head: Cursor, now: number): Progress {
  const { url, enabled, resume } = change;
  const revived = resume !== undefined || (enabled === true && progress.state === "DISABLED");
  const state = enabled === false ? "DISABLED" : revived ? "ACTIVE" : (progress.state as Webhook["state"]);
  const retried = revived || url !== undefined ? { failures: 0, failingSince: null, due: now } : {};
  const { sequence, at } = resume === "latest" ? head : progress;
  return { ...progress, ...retried, sequence, at, state, revision: progress.revision + 1 };
}
