import type { Presented, Schemas } from "../../api/answer.ts";
import type { RecordedAttempt, Webhook } from "../../model/webhook.ts";
import { presentTime } from "./time.ts";

/** Webhooks on the wire (contract 17.1). */

export function presentWebhook({
  id,
  url,
  secret,
  state,
  createdAt,
  lastDelivery,
  lastError,
  ...counts
}: Webhook): Presented<Schemas.Webhook> {
  return {
    id,
    url,
    broken: url === undefined ? "integrity" : undefined,
    enabled: state !== "DISABLED",
    state,
    createdAt: presentTime(createdAt),
    lastDelivery: lastDelivery === undefined ? undefined : presentTime(lastDelivery),
    lastError: lastError && { kind: lastError.kind, status: lastError.status, at: presentTime(lastError.at) },
    ...counts,
    secret,
  };
}

/** An attempt to deliver (contract 17.13). */
export const presentDelivery = ({
  at,
  milliseconds,
  status,
  error,
  events,
  test,
}: RecordedAttempt): Presented<Schemas.WebhookDelivery> => ({ at: presentTime(at), milliseconds, status, error, events, test });
