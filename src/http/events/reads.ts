import { logRefusal } from "../../log.ts";
import { isAt, parseCursor } from "../../model/cursor.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Refusal } from "../../model/result.ts";
import { MINUTE, SECOND } from "../../model/time.ts";
import type { Store } from "../../store/d1/database.ts";
import { loadEventState, loadEvents } from "../../store/events/events.ts";
import { holderOf } from "../../store/vaults/token-check.ts";
import {
  append,
  type Channel,
  eventsAfter,
  type Listener,
  restart,
  wake,
  wakeAll,
  wakeOne,
  channels,
  listeners,
  removeEnded,
} from "./hub.ts";

/** Reads that one request of the isolate makes for all requests, one read at a time. */

/** The time between two checks. A revoked token is noticed within this time and a D1 call: 15 s in all. */
const CHECK_INTERVAL_MS = 12 * SECOND;
/** After this time another request repeats a check, or a read, that gave no result. */
const CHECK_TIMEOUT_MS = 2 * SECOND;
const READ_TIMEOUT_MS = 11 * SECOND;

/** Time of the next check of all tokens and vaults, in Unix milliseconds. */
export const check = { due: 0 };

let loggedAt = 0;

/** Logs a failure of a read, at most once a minute: while D1 fails, the reads are repeated every second. */
function logOutage(refusal: Refusal): void {
  const now = Date.now();
  if (Math.abs(now - loggedAt) < MINUTE) return;
  loggedAt = now;
  logRefusal(refusal);
}

/** Returns true if a check is due at `now`, in Unix milliseconds. A due time too far in the future was set before the clock went back. */
export const isCheckDue = (now: number): boolean => check.due <= now || check.due > now + CHECK_INTERVAL_MS;

/** Checks all tokens and vaults of the isolate in one D1 call. */
export async function checkAll(store: Store): Promise<void> {
  const now = Date.now();
  check.due = now + CHECK_TIMEOUT_MS;
  removeEnded(now);
  if (await checkSome(store, [...listeners], [...channels.values()])) check.due = now + CHECK_INTERVAL_MS;
}

/** Checks tokens and vaults in one D1 call. Returns true if D1 answered. */
export async function checkSome(store: Store, some: readonly Listener[], of: readonly Channel[]): Promise<boolean> {
  const now = Date.now();
  const tokens = [...new Set(some.map(({ token }) => holderOf(token)))];
  const vaults = of.map(({ vault }) => vault);
  const state = await loadEventState(store, tokens, vaults);
  if (!state.ok) {
    logOutage(state);
    return false;
  }
  for (const listener of some) {
    const inUse = state.value.tokens.get(holderOf(listener.token)) === listener.token.hash;
    if (inUse) listener.checkedAt = now;
    else listener.revoked = true;
    if (!inUse) wake(listener);
  }
  for (const channel of of) {
    const head = state.value.heads.get(channel.vault);
    if (head && isAt(head, channel.head)) continue;
    if (head) channel.stale = true;
    else channel.deleted = true;
    if (head) wakeOne(channel);
    else wakeAll(channel);
  }
  return true;
}

/** Records a message that the coordinator sent after a commit: the position after it, or another text if the vault was deleted. */
export function takeHint(channel: Channel, text: string): void {
  const position = parseCursor(text);
  if (position && eventsAfter(channel, position)) return;
  channel.hint = text;
  channel.stale = true;
  wakeOne(channel);
}

/** Returns true if the events after the head must be read, and no request is reading them. `now` is in Unix milliseconds. */
export const isReadable = ({ stale, readingUntil }: Channel, now: number): boolean => stale && readingUntil <= now;

/** Reads the events after the head of a channel, for all requests that wait for them. One D1 call, two after a restore. */
export async function readChannel(store: Store, channel: Channel): Promise<void> {
  const { hint, vault } = channel;
  channel.readingUntil = Date.now() + READ_TIMEOUT_MS;
  channel.stale = false;
  const page = await loadEvents(store, vault, channel.head, LIMITS.page);
  const gone = !page.ok && page.failure.kind === "cursor_gone";
  const answer = gone ? await loadEvents(store, vault, "latest", 1) : page;
  channel.readingUntil = 0;
  if (answer.ok) {
    const { events, last, more } = answer.value;
    if (gone) restart(channel, last);
    else append(channel, events, last);
    const position = channel.hint === undefined || channel.hint === hint ? undefined : parseCursor(channel.hint);
    // A write reported by the coordinator during the read may already be among the events.
    channel.stale = more || (channel.hint !== hint && !(position && eventsAfter(channel, position)));
  } else if (answer.failure.kind === "vault_not_found") {
    channel.deleted = true;
  } else {
    logOutage(answer);
    channel.stale = true;
    channel.readingUntil = Date.now() + SECOND; // before the next try
  }
  wakeAll(channel);
}
