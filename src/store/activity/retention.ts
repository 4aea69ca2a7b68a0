import type { Take } from "../d1/calls.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import { timeOf, timePrefix } from "../../model/ids.ts";
import { must } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { ARCHIVE_SEGMENT_CALLS_MAX, archiveSegment } from "./archive.ts";
import { LEAVES } from "./entry-rows.ts";
import { keysOfSlice, runningSum, type SliceBounds } from "../tables/slices.ts";
import { runBatch } from "../d1/database.ts";
import type { Segment } from "./segments.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { into } from "../tables/statements.ts";

/** Deletes what has to leave the log: entries past their retention, and the oldest segments of a log that has too many bytes. */

/** The key of an entry. */
export interface EntryKey {
  readonly log: string;
  readonly id: string;
}

const KEYS = "SELECT value ->> 0 AS log, value ->> 1 AS id FROM json_each(?1)";

/** The table `logs` of all logs that have rows in a table: each is found by one step in the primary key. */
export const logsIn = (table: "activity" | "log_segments"): string => `
  WITH RECURSIVE logs (log) AS (
    SELECT min(vault_id) FROM ${table}
    UNION ALL SELECT (SELECT min(vault_id) FROM ${table} WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)`;

/**
 * A condition on a row: its id begins with a time, as `timePrefix` writes it. The id of a damaged row may not: it belongs to
 * no day, so it is neither archived nor exported, and holds up none of the others. `verify` names it.
 */
export const HAS_DAY = `
  (substr(id, 9, 1) = '-' AND length(replace(substr(id, 1, 13), '-', '')) = 12 AND id NOT GLOB '*[^0-9a-f-]*')`;

interface StoredSegment extends Segment {
  readonly lastId: string;
  /** As D1 counts them: the text that it gives of damaged UTF-8 has others. */
  readonly bytes: number;
}

const SEGMENT_COLUMNS = "vault_id AS log, id, last_id AS lastId, octet_length(lines) AS bytes, lines";

/** A flush drops at most so many segments: the next ones go on. */
const DROP_SEGMENTS_MAX = 16;

/** Of segments. The texts are in memory while they are archived. */
const SEGMENT_SLICE_MAX: SliceBounds = { rows: 100, bytes: 4 * 1024 * 1024 };

/**
 * The most calls of R2 that a run makes for segments: with those of its other parts they are fewer than the 1,000 calls of services of
 * Cloudflare that the free plan allows an invocation (developers.cloudflare.com/workers/platform/limits).
 */
const SEGMENT_FILE_CALLS_MAX = 850;

const OF_LOG = `log_segments WHERE vault_id = ?1 AND ${HAS_DAY}`;

/** SQL: the greater number of a row of `logs` and of what is inserted. */
export const RAISED_EXPIRED = `max(min(expired, ${Number.MAX_SAFE_INTEGER}), excluded.expired)`;

