import { type Keyring, openKeyring } from "../../crypto/keyring.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import { logFailure, logRefusal, printable } from "../../log.ts";
import type { Activity } from "../../model/activity.ts";
import { defect, must } from "../../model/result.ts";
import { parseSettings, type Settings } from "../../settings.ts";
import { runBatch } from "../d1/database.ts";
import { confirmLevel } from "../health/room.ts";
import { archiveSegment, dayOfHandOver, isArchived, listArchivedDays } from "./archive.ts";
import { ACTIVITY, type ActivityRow, LEAVES, openActivity, sealActivity } from "./entry-rows.ts";
import { dropOldest } from "./retention.ts";
import { HAND_OVER_START, type HandOver, isCounted, logOf, parseHandOver, sealHandOvers } from "./segments.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { filesOf } from "../buckets/r2.ts";
import { into } from "../tables/statements.ts";

/**
 * How entries that no commit inserts come into the log. The requests of an isolate share a batch, which one of them flushes after its answer,
 * by one D1 call: reads, denials and sign-ins into segments, what else the admin does into rows. When D1 fails, the queue takes over. An
 * isolate that ends before its flush loses the entries of the window (contract 13.7).
 */

const FLUSH_ENTRIES_MAX = 64;
/** Of entries as JSON. Sealed and in base64 they and their columns stay below the 128 KB that a queue accepts. */
const FLUSH_CHARACTERS_MAX = 48_000;
/** The platform gives `waitUntil` 30 seconds. */
export const FLUSH_WINDOW_MS = 2_000;

/** A line is appended while the segment then has at most so many bytes. A longer line is a segment of its own. */
const SEGMENT_BYTES_MAX = 32_000;

/** What a flush stores. A message of the queue is one that D1 has not taken. */
export interface FlushMessage {
  readonly handOvers: readonly HandOver[];
  readonly rows: readonly ActivityRow[];
}

interface Batch {
  readonly entries: Activity[];
  characters: number;
}

const batches = new WeakMap<Queue, Batch>();

/** Ends the batch of the requests with a queue. Out: its entries. */
export function takeBatch(queue: Queue): readonly Activity[] {
  const entries = batches.get(queue)?.entries ?? [];
  batches.delete(queue);
  return entries;
}

/**
 * Adds an entry to the batch and resolves when the batch was flushed or another request will flush it. A full batch is flushed at once; else
 * the first request whose wait ends flushes it, with I/O of its own: one request must not wait for the I/O of another. Logs what fails.
 */
export async function addEntry(env: Env, entry: Activity): Promise<void> {
  const batch = batches.get(env.ACTIVITY) ?? { entries: [], characters: 0 };
  batches.set(env.ACTIVITY, batch);
  batch.entries.push(entry);
  batch.characters += JSON.stringify(entry).length;
  const isFull = batch.entries.length >= FLUSH_ENTRIES_MAX || batch.characters >= FLUSH_CHARACTERS_MAX;
  if (!isFull) await new Promise((resolve) => setTimeout(resolve, FLUSH_WINDOW_MS));
  if (batches.get(env.ACTIVITY) === batch) await flushBatch(env);
}

/** Flushes the batch now. Logs what fails. */
export async function flushBatch(env: Env): Promise<void> {
  const entries = takeBatch(env.ACTIVITY);
  if (entries.length === 0) return;
  try {
    const settings = must("parse the settings", parseSettings(env));
    const message = await sealBatch(must("open the root keys", await openKeyring(env.ROOT_KEYS)), entries);
    try {
      await storeMessage(env, settings, message, false);
    } catch (error) {
      logFailure("A flush of the log", error);
      await env.ACTIVITY.send(message);
    }
  } catch (error) {
    logFailure("The log", error);
  }
}

/** Makes what a flush stores of entries. */
export async function sealBatch(keyring: Keyring, entries: readonly Activity[]): Promise<FlushMessage> {
  const [handOvers, rows] = await Promise.all([
    sealHandOvers(keyring, entries.filter(isCounted)),
    Promise.all(entries.filter((entry) => !isCounted(entry)).map((entry) => sealActivity({ keyring }, entry))),
  ]);
  return { handOvers, rows };
}

/**
 * The consumer of the queue. Acknowledges each message that it has stored: the queue delivers only the others again, `max_retries` times.
 * Throws when storage failed for one of them, when one is none that a flush makes, or a setting is malformed.
 */
