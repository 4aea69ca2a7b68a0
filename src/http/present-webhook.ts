import type { Webhook } from "../model/webhook.ts";

/** Webhooks on the wire (contract 17.1). */

const time = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();

export function presentWebhook({ id, url, secret, state, createdAt, lastDelivery, lastError, ...counts }: Webhook): object {
  return {
    id,
    url,
    broken: url === undefined ? "integrity" : undefined,
    enabled: state !== "DISABLED",
    state,
    createdAt: time(createdAt),
    lastDelivery: time(lastDelivery),
    lastError: lastError && { kind: lastError.kind, status: lastError.status, at: time(lastError.at) },
    ...counts,
    secret,
  };
}
