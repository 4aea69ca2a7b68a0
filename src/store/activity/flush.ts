import { type Keyring, openKeyring } from "../../crypto/keyring.ts";
import { NOWHERE } from "../../crypto/seal.ts";
import { logFailure, logRefusal, printable } from "../../log.ts";
import type { Activity } from "../../model/activity.ts";
import { timeOf } from "../../model/ids.ts";
import { defect, must } from "../../model/result.ts";
import { parseSettings, type Settings } from "../../settings.ts";
import { filesOf } from "../buckets/r2.ts";
import { runBatch } from "../d1/database.ts";
import { confirmLevel } from "../health/room.ts";
import { into } from "../tables/statements.ts";
import { archiveLate, isLate } from "./archive.ts";
import { ACTIVITY, type ActivityRow, LEAVES, openActivity, sealActivity } from "./entry-rows.ts";
import { dropOldest } from "./retention.ts";
import { CELLS, type HandOver, isCounted, logOf, parseHandOver, sealHandOvers } from "./segments.ts";

/**
 * Writes entries that no commit inserts into the log. The requests of an isolate share a batch, which one of them flushes after its answer,
 * by one D1 call. Reads, denials and sign-ins go into segments, and the admin's other actions into rows. If D1 fails, the queue takes over.
 * An isolate that ends before its flush loses the entries of the window (contract 13.7).
 */

const FLUSH_ENTRIES_MAX = 64;
/** Of entries as JSON. Sealed and in base64, with their columns, they stay below the 128 KB that a queue accepts. */
const FLUSH_CHARACTERS_MAX = 48_000;
/** The platform gives `waitUntil` 30 seconds. */
export const FLUSH_WINDOW_MS = 2_000;

/**
 * By the size of its cell: a segment gets another line while it then has fewer bytes than this. A page always reads one segment of each
 * size, so the sizes that only rare reads and floods fill are small.
 */
const SEGMENT_BYTES_MAX: Readonly<Record<(typeof CELLS)[number], number>> = { 6: 8_000, 7: 44_000, 8: 44_000, 10: 8_000 };

/** The bytes of a log are counted at one of this many hand-overs: on average a log grows by this many in between. */
const COUNTED_EVERY = 64;

/** The data that a flush stores. A message of the queue has data that D1 has not taken. */
export interface FlushMessage {
  readonly handOvers: readonly HandOver[];
  readonly rows: readonly ActivityRow[];
}

interface Batch {
  readonly entries: Activity[];
  characters: number;
}

const batches = new WeakMap<Queue, Batch>();

/** Ends the batch of the requests with a queue. Returns its entries. */
export function takeBatch(queue: Queue): readonly Activity[] {
  const entries = batches.get(queue)?.entries ?? [];
  batches.delete(queue);
  return entries;
}

/**
 * Adds an entry to the batch. Resolves when the batch was flushed, or when another request will flush it. A full batch is flushed
 * immediately. Otherwise the first request whose wait ends flushes it, with its own I/O: a request must not wait for another request's I/O.
 * Logs failures.
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

/** Flushes the batch now. Logs failures. */
export async function flushBatch(env: Env): Promise<void> {
  const entries = takeBatch(env.ACTIVITY);
  if (entries.length === 0) return;
  try {
    const settings = must("parse the settings", parseSettings(env));
    const message = await sealBatch(must("open the root keys", await openKeyring(env.ROOT_KEYS)), entries);
    try {
      // The newest request has just ended.
      await storeMessage(env, settings, message, Math.max(...entries.map(({ id }) => timeOf(id))));
    } catch (error) {
      logFailure("A flush of the log", error);
      await env.ACTIVITY.send(message);
    }
  } catch (error) {
    logFailure("The log", error);
  }
}

/** Seals entries as the data of a flush. */
export async function sealBatch(keyring: Keyring, entries: readonly Activity[]): Promise<FlushMessage> {
  const [handOvers, rows] = await Promise.all([
    sealHandOvers(keyring, entries.filter(isCounted)),
    Promise.all(entries.filter((entry) => !isCounted(entry)).map((entry) => sealActivity({ keyring }, entry))),
  ]);
  return { handOvers, rows };
}

/**
 * The consumer of the queue. Acknowledges each message that it has stored. So the queue delivers only the remaining messages again,
 * `max_retries` times. Throws if storage failed for a message, if no flush has made it, or if a setting is malformed. `now` is in Unix
 * milliseconds.
 */
