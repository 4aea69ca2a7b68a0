import type { Keyring } from "../../crypto/keyring.ts";
import type { ActivityFilter, ListedActivity } from "../../model/activity.ts";
import { timeOf } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { listActivity } from "./entry-rows.ts";
import { readBefore, readNewest, type Start } from "./merge.ts";
import { listSegmentEntry } from "./segments.ts";
import { beginReading } from "./reading.ts";
import { type Reader, readSlices, type StoredEntry } from "./slices.ts";
import type { Store } from "../d1/database.ts";

/** Pages of the activity log, newest entry first. What a page reads of D1 is bounded (reading.ts). */

export interface ActivityPage {
  readonly activities: readonly ListedActivity[];
  /** The `before` of the next page; absent on the last page. */
  readonly next: string | undefined;
  /** The id of the newest entry that a log has dropped because it had too many; absent: none, or one past the retention. */
  readonly dropped?: string | undefined;
}

/** A page by its offset. */
export interface CountedPage extends ActivityPage {
  /** The number of entries; absent when there are more than are counted. */
  readonly total: number | undefined;
}

/** A page of filtered logs takes so many D1 calls at most, and one by an offset. */
const FILTERED_CALLS_MAX = 5;
const OFFSET_CALLS_MAX = 12;

/**
 * Loads the entries before an id. All entries take one D1 call; a filter takes at most five. The page may be shorter than `limit`, or empty,
 * although more entries exist. Fails with `unauthorized` (revoked).
 */
export async function loadPageBefore(
  store: Store,
  reader: Reader,
  before: string,
  limit: number,
  filter?: ActivityFilter,
): Promise<Result<ActivityPage>> {
  let dropped: string | undefined;
  const reading = beginReading();
  let reportedLogs: readonly string[] = reader.logs;
  const read = async (starts: readonly Start[], size: number) => {
    const answer = await readSlices(store, reader, starts, size, { filter, reportedLogs, reading });
    if (!answer.ok) return answer;
    dropped ??= answer.value.dropped;
    reportedLogs = [];
    return ok(answer.value.slices);
  };
  // A filter of sealed values is applied after decryption. Most of the read entries may not match it.
  const entriesMax = filter?.item === undefined && filter?.token === undefined ? limit : LIMITS.page;
  const search = { calls: filter ? FILTERED_CALLS_MAX : 1, budget: reading, since: reader.since };
  const merged = await readBefore(read, reader.logs, before, entriesMax, search);
  if (!merged.ok) return merged;
  const full = await openPage(store, merged.value.entries, merged.value.next, { limit, filter });
  return full.ok ? ok({ ...full.value, dropped: withinRetention(store, dropped) }) : full;
}

/** Returns the id of a dropped entry, unless it is past the retention: no page could show it then. */
const withinRetention = ({ now, settings }: Store, id: string | undefined): string | undefined =>
  id !== undefined && timeOf(id) > now - settings.activityRetention ? id : undefined;

/**
 * Loads the entries from an offset on, up to `LIMITS.activityDepth`. Makes one D1 call, unless many logs with many entries meet a deep page.
 * Fails as `loadPageBefore` does.
 */
export async function loadPageAt(store: Store, reader: Reader, offset: number, limit: number): Promise<Result<CountedPage>> {
  const end = Math.min(offset + limit, LIMITS.activityDepth);
  let total: number | undefined;
  let dropped: string | undefined;
  const reading = beginReading();
  const read = async (starts: readonly Start[], size: number) => {
    const firstLogs = total === undefined ? reader.logs : [];
    const answer = await readSlices(store, reader, starts, size, { countedLogs: firstLogs, reportedLogs: firstLogs, reading });
    if (!answer.ok) return answer;
    total ??= answer.value.total;
    dropped ??= answer.value.dropped;
    return ok(answer.value.slices);
  };
  // One more entry shows whether there is a next page.
  const newest = await readNewest(read, reader.logs, end + 1, { calls: OFFSET_CALLS_MAX, budget: reading });
  if (!newest.ok) return newest;
  const entries = newest.value.entries.slice(offset, end);
  const next = newest.value.entries.length > end ? entries.at(-1)?.id : newest.value.next;
  const full = await openPage(store, entries, next, { limit });
  if (!full.ok) return full;
  const counted = total! > LIMITS.countedActivity ? undefined : total;
  return ok({ ...full.value, total: counted, dropped: withinRetention(store, dropped) });
}

/**
 * Decrypts entries until the page is full. `before` is that of the page after all of them. The filter is applied here too: the ids of several
 * Items, and of a token that is not the actor, are sealed, so SQL cannot compare them.
 */
async function openPage(
  { keyring }: Store,
  entries: readonly StoredEntry[],
  next: string | undefined,
  { limit, filter = {} }: { readonly limit: number; readonly filter?: ActivityFilter | undefined },
): Promise<Result<ActivityPage>> {
  const activities: ListedActivity[] = [];
  for (const [index, entry] of entries.entries()) {
    const activity = await listStored(keyring, entry);
    if (names(activity, filter)) activities.push(activity);
    if (activities.length === limit && index + 1 < entries.length) return ok({ activities, next: activity.id });
  }
  return ok({ activities, next });
}

/** Opens an entry. */
export const listStored = (keyring: Keyring, entry: StoredEntry): Promise<ListedActivity> =>
  "line" in entry ? listSegmentEntry(keyring, entry) : listActivity(keyring, entry);

/** Returns true if an entry has the Item and the token of a filter. A broken entry may have any. */
const names = (activity: ListedActivity, { item, token }: ActivityFilter): boolean =>
  "broken" in activity ||
  ((item === undefined || activity.item === item || activity.items?.includes(item) === true) &&
    (token === undefined || activity.origin.token === token));
