import { NOWHERE } from "../../crypto/seal.ts";
import { timePrefix } from "../../model/ids.ts";
import { must } from "../../model/result.ts";
import { DAY, dayOf, HOUR } from "../../model/time.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { listAll } from "../buckets/calls.ts";
import { type Take, runBatch } from "../d1/database.ts";
import { keysOfSlice, runningSum, type SliceBounds } from "../tables/slices.ts";
import { into } from "../tables/statements.ts";
import { archivePart, COPY_MS, FIRST, isBefore, objectOf, partsOf, type Place } from "./archive.ts";
import { ACTIVITY, type ActivityRow, LEAVES } from "./entry-rows.ts";
import { dayOfKey, entriesOf, HAS_CELL, type Segment } from "./segments.ts";

/**
 * Deletes entries past their retention, and the oldest segments of a log with too many bytes. Nothing is deleted from D1 that is not in the
 * archive, unless there is none. Segments are copied already on the following day, so that a lost D1 costs one day of them.
 */

export interface EntryKey {
  readonly log: string;
  readonly id: string;
}

const KEYS = "SELECT value ->> 0 AS log, value ->> 1 AS id FROM json_each(?1)";

/** The table `logs` of all logs with rows in a table: each is found by one step in the primary key. */
export const logsIn = (table: "activity" | "log_segments"): string => `
  WITH RECURSIVE logs (log) AS (
    SELECT min(vault_id) FROM ${table}
    UNION ALL SELECT (SELECT min(vault_id) FROM ${table} WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)`;

/**
 * A condition on a row: its id begins with a time, as `timePrefix` writes it. The id of a damaged row may not. Such a row belongs to no
 * day: it is neither archived nor exported, and does not block other rows. `verify` reports it.
 */
export const HAS_DAY = `
  (substr(id, 9, 1) = '-' AND length(replace(substr(id, 1, 13), '-', '')) = 12 AND id NOT GLOB '*[^0-9a-f-]*')`;

interface StoredSegment extends Segment {
  /** Bytes as D1 counts them. D1's text of damaged UTF-8 has a different number. */
  readonly bytes: number;
}

/** Segments that a flush drops. The next flush continues. */
const DROP_SEGMENTS_MAX = 64;

/** Of an object of the archive. Its texts are in memory while it is written. */
const SLICE_MAX: SliceBounds = { rows: 5_000, bytes: 4 * 1024 * 1024 };

const OF_LOG = `log_segments WHERE vault_id = ?1 AND ${HAS_CELL}`;

/** SQL: the greater number of a row in `logs` and the inserted row. */
export const RAISED_EXPIRED = `max(min(expired, ${Number.MAX_SAFE_INTEGER}), excluded.expired)`;

