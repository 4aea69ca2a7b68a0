import { fail, ok, type Result } from "../../model/result.ts";
import type { AttemptRequest, RecordedAttempt } from "../../model/webhook.ts";
import { listAttempts, recordAttempt } from "../../store/events/webhook-attempts.ts";
import { findProgress } from "../../store/events/webhook-progress.ts";
import { loadWebhooks } from "../../store/events/webhook-rows.ts";
import { reconcile } from "./delivery.ts";
import { testMessage } from "./message.ts";
import type { WebhookPorts } from "./ports.ts";
import { sendMessage } from "./send.ts";

/**
 * Lists the attempts to deliver to a webhook, or sends a test to it, which changes neither its state nor its position. Out: the attempts that
 * were asked for, the newest first. Errors: `vault_not_found`, `webhook_not_found`, `integrity`, `unavailable`.
 */
export async function answerAttempts(
  ports: WebhookPorts,
  vault: string,
  { kind, id }: AttemptRequest,
): Promise<Result<readonly RecordedAttempt[]>> {
  const { sql, store, clock, random } = ports;
  const loaded = await loadWebhooks(store, vault);
  if (!loaded.ok) return loaded;
  reconcile(ports, vault, loaded.value);
  const webhook = loaded.value.webhooks.find((one) => one.id === id);
  const progress = findProgress(sql, id);
  if (!webhook || !progress || progress.state === "DELETED") return fail("webhook_not_found");
  if (kind === "list") return ok(listAttempts(sql, id));
  if (!webhook.definition) return fail("integrity");
  const message = await testMessage(progress, clock(), random());
  const attempt = { ...(await sendMessage(ports, webhook.definition, message)), events: 0, test: true } as const;
  recordAttempt(sql, id, attempt);
  return ok([attempt]);
}
