import { fingerprint } from "../../crypto/seal.ts";
import { type Cursor, formatCursor } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import { base32 } from "../../model/ids.ts";
import type { Progress } from "../../store/events/webhook-progress.ts";

/** The messages that receivers get (contract 17.7): ids, versions and times, never a value of an Item. */

export interface Message {
  /** The header `webhook-id`: the same for each attempt to deliver the same event. */
  readonly id: string;
  readonly body: string;
}

interface Content {
  readonly type: string;
  /** When it happened: Unix milliseconds. */
  readonly at: number;
  readonly data: object;
}

async function messageOf({ vault, id }: Progress, what: string, { type, at, data }: Content): Promise<Message> {
  const hash = Uint8Array.fromBase64(await fingerprint("webhook message", vault, id, what));
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { vault: { id: vault }, ...data } });
  return { id: `msg_${base32(hash)}`, body };
}

/** The message of an event of the vault. */
export function eventMessage(progress: Progress, event: VaultEvent): Promise<Message> {
  const { type, at, sequence, item, version, actor } = event;
  const cursor = formatCursor(event);
  const data = { sequence, cursor, item: item === null ? undefined : { id: item }, version: version ?? undefined, actor };
  return messageOf(progress, cursor, { type, at, data });
}

/**
 * The message that events are missing: the log has no entry of the position of the webhook any more. In: where it goes on.
 */
export const resetMessage = (progress: Progress, head: Cursor): Promise<Message> =>
  messageOf(progress, `reset ${formatCursor(progress)}`, {
    type: "reset",
    at: head.at,
    data: { sequence: head.sequence, cursor: formatCursor(head) },
  });

/** The last message of a webhook. In: when the vault was deleted, Unix milliseconds. */
export const deletionMessage = (progress: Progress, at: number): Promise<Message> =>
  messageOf(progress, "deletion", { type: "vault.deleted", at, data: { actor: "admin" } });

/**
 * A message without an event, by which the admin finds out whether the receiver gets messages. In: Unix milliseconds, and a random number:
 * a receiver drops a message whose id it had before.
 */
export const testMessage = (progress: Progress, at: number, random: number): Promise<Message> =>
  messageOf(progress, `test ${at} ${random}`, { type: "test", at, data: {} });