const SQL = {
  // Log by log, because the key begins with the log: otherwise SQLite would read every row.
  oldest: `
    ${logsIn("activity")}
    SELECT min((SELECT id FROM activity WHERE vault_id = log AND id < ?1 AND ${HAS_DAY} AND ${LEAVES} ORDER BY id LIMIT 1)) AS id
    FROM logs`,
  slice: `
    ${logsIn("activity")}, entries AS (
      SELECT ${ACTIVITY.selected} FROM logs CROSS JOIN activity ON vault_id = log AND id >= ?1 AND id < ?2
      WHERE ${LEAVES} LIMIT ${SLICE_MAX.rows})
    SELECT ${ACTIVITY.attributes} FROM (
      SELECT *, ${runningSum("length(sealed)", "log, id")} - length(sealed) AS earlier FROM entries)
    WHERE earlier < ${SLICE_MAX.bytes}`,
  /**
   * The number of the last write that leaves D1; `verify` expects all later writes. A damaged number above the vault's number is ignored.
   */
  numbers: `
    INSERT ${into("logs", ["vault_id", "expired"])}
    SELECT old.log, max(sequence)
    FROM (${KEYS}) AS old JOIN activity ON vault_id = old.log AND activity.id = old.id JOIN vaults ON vaults.id = old.log
    WHERE sequence BETWEEN 0 AND min(content_version + attribute_version, ${Number.MAX_SAFE_INTEGER}) GROUP BY old.log
    ON CONFLICT (vault_id) DO UPDATE SET expired = ${RAISED_EXPIRED}`,
  delete: `DELETE FROM activity WHERE (vault_id, id) IN (${KEYS})`,
  // The log of a deleted vault keeps one entry, the deletion.
  forget: `
    DELETE FROM logs
    WHERE vault_id <> '${NOWHERE}' AND NOT EXISTS (SELECT 1 FROM vaults WHERE id = logs.vault_id)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE id = logs.vault_id)
      AND NOT EXISTS (SELECT 1 FROM log_segments WHERE log_segments.vault_id = logs.vault_id)
      AND (SELECT count(*) FROM (SELECT 1 FROM activity WHERE activity.vault_id = logs.vault_id LIMIT 2)) < 2`,
  oldestSegment: `
    ${logsIn("log_segments")}
    SELECT min((SELECT id FROM log_segments WHERE vault_id = log AND id < ?1 AND ${HAS_CELL} ORDER BY id LIMIT 1)) AS id FROM logs`,
  /** The rows of a day after a place. */
  segments: `
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM log_segments WHERE vault_id >= ?3
      UNION ALL SELECT (SELECT min(vault_id) FROM log_segments WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT vault_id AS log, id, octet_length(lines) AS bytes, lines FROM (
      SELECT log, segment, ${runningSum("bytes")} - bytes AS earlier FROM (
        SELECT vault_id AS log, id AS segment, octet_length(lines) AS bytes
        FROM logs CROSS JOIN log_segments ON vault_id = log AND id >= ?1 AND id < ?2
        WHERE ${HAS_CELL} AND (vault_id, id) > (?3, ?4) LIMIT ${SLICE_MAX.rows}))
    CROSS JOIN log_segments ON vault_id = log AND id = segment WHERE earlier < ${SLICE_MAX.bytes}`,
  /**
   * The oldest segments of a log that together have this many bytes. The newest segment stays, because other logs of its family may use the
   * whole budget. Segments whose cells contain it stay too, because they get newer entries.
   */
  oldestSegments: `
    SELECT vault_id AS log, id, octet_length(lines) AS bytes, lines FROM log_segments WHERE vault_id = ?1
      AND id IN (${keysOfSlice(["id"], "octet_length(lines)", `${OF_LOG} AND substr((SELECT max(id) FROM ${OF_LOG}), 1, length(id)) <> id`, { rows: DROP_SEGMENTS_MAX, bytes: "?2" })})`,
  /** Skipped if a line was appended since. */
  deleteSegments: `
    DELETE FROM log_segments WHERE (vault_id, id) IN (${KEYS})
      AND octet_length(lines) = (
        SELECT value ->> 2 FROM json_each(?1) WHERE value ->> 0 = log_segments.vault_id AND value ->> 1 = log_segments.id)`,
  dropped: `
    INSERT ${into("logs", ["vault_id", "dropped"])} VALUES (?1, ?2)
    ON CONFLICT (vault_id) DO UPDATE SET dropped = max(dropped, excluded.dropped)`,
};

/** Slices of a run of the cron trigger. */
const RUN_SLICES_MAX = 8;

/** Deletes rows. Throws if D1 fails. */
async function deleteEntries(db: D1Database, entries: readonly EntryKey[]): Promise<void> {
  const keys = JSON.stringify(entries.map(({ log, id }) => [log, id]));
  const done = await runBatch(db, db.prepare(SQL.numbers).bind(keys), db.prepare(SQL.delete).bind(keys));
  must("delete expired entries", done);
}

/** Deletes segments, except those to which a line was since appended. Throws if D1 fails. */
async function deleteSegments(
  db: D1Database,
  segments: readonly StoredSegment[],
  ...statements: readonly D1PreparedStatement[]
): Promise<void> {
  const keys = JSON.stringify(segments.map(({ log, id, bytes }) => [log, id, bytes]));
  must("delete segments", await runBatch(db, db.prepare(SQL.deleteSegments).bind(keys), ...statements));
}

/** Returns texts that sort before and after all ids and cells of a day. */
const boundsOf = (day: string): readonly [string, string] => [timePrefix(Date.parse(day)), timePrefix(Date.parse(day) + DAY)];

/**
 * Archives the rows of `activity` before a time (Unix milliseconds), and deletes them. Without an archive they are only deleted. `take` takes
 * the D1 calls. Throws if D1 or R2 fails.
 */
