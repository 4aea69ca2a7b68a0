import { ok, type Result } from "../../model/result.ts";
import type { ActivityRow } from "../activity/entry-rows.ts";
import { checkOrigins, checkSegment, type SegmentRow } from "../checks/log-entries.ts";
import { runBatch } from "../d1/database.ts";
import { openRecord, type RecordRow } from "../commit/idempotency.ts";
import { checkNamedItems, lostVersions, type NamedItem, namedItems } from "./lost-items.ts";
import { fault } from "../checks/fault.ts";
import { DONE, keyAfter, type Position, type Slice, type VerifyPorts } from "./stage.ts";
import { loadMoment } from "./vault-keys.ts";

/** The stages `records` and `log` of a vault, and `logs`: the logs of the admin, of tokens and of deleted vaults. */

/** The most rows of a slice. */
const SLICE_ROWS_MAX = 1_000;

const ENTRY = `
  vault_id AS log, id, action, result, actor, item_id AS item, version, root_key_id, sealed, resource, sequence, at, event`;

const NEXT = `
  WITH RECURSIVE others (log) AS (
    SELECT min(vault_id) FROM activity WHERE vault_id > ?1
    UNION ALL
    SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM others
    WHERE log IS NOT NULL AND EXISTS (SELECT 1 FROM vaults WHERE id = log))
  SELECT log FROM others WHERE log IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vaults WHERE id = log)`;

/** The columns of the writes of a slice that are checked. */
const SLICE = `SELECT id, item_id, version, sequence, event FROM activity WHERE vault_id = ?1 AND id >= ?2 ORDER BY id LIMIT ${SLICE_ROWS_MAX}`;

const SQL = {
  records: `SELECT key, id, sealed FROM replays WHERE vault_id = ?1 AND key >= ?2 ORDER BY key LIMIT ${SLICE_ROWS_MAX}`,
  log: `SELECT ${ENTRY} FROM activity WHERE vault_id = ?1 AND id >= ?2 ORDER BY id LIMIT ${SLICE_ROWS_MAX}`,
  items: namedItems(SLICE),
  versions: lostVersions(SLICE),
  next: `SELECT ${ENTRY} FROM activity WHERE vault_id = (${NEXT}) ORDER BY id LIMIT ${SLICE_ROWS_MAX}`,
};

interface LostVersion {
  readonly item: string;
  readonly version: number;
}

/** Idempotency records. */
export async function checkRecords(ports: VerifyPorts, { vault, after: [after = ""] }: Position): Promise<Result<Slice>> {
  const moment = await loadMoment<[RecordRow]>(ports, vault, ports.store.db.prepare(SQL.records).bind(vault, after));
  if (!moment.ok) return moment;
  if (!moment.value) return ok(DONE);
  const { keys, rows } = moment.value;
  const opened = await Promise.all(rows[0].map(async (row) => ({ row, open: await openRecord(keys, vault, row) })));
  const faults = opened.flatMap(({ row, open }) =>
    open.ok ? [] : [fault("row_unreadable", { vault, table: "replays", id: row.id }, "the idempotency record does not open")],
  );
  const next = rows[0].length === SLICE_ROWS_MAX ? [keyAfter(rows[0].at(-1)!.key)] : undefined;
  return ok({ faults, checked: { rows: rows[0].length }, after: next });
}

/** The entries of the log of a vault. */
export async function checkVaultLog({ store }: VerifyPorts, { vault, after: [after = ""] }: Position): Promise<Result<Slice>> {
  const bind = (sql: string) => store.db.prepare(sql).bind(vault, after);
  const read = await runBatch<[ActivityRow, NamedItem, LostVersion]>(
    store.db,
    bind(SQL.log),
    bind(SQL.items),
    bind(SQL.versions),
  );
  if (!read.ok) return read;
  const [rows, items, versions] = read.value;
  const slice = await sliceOf(store, rows);
  const lost = versions.map((one) =>
    fault("item_lost", { vault, ...one, table: "item_versions" }, "the log has the version, and no row: only a backup has it"),
  );
  return ok({ ...slice, faults: [...slice.faults, ...checkNamedItems(vault, items), ...lost] });
}