const SQL = {
  // Log by log, because the key begins with the log: else SQLite would read every row.
  old: `${logsIn("activity")} SELECT log, id FROM logs CROSS JOIN activity ON vault_id = log AND id < ?1 WHERE ${LEAVES} LIMIT 5000`,
  /** The number of the last write that leaves: `verify` misses no later one. A damaged number, higher than that of the vault, tells nothing. */
  numbers: `
    INSERT ${into("logs", ["vault_id", "expired"])}
    SELECT old.log, max(sequence)
    FROM (${KEYS}) AS old JOIN activity ON vault_id = old.log AND activity.id = old.id JOIN vaults ON vaults.id = old.log
    WHERE sequence BETWEEN 0 AND min(content_version + attribute_version, ${Number.MAX_SAFE_INTEGER}) GROUP BY old.log
    ON CONFLICT (vault_id) DO UPDATE SET expired = ${RAISED_EXPIRED}`,
  delete: `DELETE FROM activity WHERE (vault_id, id) IN (${KEYS})`,
  deleted: "SELECT changes() AS deleted",
  // The log of a deleted vault keeps one entry, the deletion.
  forget: `
    DELETE FROM logs
    WHERE vault_id <> '${NOWHERE}' AND NOT EXISTS (SELECT 1 FROM vaults WHERE id = logs.vault_id)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE id = logs.vault_id)
      AND NOT EXISTS (SELECT 1 FROM log_segments WHERE log_segments.vault_id = logs.vault_id)
      AND (SELECT count(*) FROM (SELECT 1 FROM activity WHERE activity.vault_id = logs.vault_id LIMIT 2)) < 2`,
  /** The first segment from an id on that is past the retention: all entries of a segment are of one day. */
  oldestSegment: `
    ${logsIn("log_segments")}
    SELECT min((SELECT id FROM log_segments WHERE vault_id = log AND id >= ?2 AND id < ?1 AND last_id < ?1 AND ${HAS_DAY} ORDER BY id LIMIT 1)) AS id
    FROM logs`,
  /** Those of a day after a key. */
  oldSegments: `
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM log_segments WHERE vault_id >= ?3
      UNION ALL SELECT (SELECT min(vault_id) FROM log_segments WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT ${SEGMENT_COLUMNS} FROM (
      SELECT log, segment, ${runningSum("bytes")} - bytes AS earlier FROM (
        SELECT vault_id AS log, id AS segment, octet_length(lines) AS bytes
        FROM logs CROSS JOIN log_segments ON vault_id = log AND id >= ?1 AND id < ?2 AND last_id < ?2
        WHERE ${HAS_DAY} AND (vault_id, id) > (?3, ?4) LIMIT ${SEGMENT_SLICE_MAX.rows}))
    CROSS JOIN log_segments ON vault_id = log AND id = segment WHERE earlier < ${SEGMENT_SLICE_MAX.bytes}`,
  /** The oldest segments of a log that have so many bytes together. The newest one stays: other logs of its family may take all of the budget. */
  oldestSegments: `
    SELECT ${SEGMENT_COLUMNS} FROM log_segments WHERE vault_id = ?1
      AND id IN (${keysOfSlice(["id"], "octet_length(lines)", `${OF_LOG} AND id < (SELECT max(id) FROM ${OF_LOG})`, { rows: DROP_SEGMENTS_MAX, bytes: "?2" })})`,
  /** Not when a line was appended meanwhile. */
  deleteSegments: `
    DELETE FROM log_segments WHERE (vault_id, id) IN (${KEYS})
      AND octet_length(lines) = (
        SELECT value ->> 2 FROM json_each(?1) WHERE value ->> 0 = log_segments.vault_id AND value ->> 1 = log_segments.id)
    RETURNING entries`,
  dropped: `
    INSERT ${into("logs", ["vault_id", "dropped"])} VALUES (?1, ?2)
    ON CONFLICT (vault_id) DO UPDATE SET dropped = max(dropped, excluded.dropped)`,
};

/** The most slices of a run of the cron trigger. */
export const RUN_SLICES_MAX = 8;

/**
 * Deletes the rows before a time (Unix milliseconds) without archiving them, in slices of 5,000; the next run continues after
 * eight slices. In: what gives the calls of a slice. Out: how many were deleted. For the cron trigger: throws when D1 fails, so that the
 * run shows as failed.
 */
export async function deleteOldActivity(db: D1Database, before: number, take: Take): Promise<number> {
  let deleted = 0;
  for (let slice = 0; slice < RUN_SLICES_MAX && take(2); slice++) {
    const [old] = must("read expired entries", await runBatch<[EntryKey]>(db, db.prepare(SQL.old).bind(timePrefix(before))));
    if (old.length === 0) break;
    deleted += await deleteEntries(db, old);
  }
  return deleted;
}

/** Deletes rows in one D1 call, together with another statement. Out: how many there were. Throws when D1 fails. */
export async function deleteEntries(
  db: D1Database,
  entries: readonly EntryKey[],
  ...statements: readonly D1PreparedStatement[]
): Promise<number> {
  const keys = JSON.stringify(entries.map(({ log, id }) => [log, id]));
  const answer = await runBatch<[never, never, { deleted: number }, ...never[]]>(
    db,
    db.prepare(SQL.numbers).bind(keys),
    db.prepare(SQL.delete).bind(keys),
    db.prepare(SQL.deleted),
    ...statements,
  );
  return must("delete expired entries", answer)[2][0]!.deleted;
}

/**
 * Moves segments whose entries are all before a time (Unix milliseconds) to the archive, or deletes them where there is none: the oldest day
 * of all logs first. A segment that stays, because a line was appended meanwhile, is left to the next run. In: what gives the calls of D1.
 * Out: how many entries have left D1. Throws when D1 or R2 fails: then nothing is deleted that is not archived.
 */
