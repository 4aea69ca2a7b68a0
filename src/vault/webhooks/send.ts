import { signWebhook } from "../../crypto/webhook-signature.ts";
import { SECOND } from "../../model/time.ts";
import type { Attempt } from "../../model/webhook.ts";
import { publicUrlFault } from "../../model/public-url.ts";
import type { DeletionNotice } from "../../store/events/webhook-rows.ts";
import type { Message } from "./message.ts";
import type { WebhookPorts } from "./ports.ts";

/** One attempt to deliver a message. */

/** The time in which a receiver has to answer. */
const ANSWER_TIMEOUT_MS = 15 * SECOND;

/** Sends a message. Never throws. */
export async function sendMessage(
  { store, clock }: WebhookPorts,
  { url, secret, previous }: DeletionNotice,
  message: Message,
): Promise<Attempt> {
  const at = clock();
  // The setting may have changed since the webhook was made.
  if (publicUrlFault(url, store.settings.allowedOrigins) !== undefined) return { at, milliseconds: 0, error: "url" };
  const timestamp = Math.floor(at / SECOND);
  const secrets = previous && previous.until > at ? [secret, previous.secret] : [secret];
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Item-Vault",
    "webhook-id": message.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await signWebhook(secrets, { ...message, timestamp }),
  };
  const answer = await post(url, { method: "POST", redirect: "manual", headers, body: message.body });
  return { at, milliseconds: Math.max(0, clock() - at), ...answer };
}

async function post(url: string, request: RequestInit): Promise<Pick<Attempt, "status" | "error">> {
  const controller = new AbortController();
  // AbortSignal.timeout() has a timer that cannot be cleared, and that keeps the coordinator from being evicted.
  const timer = setTimeout(() => controller.abort(), ANSWER_TIMEOUT_MS);
  try {
    const { status, body } = await fetch(url, { ...request, signal: controller.signal });
    // The body is not read: the receiver could send one without end.
    void body?.cancel().catch(() => undefined);
    if (status >= 200 && status < 300) return { status };
    return { error: status >= 300 && status < 400 ? "redirect" : "status", status };
  } catch {
    // The error may quote the URL, which may contain a secret.
    return { error: controller.signal.aborted ? "timeout" : "network" };
  } finally {
    clearTimeout(timer);
  }
}

/** A Worker has six connections at a time. One of them stays free for D1 and for the writes of the vault. */
const CONNECTIONS_MAX = 5;

/** Runs a function for each value, in their order, five at a time. */
export async function inParallel<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  const waiting = [...values];
  const worker = async (): Promise<void> => {
    for (let value = waiting.shift(); value !== undefined; value = waiting.shift()) await run(value);
  };
  await Promise.all(Array.from({ length: CONNECTIONS_MAX }, worker));
}
