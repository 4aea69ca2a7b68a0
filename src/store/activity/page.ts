import type { Keyring } from "../../crypto/keyring.ts";
import type { ActivityFilter, ListedActivity } from "../../model/activity.ts";
import { timeOf } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import { listActivity } from "./entries.ts";
import { FILTERED_PAGE_ENTRIES_MAX, readBefore, readNewest, type Start } from "./merge.ts";
import { listSegmentEntry } from "./segments.ts";
import { OVERLAP_CALLS_MAX, type PageCalls, type Reader, readSlices, type StoredEntry } from "./slices.ts";
import type { Store } from "../d1/database.ts";

/** Pages of the activity log, newest entry first. A page reads at most 10,000 rows, whatever the logs hold. */

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

/** A page of filtered logs takes so many D1 calls at most, and one by an offset, without those for segments that overlap. */
const FILTERED_CALLS_MAX = 5;
const OFFSET_CALLS_MAX = 12;

/** What a call reads of each log besides its rows: the keys of some segments, and one or two of these. */
const LOG_ROWS = 20;
/** So many logs are searched in fewer calls. */
const MANY_LOGS = 20;
const MANY_LOGS_CALLS_MAX = 2;

/**
 * Loads the entries before an id: of all entries in one D1 call, of those that match a filter in at most five. The page may be shorter
 * than `limit`, or empty, although there are more entries. Errors: `unauthorized` (revoked).
 */
export async function loadPageBefore(
  store: Store,
  reader: Reader,
  before: string,
  limit: number,
  filter?: ActivityFilter,
): Promise<Result<ActivityPage>> {
  let dropped: string | undefined;
  const calls: PageCalls = { ended: new Set(), overlapping: OVERLAP_CALLS_MAX };
  let reportedLogs: readonly string[] = reader.logs;
  const read = async (starts: readonly Start[], size: number) => {
    const answer = await readSlices(store, reader, starts, size, { filter, reportedLogs, calls });
    if (!answer.ok) return answer;
    dropped ??= answer.value.dropped;
    reportedLogs = [];
    return ok(answer.value.slices);
  };
  // A filter of what is sealed is applied when the entries are open: most of those that were read may not match it.
  const entriesMax = filter?.item === undefined && filter?.token === undefined ? limit : LIMITS.page;
  const { calls: callsMax, ...search } = searchOf(reader);
  const page = await readBefore(read, reader.logs, before, entriesMax, filter ? callsMax : 1, search);
  if (!page.ok) return page;
  const full = await openPage(store, page.value.entries, page.value.next, { limit, filter });
  return full.ok ? ok({ ...full.value, dropped: withinRetention(store, dropped) }) : full;
}

/** How a page of filtered logs is searched: for the entries of a token since it was issued, with room for the rows of segments too. */
function searchOf({ logs, since }: Reader) {
  if (since === undefined) return { calls: FILTERED_CALLS_MAX };
  const calls = logs.length > MANY_LOGS ? MANY_LOGS_CALLS_MAX : FILTERED_CALLS_MAX;
  return { calls, since, entriesMax: FILTERED_PAGE_ENTRIES_MAX - calls * logs.length * LOG_ROWS };
}

/** A log has no entry that is past the retention, so one of those that was dropped is none that a page could show. */
const withinRetention = ({ now, settings }: Store, id: string | undefined): string | undefined =>
  id !== undefined && timeOf(id) > now - settings.activityRetention ? id : undefined;

/**
 * Loads the entries from an offset on, up to `LIMITS.activityDepth`. One D1 call, unless many logs with many entries meet a
 * deep page. Errors: as `loadPageBefore`.
 */
export async function loadPageAt(store: Store, reader: Reader, offset: number, limit: number): Promise<Result<CountedPage>> {
  const end = Math.min(offset + limit, LIMITS.activityDepth);
  let total: number | undefined;
  let dropped: string | undefined;
  const calls: PageCalls = { ended: new Set(), overlapping: OVERLAP_CALLS_MAX };
  const read = async (starts: readonly Start[], size: number) => {
    const firstLogs = total === undefined ? reader.logs : [];
    const answer = await readSlices(store, reader, starts, size, { countedLogs: firstLogs, reportedLogs: firstLogs, calls });
    if (!answer.ok) return answer;
    total ??= answer.value.total;
    dropped ??= answer.value.dropped;
    return ok(answer.value.slices);
  };
  // One more entry shows whether there is a next page.
  const newest = await readNewest(read, reader.logs, end + 1, OFFSET_CALLS_MAX);
  if (!newest.ok) return newest;
  const entries = newest.value.entries.slice(offset, end);
  const next = newest.value.entries.length > end ? entries.at(-1)?.id : newest.value.next;
  const page = await openPage(store, entries, next, { limit });
  if (!page.ok) return page;
  const counted = total! > LIMITS.countedActivity ? undefined : total;
  return ok({ ...page.value, total: counted, dropped: withinRetention(store, dropped) });
}

/**
 * Opens entries until the page is full. In: the `before` of the page after all of them, and the filter: the ids of several Items, and of a
 * token that is not the actor, are sealed, so SQL does not compare them.
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

/** Whether an entry names the Item and the token of a filter. What a broken one names is not known. */
const names = (activity: ListedActivity, { item, token }: ActivityFilter): boolean =>
  "broken" in activity ||
  ((item === undefined || activity.item === item || activity.items?.includes(item) === true) &&
    (token === undefined || activity.origin.token === token));
