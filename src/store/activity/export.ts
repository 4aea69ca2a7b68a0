import { failedBy } from "../../log.ts";
import type { ListedActivity } from "../../model/activity.ts";
import { type ExportPosition, startOf } from "../../model/export-position.ts";
import { timePrefix } from "../../model/ids.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY, dayOf } from "../../model/time.ts";
import type { Store } from "../d1/database.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { isBefore, type Place, type PlacedEntry } from "./archive.ts";
import { endOfLogs, type ExportSession, loadNextDay, placeAfter, readArchived, readStored } from "./export-parts.ts";
import { listStored } from "./page.ts";
import { smallestCell } from "./segments.ts";
import type { StoredEntry } from "./slices.ts";

/**
 * Exports the log, day by day (UTC), the oldest first, and within a day in the order of logs and ids. A page merges D1 and the archive, and
 * shows each entry once, wherever and however often it is stored. It begins where the page before it ended, so a moved entry is found in its
 * new place.
 */

export interface ExportFilter {
  /** The only log that is exported; absent: all logs. */
  readonly vault: string | undefined;
  /** Unix milliseconds: from `since` on, and before `until`. */
  readonly since: number;
  readonly until: number;
}

export interface ExportPage {
  readonly activities: readonly ListedActivity[];
  /** Absent on the last page. A page may be short, or empty, although there is a next one. */
  readonly next: ExportPosition | undefined;
}

/** Calls of D1 and R2 for a page: on the free plan a request makes at most 50. A step makes 23 at most without looking. */
const PAGE_CALLS_MAX = 24;

/** Loads a page of at most `limit` entries. It begins at the position; absent: at the beginning. Fails with `unavailable` or `rate`. */
export async function loadExportPage(
  store: Store,
  bucket: Bucket,
  { vault, since, until }: ExportFilter,
  from: ExportPosition | undefined,
  limit: number,
): Promise<Result<ExportPage>> {
  try {
    const [first, end] = [timePrefix(since), timePrefix(until)];
    const matches = ({ log, id }: StoredEntry) => id > first && id < end && (vault === undefined || log === vault);
    const session: ExportSession = { store, bucket, vault, lastDay: dayOf(until + DAY), calls: 0 };
    const entries: StoredEntry[] = [];
    let position = from ?? (await nextDay(session, dayOf(since)));
    while (position !== undefined && entries.length < limit && session.calls < PAGE_CALLS_MAX) {
      const step = await readDay(session, position, limit - entries.length, matches);
      if (!step.ok) return step;
      entries.push(...step.value.entries);
      position = step.value.next ?? (await nextDay(session, dayOf(Date.parse(position.day) + DAY)));
    }
    const activities: ListedActivity[] = [];
    for (const entry of entries) activities.push(await listStored(store.keyring, entry));
    return ok({ activities, next: position });
  } catch (error) {
    return failedBy("The export of the log", error, "unavailable");
  }
}

async function nextDay(session: ExportSession, from: string): Promise<ExportPosition | undefined> {
  const day = await loadNextDay(session, from);
  return day === undefined ? undefined : startOf(day);
}

/** Reads entries of a day. Returns also the position of the next step; absent at the end of the day. */
async function readDay(
  session: ExportSession,
  { day, place: from }: ExportPosition,
  room: number,
  matches: (entry: StoredEntry) => boolean,
): Promise<Result<{ readonly entries: readonly StoredEntry[]; readonly next: ExportPosition | undefined }>> {
  const stored = await readStored(session, day, from, room);
  if (!stored.ok) return stored;
  const archived = await readArchived(session, day, from, stored.value.end);
  if (!archived.ok) return archived;
  // A cell with more than one call reads ends the step: the next one begins after it.
  const { end: readEnd } = archived.value;
  const end: Place = isBefore(from, readEnd) ? readEnd : [from[0], `${smallestCell(from[1])}~`];
  const [first, last] = [timePrefix(Date.parse(day)), timePrefix(Date.parse(day) + DAY)];
  const isShown = ({ place, entry }: PlacedEntry) =>
    !isBefore(place, from) && isBefore(place, end) && place[1] > first && place[1] < last && matches(entry);
  const found = [...stored.value.entries, ...archived.value.entries].filter(isShown);
  const unique = [...new Map(found.toReversed().map((one) => [one.place.join(" "), one])).values()];
  const ordered = unique.toSorted((a, b) => (isBefore(a.place, b.place) ? -1 : 1));
  const shown = ordered.slice(0, room);
  const next = ordered.length > room ? placeAfter(shown.at(-1)!.place) : end;
  return ok({
    entries: shown.map(({ entry }) => entry),
    next: isBefore(next, endOfLogs(session)) ? { day, place: [...next] } : undefined,
  });
}
