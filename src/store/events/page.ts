import { type After, type Cursor, isAt } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import { fail, ok, type Result } from "../../model/result.ts";

/** The events after a cursor, as pure functions. events.ts reads the rows. */

export interface EventPage {
  /** In the order of their numbers, without a gap. */
  readonly events: readonly VaultEvent[];
  /** The cursor before the first event. */
  readonly start: Cursor;
  /** The cursor after the last event; without events, the cursor at which the page began. */
  readonly last: Cursor;
  /** True if the vault has later events. */
  readonly more: boolean;
}

/** The rows of a page, as they are at one moment. */
export interface PageRows {
  /** The cursor after the newest write, from the row of the vault. */
  readonly head: Cursor;
  /** The numbered entries from the number of the cursor on, itself included; of `oldest` from the oldest one on. */
  readonly entries: readonly VaultEvent[];
  /** True if the log has no later entries. */
  readonly complete: boolean;
}

/**
 * Returns a page of at most `limit` events. Fails with `cursor_gone` if events after the cursor are missing in the log, or if the
 * cursor's write is not one of the vault's writes. The number alone does not show that: see Cursor.
 */
export function pageOf(after: After, { head, entries, complete }: PageRows, limit: number): Result<EventPage> {
  if (after === "latest") return ok({ events: [], start: head, last: head, more: false });
  const following = after === "oldest" ? afterLastGap(entries, complete, head) : entriesAfter(after, head, entries);
  if (!following) return fail("cursor_gone");
  const events = following.slice(0, limit);
  const start = after === "oldest" ? beforeEvent(events[0], head) : after;
  const { sequence, at } = events.at(-1) ?? start;
  return ok({ events, start, last: { sequence, at }, more: sequence < head.sequence });
}

/** Returns a cursor before the oldest event. Its own entry is not in the log, so any time up to that of the event is valid. */
const beforeEvent = (event: VaultEvent | undefined, head: Cursor): Cursor =>
  event ? { sequence: event.sequence - 1, at: event.at } : head;

/**
 * Returns the entries that follow a cursor without a gap, or undefined if the cursor does not belong to this log. The cursor's
 * own entry may be past its retention; the next entry then shows that nothing is missing in between.
 */
function entriesAfter(after: Cursor, head: Cursor, entries: readonly VaultEvent[]): readonly VaultEvent[] | undefined {
  const [first] = entries;
  const own = first?.sequence === after.sequence ? first : undefined;
  if (after.sequence === head.sequence) return isAt(after, head) && (!own || isAt(after, own)) ? [] : undefined;
  const following = own ? entries.slice(1) : entries;
  const next = following[0];
  if (next?.sequence !== after.sequence + 1) return undefined;
  const known = own ? isAt(after, own) : after.at <= next.at;
  return known ? beforeFirstGap(following) : undefined;
}

/** Returns the events before the first gap, where entries are lost. Later events are left out. */
function beforeFirstGap(entries: readonly VaultEvent[]): readonly VaultEvent[] {
  const gap = entries.findIndex(({ sequence }, index) => index > 0 && sequence !== entries[index - 1]!.sequence + 1);
  return gap < 0 ? entries : entries.slice(0, gap);
}

/**
 * Returns the events after the last gap. Retention deletes in the order of ids, which is almost the order of numbers, so the
 * oldest entries may have gaps.
 */
function afterLastGap(entries: readonly VaultEvent[], complete: boolean, head: Cursor): readonly VaultEvent[] {
  const last = entries.at(-1);
  if (complete && last?.sequence !== head.sequence) return [];
  const gap = entries.findLastIndex(({ sequence }, index) => index > 0 && sequence !== entries[index - 1]!.sequence + 1);
  return entries.slice(Math.max(gap, 0));
}