async function checkEntries(store: VerifyPorts["store"], log: string, after: string): Promise<Result<Slice>> {
  const read = await runBatch<[ActivityRow]>(store.db, store.db.prepare(SQL.log).bind(log, after));
  if (!read.ok) return read;
  return ok(await sliceOf(store, read.value[0]));
}

async function sliceOf(store: VerifyPorts["store"], rows: readonly ActivityRow[]): Promise<Slice> {
  const faults = await checkOrigins(store, rows);
  return {
    faults,
    checked: { rows: rows.length },
    after: rows.length === SLICE_ROWS_MAX ? [keyAfter(rows.at(-1)!.id)] : undefined,
  };
}

/** The logs that are not of a vault, one after the other. */
export async function checkOtherLogs(ports: VerifyPorts, { after }: Position): Promise<Result<Slice>> {
  const { store } = ports;
  const [log = "", entry = ""] = after;
  if (entry !== "") return continueLog(store, String(log), String(entry));
  const read = await runBatch<[ActivityRow]>(store.db, store.db.prepare(SQL.next).bind(log));
  if (!read.ok) return read;
  const [rows] = read.value;
  if (rows.length === 0) return ok(DONE);
  const slice = await sliceOf(store, rows);
  return ok({ ...slice, after: [rows[0]!.log, ...(slice.after ?? [])] });
}

async function continueLog(store: VerifyPorts["store"], log: string, entry: string): Promise<Result<Slice>> {
  const slice = await checkEntries(store, log, entry);
  return slice.ok ? ok({ ...slice.value, after: [log, ...(slice.value.after ?? [])] }) : slice;
}

/** The most segments of a slice. */
const SLICE_SEGMENTS_MAX = 50;

const SEGMENT_COLUMNS = "vault_id AS log, id, last_id AS lastId, entries, lines";

/** By a range of ids, because SQLite reads a log from its beginning for a comparison of whole keys. */
const SEGMENT_SQL = {
  vault: `
    SELECT ${SEGMENT_COLUMNS} FROM log_segments
    WHERE vault_id = ?3 AND id >= ?2 AND (vault_id, id) > (?1, ?2) ORDER BY id LIMIT ${SLICE_SEGMENTS_MAX}`,
  /** From log to log, so that no segment of a vault is read. In the order of the key, as the list of logs and each log are. */
  others: `
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM log_segments WHERE vault_id >= ?1
      UNION ALL SELECT (SELECT min(vault_id) FROM log_segments WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT ${SEGMENT_COLUMNS} FROM (SELECT log AS other FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = log))
    CROSS JOIN log_segments ON vault_id = other AND id >= iif(other = ?1, ?2, '')
    WHERE (vault_id, id) > (?1, ?2) AND ?3 = '' LIMIT ${SLICE_SEGMENTS_MAX}`,
};

/** The segments of a vault. */
export const checkVaultSegments = (ports: VerifyPorts, position: Position): Promise<Result<Slice>> =>
  checkSegments(ports, position, SEGMENT_SQL.vault);

/** The segments of the logs that are not of a vault. */
export const checkOtherSegments = (ports: VerifyPorts, position: Position): Promise<Result<Slice>> =>
  checkSegments(ports, position, SEGMENT_SQL.others);

async function checkSegments(
  { store, acceptsLossOf }: VerifyPorts,
  { vault, after }: Position,
  sql: string,
): Promise<Result<Slice>> {
  const [log = "", id = ""] = after;
  const read = await runBatch<[SegmentRow]>(store.db, store.db.prepare(sql).bind(log, id, vault));
  if (!read.ok) return read;
  const [rows] = read.value;
  const faults = (await Promise.all(rows.map((row) => checkSegment(store, row, acceptsLossOf === vault)))).flat();
  const last = rows.at(-1);
  return ok({
    faults,
    checked: { rows: rows.length },
    after: rows.length === SLICE_SEGMENTS_MAX ? [last!.log, last!.id] : undefined,
  });
}
