import type { Take } from "../d1/calls.ts";
import { timeOf, timePrefix } from "../../model/ids.ts";
import { must } from "../../model/result.ts";
import { DAY, dayOf } from "../../model/time.ts";
import { archiveNumbered } from "./archive.ts";
import { deleteEntries, HAS_DAY, logsIn, RUN_SLICES_MAX } from "./retention.ts";
import { runBatch } from "../d1/database.ts";
import { ACTIVITY, type ActivityRow, LEAVES } from "./entry-rows.ts";
import { runningSum } from "../tables/slices.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { into } from "../tables/statements.ts";

/**
 * Moves rows past their retention from D1 to the archive in R2, in slices. A slice is an object of its day, with the next
 * number. `archived_days` says how many objects of a day are complete; the batch that deletes the entries of an object from D1
 * raises it. An object is written once: a run that finds the next number taken deletes the entries of that object from D1, and
 * not those that it has read itself. So no entry is in two objects, and none is deleted that is in no object, whenever a run
 * ends, however many run at once, and also after D1 was restored: then `archived_days` is of the same minute as the entries.
 */

/** The most entries of a slice, and about the most bytes of their sealed texts. */
const SLICE_MAX = { entries: 5_000, bytes: 4 * 1024 * 1024 };

const SQL = {
  // The first entry of each log: the key begins with the log.
  oldest: `
    ${logsIn("activity")}
    SELECT min((SELECT id FROM activity WHERE vault_id = log AND id < ?1 AND ${HAS_DAY} AND ${LEAVES} ORDER BY id LIMIT 1)) AS id
    FROM logs`,
  objects: "SELECT objects FROM archived_days WHERE day = ?1",
  slice: `
    ${logsIn("activity")}, entries AS (
      SELECT ${ACTIVITY.selected} FROM logs CROSS JOIN activity ON vault_id = log AND id >= ?1 AND id < ?2
      WHERE ${LEAVES} LIMIT ${SLICE_MAX.entries})
    SELECT ${ACTIVITY.attributes} FROM (
      SELECT *, ${runningSum("length(sealed)", "log, id")} - length(sealed) AS earlier FROM entries)
    WHERE earlier < ${SLICE_MAX.bytes}`,
  /** Only from the number that was read: meanwhile D1 may have been restored. */
  complete: `
    INSERT ${into("archived_days")}
    SELECT ?1, ?2 + 1 WHERE coalesce((SELECT objects FROM archived_days WHERE day = ?1), 0) = ?2
    ON CONFLICT (day) DO UPDATE SET objects = excluded.objects`,
  forget: "DELETE FROM archived_days WHERE day < ?1",
};

/**
 * Archives the entries before a time (Unix milliseconds), the oldest day first; the next run continues after eight slices. In: what
 * gives the calls of a slice; the first call is not one of them. Out: how many entries have left D1. For the cron trigger: throws when
 * D1 or R2 fails. Then nothing is deleted that is not archived.
 */
export async function archiveOldActivity(db: D1Database, bucket: Bucket, before: number, take: Take): Promise<number> {
  let deleted = 0;
  let day = await oldestDay(db, before);
  for (let slice = 0; slice < RUN_SLICES_MAX && day !== undefined && take(3); slice++) {
    const { number, rows } = await readSlice(db, day, before);
    if (rows.length > 0) deleted += await completeObject(db, day, number, await archiveNumbered(bucket, day, number, rows));
    if (rows.length < SLICE_MAX.entries) day = await oldestDay(db, before);
  }
  return deleted;
}

async function oldestDay(db: D1Database, before: number): Promise<string | undefined> {
  const statement = db.prepare(SQL.oldest).bind(timePrefix(before));
  const [[row]] = must("read the oldest entry", await runBatch<[{ id: string | null }]>(db, statement));
  return row?.id ? dayOf(timeOf(row.id)) : undefined;
}

async function readSlice(
  db: D1Database,
  day: string,
  before: number,
): Promise<{ readonly number: number; readonly rows: readonly ActivityRow[] }> {
  const start = Date.parse(day);
  const bounds = [timePrefix(start), timePrefix(Math.min(start + DAY, before))];
  const read = await runBatch<[{ objects: number }, ActivityRow]>(
    db,
    db.prepare(SQL.objects).bind(day),
    db.prepare(SQL.slice).bind(...bounds),
  );
  const [objects, rows] = must("read expired entries", read);
  return { number: objects[0]?.objects ?? 0, rows };
}

/** Deletes the entries of an object from D1, and records that the object is complete. Out: how many were still in D1. */
export const completeObject = (db: D1Database, day: string, number: number, rows: readonly ActivityRow[]): Promise<number> =>
  deleteEntries(db, rows, db.prepare(SQL.complete).bind(day, number));

/** Deletes the records of the days before that of a time, whose objects were deleted. Throws when D1 fails. */
export const forgetDays = async (db: D1Database, before: number): Promise<void> =>
  void must("forget archived days", await runBatch(db, db.prepare(SQL.forget).bind(dayOf(before))));