export async function removeOldSegments(db: D1Database, bucket: Bucket | undefined, before: number, take: Take): Promise<number> {
  let [deleted, fileCalls] = [0, 0];
  let start = take(1) ? await loadOldestDay(db, before, 0) : undefined;
  let after: EntryKey = FIRST_KEY;
  const sliceFileCallsMax = bucket ? SEGMENT_SLICE_MAX.rows * ARCHIVE_SEGMENT_CALLS_MAX : 0;
  for (let slice = 0; slice < RUN_SLICES_MAX && start !== undefined; slice++) {
    if (fileCalls + sliceFileCallsMax > SEGMENT_FILE_CALLS_MAX || !take(2)) break;
    const old = await loadOldSegments(db, start, before, after);
    if (bucket) fileCalls += await archiveSegments(bucket, old);
    if (old.length > 0) deleted += await deleteSegments(db, old);
    const isFull =
      old.length === SEGMENT_SLICE_MAX.rows || old.reduce((sum, { bytes }) => sum + bytes, 0) >= SEGMENT_SLICE_MAX.bytes;
    after = isFull ? old.at(-1)! : FIRST_KEY;
    if (!isFull) start = take(1) ? await loadOldestDay(db, before, start + DAY) : undefined;
  }
  return deleted;
}

const FIRST_KEY: EntryKey = { log: "", id: "" };

/** Out: when the day begins (UTC) of the first old segment from a time on; `undefined`: there is none. */
async function loadOldestDay(db: D1Database, before: number, from: number): Promise<number | undefined> {
  const statement = db.prepare(SQL.oldestSegment).bind(timePrefix(before), timePrefix(from));
  const [[row]] = must("read the oldest segment", await runBatch<[{ id: string | null }]>(db, statement));
  return row?.id ? timeOf(row.id) - (timeOf(row.id) % DAY) : undefined;
}

async function loadOldSegments(db: D1Database, start: number, before: number, { log, id }: EntryKey): Promise<StoredSegment[]> {
  const values = [timePrefix(start), timePrefix(Math.min(start + DAY, before)), log, id];
  const [old] = must("read expired segments", await runBatch<[StoredSegment]>(db, db.prepare(SQL.oldSegments).bind(...values)));
  return [...old];
}

/** Moves the oldest segments of a log to the archive, until they have so many bytes. Throws when D1 or R2 fails: the next flush tries again. */
export async function dropOldest(db: D1Database, bucket: Bucket, log: string, bytes: number): Promise<void> {
  const read = await runBatch<[StoredSegment]>(db, db.prepare(SQL.oldestSegments).bind(log, bytes));
  const [oldest] = must("read what a log drops", read);
  const last = oldest
    .map(({ lastId }) => lastId)
    .toSorted()
    .at(-1);
  if (last === undefined) return;
  const raiseDropped = db.prepare(SQL.dropped).bind(log.slice(0, NOWHERE.length), last);
  await archiveSegments(bucket, oldest);
  await deleteSegments(db, oldest, raiseDropped);
}

/** Out: the calls of R2. */
async function archiveSegments(bucket: Bucket, segments: readonly StoredSegment[]): Promise<number> {
  const calls = await Promise.all(segments.map((segment) => archiveSegment(bucket, segment)));
  return calls.reduce((sum, one) => sum + one, 0);
}

/** Out: how many entries have left D1. */
async function deleteSegments(
  db: D1Database,
  segments: readonly StoredSegment[],
  ...statements: readonly D1PreparedStatement[]
): Promise<number> {
  const keys = JSON.stringify(segments.map(({ log, id, bytes }) => [log, id, bytes]));
  const answer = await runBatch<[{ entries: number }, ...never[]]>(
    db,
    db.prepare(SQL.deleteSegments).bind(keys),
    ...(statements as [D1PreparedStatement]),
  );
  return must("delete segments", answer)[0].reduce((sum, { entries }) => sum + entries, 0);
}

/** Deletes what is told of the logs of deleted vaults and tokens that have no entry left. Throws when D1 fails. */
export const forgetLogs = async (db: D1Database): Promise<void> =>
  void must("forget logs", await runBatch(db, db.prepare(SQL.forget)));
