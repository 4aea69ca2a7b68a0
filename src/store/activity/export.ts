import { failedBy } from "../../log.ts";
import type { ListedActivity } from "../../model/activity.ts";
import { type ExportPosition, startOf } from "../../model/export-position.ts";
import { timePrefix } from "../../model/ids.ts";
import { defect, ok, type Result } from "../../model/result.ts";
import { DAY, dayOf } from "../../model/time.ts";
import { loadNumbered } from "./archive.ts";
import { completeObject } from "./archiving.ts";
import {
  type ExportSession,
  isAfter,
  loadArchivedDay,
  loadDayRows,
  loadNextDay,
  openSession,
  readSegments,
  type Step,
  take,
} from "./export-parts.ts";
import { listStored } from "./page.ts";
import type { StoredEntry } from "./slices.ts";
import type { Store } from "../d1/database.ts";
import { admitBytes, sizeOfRows } from "../../memory-budget.ts";
import type { Bucket } from "../buckets/bucket.ts";

/**
 * Exports the log, day by day (UTC), the oldest first: first what the archive has of a day, then what is still in D1, log by log. Each
 * entry is shown once, also while the cron trigger moves entries from D1 to the archive: the position tells which numbered objects
 * were shown, and how far the entries of D1 were, so what has moved since is told apart.
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

/** Calls of D1 and R2 for a page: on the free plan a request makes at most 50. A step makes four at most without looking. */
const PAGE_CALLS_MAX = 40;

/**
 * Loads a page of at most `limit` entries. In: where it begins; absent: at the beginning.
 * Errors: `unavailable`, `integrity`, `misconfigured` (a root key is missing).
 */
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
    const session = await openSession(store, bucket, { vault, matches, lastDay: dayOf(until + DAY) }, from?.day ?? dayOf(since));
    const rows: StoredEntry[] = [];
    let position = from ?? (await nextDay(session, dayOf(since)));
    while (position !== undefined && rows.length < limit && session.calls < PAGE_CALLS_MAX) {
      const step: Result<Step> = await STAGES[position.stage](session, position, limit - rows.length);
      if (!step.ok) return step;
      rows.push(...step.value.rows);
      const admitted = admitBytes(store.share, sizeOfRows(rows));
      if (!admitted.ok) return admitted;
      position = step.value.next;
    }
    return await openPage(store, rows, position);
  } catch (error) {
    return failedBy("An export of the log", error, "unavailable");
  }
}

async function openPage({ keyring }: Store, rows: readonly StoredEntry[], next: ExportPage["next"]): Promise<Result<ExportPage>> {
  const activities: ListedActivity[] = [];
  for (const row of rows) activities.push(await listStored(keyring, row));
  return ok({ activities, next });
}

type Stage = (session: ExportSession, position: ExportPosition, room: number) => Promise<Result<Step>>;

const STAGES: Readonly<Record<ExportPosition["stage"], Stage>> = {
  numbers: (session, position, room) => readNumbered(session, position, room, "rows"),
  segments: async (session, position, room) => {
    const { rows, next } = await readSegments(session, position, room, PAGE_CALLS_MAX);
    return ok({ rows, next: next ?? (await nextDay(session, dayOf(Date.parse(position.day) + DAY))) });
  },
  rows: readRows,
  moved: (session, position, room) => readNumbered(session, position, room, "rows"),
};

/** Shows entries of a numbered object. Those that were shown from D1, before they were moved, come before the floor. */
async function readNumbered(
  session: ExportSession,
  position: ExportPosition,
  room: number,
  following: ExportPosition["stage"],
): Promise<Result<Step>> {
  const { store, bucket } = session;
  const { day, number, floor } = position;
  session.calls++;
  const rows = await loadNumbered(bucket, day, number, session.vault);
  const complete = session.complete.get(day) ?? 0;
  if (!rows && number >= complete) return ok({ rows: [], next: { ...position, stage: following } });
  // A run of the cron trigger has ended before it deleted these entries from D1, or D1 was restored.
  if (rows && number >= complete) {
    session.calls++;
    await completeObject(store.db, day, number, rows);
    session.complete.set(day, number + 1);
  }
  const taken = take(rows ?? [], position.index, room, (row) => session.matches(row) && isAfter(row, floor));
  const next = taken.done ? { number: number + 1, index: 0 } : { index: taken.index };
  return ok({ rows: taken.rows, next: { ...position, ...next } });
}

/** Shows rows that are in D1. */
async function readRows(session: ExportSession, position: ExportPosition, room: number): Promise<Result<Step>> {
  const { day, number, floor } = position;
  session.calls++;
  const read = await loadDayRows(session.store.db, day, floor, room, session.vault);
  if (!read.ok) return read;
  if (read.value.objects > number) {
    session.complete.set(day, read.value.objects);
    return ok({ rows: [], next: { ...position, stage: "moved", index: 0 } });
  }
  const last = read.value.rows.at(-1);
  const rows = read.value.rows.filter(session.matches);
  if (last && read.value.rows.length === room) return ok({ rows, next: { ...position, floor: [last.log, last.id] } });
  return ok({ rows, next: { ...position, stage: "segments", after: "", index: 0 } });
}

/** The first day from one on that may have entries. D1 is read first: what has left it since is in the archive. Throws when D1 or R2 fails. */
async function nextDay(session: ExportSession, from: string): Promise<ExportPosition | undefined> {
  session.calls++;
  const stored = await loadNextDay(session.store.db, from, session.lastDay, session.vault);
  if (!stored.ok) throw defect("the days of the log could not be read");
  const archived = await loadArchivedDay(session, from);
  const day = [stored.value ?? "~", archived ?? "~"].toSorted()[0]!;
  return day > session.lastDay ? undefined : startOf(day);
}
