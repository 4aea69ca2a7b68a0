import { fingerprint } from "../../crypto/seal.ts";
import { signWebhook } from "../../crypto/webhook-signature.ts";
import { type Cursor, formatCursor } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import { base32 } from "../../model/ids.ts";
import { publicUrlFault } from "../../model/public-url.ts";
import { SECOND } from "../../model/time.ts";
import type { Attempt } from "../../model/webhook.ts";
import type { Store } from "../../store/d1/database.ts";
import type { Progress } from "../../store/events/webhook-progress.ts";
import type { WebhookDefinition } from "../../store/events/webhook-rows.ts";

/** The environment of the functions of webhooks. */
export interface WebhookPorts {
  /** The coordinator's own storage. */
  readonly sql: SqlStorage;
  readonly store: Store;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The messages that receivers get (contract 17.7): ids, versions and times, never a value of an Item. */

export interface Message {
  /** The header `webhook-id`: the same for each attempt to deliver the same event. */
  readonly id: string;
  readonly body: string;
}

interface Content {
  readonly type: string;
  /** Time of the event, in Unix milliseconds. */
  readonly at: number;
  readonly data: object;
}

async function messageOf({ vault, id }: Progress, what: string, { type, at, data }: Content): Promise<Message> {
  const hash = Uint8Array.fromBase64(await fingerprint("webhook message", vault, id, what));
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { vault: { id: vault }, ...data } });
  return { id: `msg_${base32(hash)}`, body };
}

export function eventMessage(progress: Progress, event: VaultEvent): Promise<Message> {
  const { type, at, sequence, item, version, actor } = event;
  const cursor = formatCursor(event);
  const data = { sequence, cursor, item: item === null ? undefined : { id: item }, version: version ?? undefined, actor };
  return messageOf(progress, cursor, { type, at, data });
}

/**
 * Returns the message that events are missing: the log no longer has an entry at the webhook's position. `head` is the position at which the
 * webhook continues.
 */
export const resetMessage = (progress: Progress, head: Cursor): Promise<Message> =>
  messageOf(progress, `reset ${formatCursor(progress)}`, {
    type: "reset",
    at: head.at,
    data: { sequence: head.sequence, cursor: formatCursor(head) },
  });

/**
 * Returns a message without an event, with which the admin checks that the receiver gets messages. `at` is in Unix milliseconds. `random`
 * makes the id new, because a receiver drops a message with a known id.
 */
export const testMessage = (progress: Progress, at: number, random: number): Promise<Message> =>
  messageOf(progress, `test ${at} ${random}`, { type: "test", at, data: {} });

/** One attempt to deliver a message. */

/** The time in which a receiver has to answer. */
const ANSWER_TIMEOUT_MS = 15 * SECOND;

/** Sends a message. Never throws. */
export async function sendMessage(
  { store, clock }: WebhookPorts,
  { url, secret, previous }: WebhookDefinition,
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
    // The body is not read: the receiver could send an endless one.
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
