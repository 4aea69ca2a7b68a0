import type { Keyring } from "../../crypto/keyring.ts";
import type { ActivityFilter, ListedActivity } from "../../model/activity.ts";
import { timeOf } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { listActivity } from "./entry-rows.ts";
import { NEWEST, readNewest, type ReadSlices, type Search } from "./merge.ts";
import { listSegmentEntry } from "./segments.ts";
import { type Reader, readSlices, type SliceOptions, type StoredEntry } from "./slices.ts";

/** Pages of the activity log, newest entry first. The number of D1 rows that a page reads is bounded (merge.ts). */

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

/** D1 calls of a page. After each call, a further call may read a cell to its end. */
const FILTERED_CALLS_MAX = 3;
const OFFSET_CALLS_MAX = 8;

/**
 * Loads the entries before an id. All entries take one D1 call; a filter takes at most three. The page may be shorter than `limit`, or empty,
 * although more entries exist. Fails with `unauthorized` (revoked).
 */
export async function loadPageBefore(
  store: Store,
  reader: Reader,
  before: string,
  limit: number,
  filter?: ActivityFilter,
): Promise<Result<ActivityPage>> {
  // A filter of sealed values is applied after decryption. Most of the read entries may not match it.
  const entriesMax = filter?.item === undefined && filter?.token === undefined ? limit : LIMITS.page;
  const search = { before, limit: entriesMax, calls: filter ? FILTERED_CALLS_MAX : 1, since: reader.since };
  const read = await readPage(store, reader, search, { filter });
  return read.ok ? ok(await openPage(store, read.value, { limit, filter })) : read;
}

/**
 * Loads the entries from an offset on, up to `LIMITS.activityDepth`. Makes one D1 call, unless many logs with many entries meet a deep page.
 * Fails as `loadPageBefore` does.
 */
export async function loadPageAt(store: Store, reader: Reader, offset: number, limit: number): Promise<Result<CountedPage>> {
  const end = Math.min(offset + limit, LIMITS.activityDepth);
  const search = { before: NEWEST, limit: end, calls: OFFSET_CALLS_MAX };
  const read = await readPage(store, reader, search, { isCounted: true });
  if (!read.ok) return read;
  const { entries, total } = read.value;
  const page = await openPage(store, { ...read.value, entries: entries.slice(offset) }, { limit });
  return ok({ ...page, total: total > LIMITS.countedActivity ? undefined : total });
}

/** The stored entries of a page, and the first call's information about their logs. */
interface StoredPage {
  readonly entries: readonly StoredEntry[];
  readonly next: string | undefined;
  readonly total: number;
  readonly dropped: string | undefined;
}

async function readPage(
  store: Store,
  reader: Reader,
  search: Search,
  { filter, isCounted }: Pick<SliceOptions, "filter" | "isCounted">,
): Promise<Result<StoredPage>> {
  let about: Pick<StoredPage, "total" | "dropped"> | undefined;
  const read: ReadSlices<StoredEntry> = async (...call) => {
    const answer = await readSlices(store, reader, call, { filter, ...(!about && { reportedLogs: reader.logs, isCounted }) });
    if (!answer.ok) return answer;
    const { slices, ...first } = answer.value;
    about ??= first;
    return ok(slices);
  };
  const newest = await readNewest(read, reader.logs, search);
  return newest.ok ? ok({ ...about!, ...newest.value }) : newest;
}

/**
 * Decrypts entries until the page is full. `next` is the `next` of the page that ends after all of them. The filter is applied here, too.
 * The ids of several Items, and of a token that is not the actor, are sealed, so SQL cannot compare them.
 */
async function openPage(
  { keyring, now, settings }: Store,
  { entries, next, dropped }: StoredPage,
  { limit, filter = {} }: { readonly limit: number; readonly filter?: ActivityFilter | undefined },
): Promise<ActivityPage> {
  const activities: ListedActivity[] = [];
  // No page could show a dropped entry that is past the retention.
  const page = { activities, dropped: dropped && timeOf(dropped) > now - settings.activityRetention ? dropped : undefined };
  for (const [index, entry] of entries.entries()) {
    const activity = await listStored(keyring, entry);
    if (names(activity, filter)) activities.push(activity);
    if (activities.length === limit && index + 1 < entries.length) return { ...page, next: activity.id };
  }
  return { ...page, next };
}

/** Opens an entry. */
export const listStored = (keyring: Keyring, entry: StoredEntry): Promise<ListedActivity> =>
  "line" in entry ? listSegmentEntry(keyring, entry) : listActivity(keyring, entry);

/** Returns true if an entry has the Item and the token of a filter. A broken entry may have any. */
const names = (activity: ListedActivity, { item, token }: ActivityFilter): boolean =>
  "broken" in activity ||
  ((item === undefined || activity.item === item || activity.items?.includes(item) === true) &&
    (token === undefined || activity.origin.token === token));