export async function consumeMessages(env: Env, messages: readonly Message<FlushMessage>[]): Promise<void> {
  const settings = must("parse the settings", parseSettings(env));
  const keyring = must("open the root keys", await openKeyring(env.ROOT_KEYS));
  const failures: unknown[] = [];
  for (const message of messages) {
    const stored = parseMessage(keyring, message.body).then((body) => storeMessage(env, settings, body, true));
    await stored.then(
      () => message.ack(),
      (error: unknown) => {
        logFailure("A message of the log", error);
        failures.push(error);
      },
    );
  }
  if (failures.length > 0) throw printable("A message of the log", failures[0]);
}

/**
 * Parses a message. Throws unless it is one that a flush makes: whoever writes to the queue would else write the log. A root key that is not
 * known may be known to the isolate that gets the message again.
 */
async function parseMessage(keyring: Keyring, { handOvers, rows }: FlushMessage): Promise<FlushMessage> {
  const isMade = async (row: ActivityRow) => keyring.keys.has(row.root_key_id) && (await openActivity(keyring, row)).ok;
  if (!(await Promise.all(rows.map(isMade))).every(Boolean)) throw defect("a row that no flush has made");
  return { handOvers: await Promise.all(handOvers.map((handOver) => parseHandOver(keyring, handOver))), rows };
}

/**
 * Stores what a flush has, once, however often the queue delivers it. While the database is nearly full, hand-overs go to the archive in R2,
 * so that writes have the rest of the space. In: whether an earlier try may have stored it. Throws when storage fails.
 */
async function storeMessage(env: Env, settings: Settings, { handOvers, rows }: FlushMessage, isRepeated: boolean): Promise<void> {
  const [db, files] = [env.DB, filesOf(env)];
  const level = await confirmLevel({ db, settings }, "archive");
  // While D1 does not answer, the last known size counts.
  if (!level.ok) logRefusal(level);
  const archives = !level.ok || level.value;
  const unstored = isRepeated ? await withoutStoredOrArchived(db, files, handOvers, archives) : handOvers;
  const inserted = archives ? [] : unstored;
  const fullLogs = rows.length + inserted.length > 0 ? await insert(db, inserted, rows, settings.activityBytes) : [];
  if (archives) await Promise.all(unstored.map(({ log, first: id, line: lines }) => archiveSegment(files, { log, id, lines })));
  for (const { log, bytes } of fullLogs) {
    await dropOldest(db, files, log, bytes - settings.activityBytes).catch((error: unknown) =>
      logFailure("What a log drops", error),
    );
  }
}

/** The hand-overs that no earlier try has stored. In: whether also those in D1 are left out, as an insertion does by itself. */
async function withoutStoredOrArchived(
  db: D1Database,
  bucket: Bucket,
  handOvers: readonly HandOver[],
  asksD1: boolean,
): Promise<HandOver[]> {
  // D1 first: what leaves it meanwhile is in the archive.
  const outsideD1 = asksD1 ? await withoutStored(db, handOvers) : handOvers;
  const days = await listArchivedDays(bucket, outsideD1);
  const unstored: HandOver[] = [];
  for (const handOver of outsideD1)
    if (!days.has(dayOfHandOver(handOver)) || !(await isArchived(bucket, handOver))) unstored.push(handOver);
  return unstored;
}

const HAND_OVERS = `
  SELECT value ->> 'log' AS log, value ->> 'first' AS first, value ->> 'last' AS last, value ->> 'day' AS day,
    value ->> 'end' AS day_end, value ->> 'entries' AS entries, value ->> 'line' AS line FROM json_each(?1)`;

/** SQL: the segments of the day of a hand-over that begin before it. */
const EARLIER_SEGMENTS = "log_segments WHERE vault_id = handed.log AND id > handed.day AND id <= handed.first";

/** Whether the log has a hand-over. `last_id` bounds all earlier segments: none up to the first one without a later id can have it. */
const IS_STORED = `EXISTS (
  SELECT 1 FROM log_segments
  WHERE vault_id = handed.log AND id <= handed.first
    AND id > coalesce((SELECT id FROM ${EARLIER_SEGMENTS} AND last_id < handed.last ORDER BY id DESC LIMIT 1), handed.day)
    AND instr(lines, '${HAND_OVER_START}' || handed.first || '"') > 0)`;

/**
 * Whether a hand-over has a log: that of the admin, or of a vault or token that exists, or existed when the hand-over began. So no flush
 * and no message that follows the end of a vault or token loses what was done before it.
 */