export const removeOldRows = (db: D1Database, bucket: Bucket | undefined, before: number, take: Take): Promise<void> =>
  removeOld(db, before, take, SQL.oldest, async (day) => {
    const end = timePrefix(Math.min(Date.parse(day) + DAY, before));
    const [rows] = must(
      "read expired entries",
      await runBatch<[ActivityRow]>(db, db.prepare(SQL.slice).bind(boundsOf(day)[0], end)),
    );
    if (bucket) await archivePart(bucket, day, "rows", rows);
    await deleteEntries(db, rows);
  });

/** The same for the segments of the days before a time. A segment that was already copied has the same name in the archive. */
export const removeOldSegments = (db: D1Database, bucket: Bucket | undefined, before: number, take: Take): Promise<void> =>
  removeOld(db, Date.parse(dayOf(before)), take, SQL.oldestSegment, async (day) => {
    const segments = await loadSegments(db, day, FIRST);
    if (bucket) await archivePart(bucket, day, "copy", segments);
    await deleteSegments(db, segments);
  });

/** Removes slices of the oldest days; the next run continues after eight slices. */
async function removeOld(
  db: D1Database,
  before: number,
  take: Take,
  sql: string,
  removeSlice: (day: string) => Promise<void>,
): Promise<void> {
  for (let slice = 0; slice < RUN_SLICES_MAX && take(3); slice++) {
    const statement = db.prepare(sql).bind(timePrefix(before));
    const [[row]] = must("read the oldest entry", await runBatch<[{ id: string | null }]>(db, statement));
    if (!row?.id) break;
    await removeSlice(dayOfKey(row.id));
  }
}

async function loadSegments(db: D1Database, day: string, after: Place): Promise<readonly StoredSegment[]> {
  const statement = db.prepare(SQL.segments).bind(...boundsOf(day), ...after);
  return must("read the segments of a day", await runBatch<[StoredSegment]>(db, statement))[0];
}

/**
 * Copies the segments of the last complete day (UTC) to the archive, after its existing copy. Each hour it also copies the segments of one
 * earlier day, because a run may have failed. Entries that a day gets later are late, and archived by their flush. `now` is in Unix
 * milliseconds. Throws if D1 or R2 fails.
 */
export async function copySegments(db: D1Database, bucket: Bucket, now: number, take: Take): Promise<void> {
  const last = now - COPY_MS - DAY;
  const hour = Math.floor(now / HOUR) % 24;
  for (const day of [dayOf(last), dayOf(last - (1 + hour) * DAY)]) {
    const lasts = (await listAll(bucket, partsOf(day, "copy"))).map((object) => objectOf(object).last);
    let after = lasts.reduce<Place>((greatest, one) => (isBefore(greatest, one) ? one : greatest), FIRST);
    while (take(1)) {
      const segments = await loadSegments(db, day, after);
      const { log, id } = segments.at(-1) ?? {};
      if (log === undefined || id === undefined) break;
      await archivePart(bucket, day, "copy", segments);
      after = [log, id];
    }
  }
}

/**
 * Moves the oldest segments of a log to the archive until they have this many bytes. Throws when D1 or R2 fails: a later flush tries again.
 */
export async function dropOldest(db: D1Database, bucket: Bucket, log: string, bytes: number): Promise<void> {
  const read = await runBatch<[StoredSegment]>(db, db.prepare(SQL.oldestSegments).bind(log, bytes));
  const [oldest] = must("read what a log drops", read);
  if (oldest.length === 0) return;
  const ids = oldest.flatMap(entriesOf).map(({ id }) => id);
  for (const [day, segments] of Map.groupBy(oldest, ({ id }) => dayOfKey(id)))
    await archivePart(bucket, day, "dropped", segments);
  await deleteSegments(db, oldest, db.prepare(SQL.dropped).bind(log.slice(0, NOWHERE.length), ids.toSorted().at(-1)));
}

/** Deletes the rows of `logs` for deleted vaults and tokens without entries. Throws if D1 fails. */
export const forgetLogs = async (db: D1Database): Promise<void> =>
  void must("forget logs", await runBatch(db, db.prepare(SQL.forget)));