export async function consumeMessages(env: Env, messages: readonly Message<FlushMessage>[], now: number): Promise<void> {
  const settings = must("parse the settings", parseSettings(env));
  const keyring = must("open the root keys", await openKeyring(env.ROOT_KEYS));
  const failures: unknown[] = [];
  for (const message of messages) {
    const stored = parseMessage(keyring, message.body).then((body) => storeMessage(env, settings, body, now));
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
 * Parses a message. Throws unless a flush has made it: otherwise a writer to the queue could write the log. An unknown root key may be known
 * to the isolate that gets the message again.
 */
async function parseMessage(keyring: Keyring, { handOvers, rows }: FlushMessage): Promise<FlushMessage> {
  const isMade = async (row: ActivityRow) => keyring.keys.has(row.root_key_id) && (await openActivity(keyring, row)).ok;
  if (!(await Promise.all(rows.map(isMade))).every(Boolean)) throw defect("a row that no flush has made");
  return { handOvers: await Promise.all(handOvers.map((handOver) => parseHandOver(keyring, handOver))), rows };
}

/**
 * Stores what a flush has. Hand-overs that come late go to the archive in R2 too. While the database is nearly full, reads and denials go
 * to the archive alone, so that writes have the rest of the space. Messages that the queue delivers again are stored again: pages and
 * exports show each entry once. Throws when storage fails.
 */
async function storeMessage(env: Env, settings: Settings, { handOvers, rows }: FlushMessage, now: number): Promise<void> {
  const [db, files] = [env.DB, filesOf(env)];
  const level = await confirmLevel({ db, settings }, "archive");
  // While D1 does not answer, the last known size counts.
  if (!level.ok) logRefusal(level);
  const isNearlyFull = !level.ok || level.value;
  const inserted = isNearlyFull ? [] : handOvers;
  const fullLogs = rows.length + inserted.length > 0 ? await insert(db, inserted, rows, settings.activityBytes) : [];
  const archived = isNearlyFull ? handOvers : handOvers.filter(({ first }) => isLate(first, now));
  await Promise.all(archived.map(({ log, first: id, line: lines }) => archiveLate(files, { log, id, lines })));
  for (const { log, bytes } of fullLogs) {
    await dropOldest(db, files, log, bytes - settings.activityBytes).catch((error: unknown) =>
      logFailure("What a log drops", error),
    );
  }
}

const HAND_OVERS = `
  SELECT value ->> 'log' AS log, value ->> 'first' AS first, value ->> 'day' AS day, value ->> 'entries' AS entries, value ->> 'line' AS line FROM json_each(?1)`;

/**
 * True if a hand-over has a log: the admin's log, or the log of a vault or token that exists or existed when the hand-over began. So
 * entries from before the end of a vault or token are not lost, even if their flush or message comes later.
 */
const HAS_LOG = `(
  ${logOf("handed.log")} = '${NOWHERE}' OR EXISTS (SELECT 1 FROM vaults WHERE id = handed.log)
  OR EXISTS (SELECT 1 FROM tokens WHERE id = handed.log)
  OR EXISTS (SELECT 1 FROM activity WHERE vault_id = handed.log AND id > handed.first AND NOT (${LEAVES}))
  OR EXISTS (
    SELECT 1 FROM ended_tokens WHERE id = handed.log
      AND printf('%08x-%04x', ended_at >> 16, ended_at & 65535) >= substr(handed.first, 1, 13)))`;

/** SQL: the key of the first cell of a hand-over that has room, or of a separate segment. */
const KEY = `CASE ${CELLS.map((digits) => {
  const cell = `substr(handed.first, 1, ${digits})`;
  const bytes = `(SELECT octet_length(lines) FROM log_segments WHERE vault_id = handed.log AND id = ${cell})`;
  return `WHEN ${cell} > handed.day AND coalesce(${bytes}, 0) + octet_length(line) < ${SEGMENT_BYTES_MAX[digits]} THEN ${cell}`;
}).join(" ")} ELSE first END`;

const SQL = {
  append: `
    INSERT ${into("log_segments")} SELECT handed.log, ${KEY}, handed.entries, line FROM (${HAND_OVERS}) AS handed WHERE ${HAS_LOG}
    ON CONFLICT (vault_id, id) DO UPDATE SET entries = entries + excluded.entries, lines = lines || char(10) || excluded.lines`,
  /** The queue may deliver a row twice. The row of a token is in the batch that issues or revokes it. */
  rows: `
    INSERT INTO activity (${ACTIVITY.columns}) SELECT value ->> 'log', ${ACTIVITY.values} FROM json_each(?1) WHERE true
    ON CONFLICT (vault_id, id) DO NOTHING`,
  /**
   * The logs of a family of tokens count together, under the token at its top. Only the log that has grown drops entries. A rule is the top of its own
   * family (`rootOf`).
   */
  full: `
    SELECT log, (
      SELECT sum(octet_length(lines)) FROM log_segments
      WHERE vault_id IN (
        SELECT counted.log UNION SELECT root UNION SELECT id FROM tokens WHERE ancestor_1 = root AND kind IS NOT 'rule')) AS bytes
    FROM (
      SELECT value AS log, coalesce((SELECT ancestor_1 FROM tokens WHERE id = value AND kind IS NOT 'rule'), value) AS root
      FROM json_each(?1)) AS counted
    WHERE bytes > ?2`,
};

interface FullLog {
  readonly log: string;
  /** The bytes of all logs of its family. */
  readonly bytes: number;
}

/** Inserts hand-overs and rows. Returns the logs above the maximum size in bytes. Throws if D1 fails. */
async function insert(
  db: D1Database,
  handOvers: readonly HandOver[],
  rows: readonly ActivityRow[],
  bytesMax: number,
): Promise<readonly FullLog[]> {
  // A log may have two hand-overs, at the end of a cell.
  const chosen = handOvers.filter(({ first }) => parseInt(first.slice(-2), 16) % COUNTED_EVERY === 0);
  const counted = [...new Set(chosen.map(({ log }) => log))];
  const answer = await runBatch<[FullLog, ...never[]]>(
    db,
    ...([
      ...(handOvers.length > 0 ? [db.prepare(SQL.append).bind(JSON.stringify(handOvers))] : []),
      ...(rows.length > 0 ? [db.prepare(SQL.rows).bind(JSON.stringify(rows))] : []),
      ...(counted.length > 0 ? [db.prepare(SQL.full).bind(JSON.stringify(counted), bytesMax)] : []),
    ] as unknown as [D1PreparedStatement]),
  );
  const results = must("insert entries of the log", answer);
  return counted.length > 0 ? (results.at(-1) as unknown as FullLog[]) : [];
}