const HAS_LOG = `(
  ${logOf("handed.log")} = '${NOWHERE}' OR EXISTS (SELECT 1 FROM vaults WHERE id = handed.log)
  OR EXISTS (SELECT 1 FROM tokens WHERE id = handed.log)
  OR EXISTS (SELECT 1 FROM activity WHERE vault_id = handed.log AND id > handed.first AND NOT (${LEAVES}))
  OR EXISTS (
    SELECT 1 FROM ended_tokens WHERE id = handed.log
      AND printf('%08x-%04x', ended_at >> 16, ended_at & 65535) >= substr(handed.first, 1, 13)))`;

const SQL = {
  append: `
    INSERT ${into("log_segments")}
    SELECT handed.log, CASE WHEN octet_length(target.lines) + octet_length(line) < ${SEGMENT_BYTES_MAX} THEN target.id ELSE first END,
      max(last, coalesce(target.last_id, '')), handed.entries, line
    FROM (${HAND_OVERS}) AS handed LEFT JOIN log_segments AS target ON target.vault_id = handed.log
      AND target.id = (SELECT max(id) FROM ${EARLIER_SEGMENTS})
    WHERE ${HAS_LOG} AND NOT ${IS_STORED}
    ON CONFLICT (vault_id, id) DO UPDATE SET last_id = max(last_id, excluded.last_id), entries = entries + excluded.entries,
      lines = lines || char(10) || excluded.lines`,
  /** `last_id` bounds earlier segments too. */
  raise: `
    UPDATE log_segments SET last_id = handed.last FROM (${HAND_OVERS}) AS handed
    WHERE vault_id = handed.log AND log_segments.id > handed.first AND log_segments.id < handed.day_end AND last_id < handed.last`,
  /** The queue may deliver a row twice, and that of a token is in the batch that issues or revokes it. */
  rows: `
    INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1) WHERE true
    ON CONFLICT (vault_id, id) DO NOTHING`,
  /**
   * Logs are counted when a segment is begun: in between a log grows by less than a segment. The logs of a family of tokens count together,
   * under the token at its top. Only the log that has grown drops entries. A rule is the top of its own family (`rootOf`).
   */
  full: `
    SELECT log, (
      SELECT sum(octet_length(lines)) FROM log_segments
      WHERE vault_id IN (
        SELECT begun.log UNION SELECT root UNION SELECT id FROM tokens WHERE ancestor_1 = root AND kind IS NOT 'rule')) AS bytes
    FROM (
      SELECT DISTINCT log, coalesce((SELECT ancestor_1 FROM tokens WHERE id = log AND kind IS NOT 'rule'), log) AS root
      FROM (${HAND_OVERS}) AS handed
      WHERE EXISTS (SELECT 1 FROM log_segments WHERE vault_id = handed.log AND log_segments.id = handed.first)) AS begun
    WHERE bytes > ?2`,
  stored: `SELECT log, first FROM (${HAND_OVERS}) AS handed WHERE ${IS_STORED}`,
};

interface FullLog {
  readonly log: string;
  /** The bytes of all logs of its family. */
  readonly bytes: number;
}

/** Out: the logs that have more than the maximum, in bytes. Throws when D1 fails. */
async function insert(
  db: D1Database,
  handOvers: readonly HandOver[],
  rows: readonly ActivityRow[],
  bytesMax: number,
): Promise<readonly FullLog[]> {
  const handOversJson = JSON.stringify(handOvers);
  const answer = await runBatch<[FullLog, ...never[]]>(
    db,
    ...([
      ...(handOvers.length > 0 ? [db.prepare(SQL.append).bind(handOversJson), db.prepare(SQL.raise).bind(handOversJson)] : []),
      ...(rows.length > 0 ? [db.prepare(SQL.rows).bind(JSON.stringify(rows))] : []),
      db.prepare(SQL.full).bind(handOversJson, bytesMax),
    ] as unknown as [D1PreparedStatement]),
  );
  return must("insert entries of the log", answer).at(-1) as unknown as FullLog[];
}

async function withoutStored(db: D1Database, handOvers: readonly HandOver[]): Promise<HandOver[]> {
  if (handOvers.length === 0) return [];
  const read = await runBatch<[Pick<HandOver, "log" | "first">]>(db, db.prepare(SQL.stored).bind(JSON.stringify(handOvers)));
  const [stored] = must("read the log", read);
  return handOvers.filter(({ log, first }) => !stored.some((one) => one.log === log && one.first === first));
}
