import type { Cell, TableRows } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { isAfterKey } from "../tables/slices.ts";
import { backedUpColumns, backedUpIn } from "../tables/tables.ts";

/** Reads the rows of the registry: those that belong to no vault. */

/**
 * SQL: what the logs of the admin, of tokens and of deleted vaults have in a table. The query goes from log to log, because the key begins
 * with the log; otherwise SQLite would read every row. The result is in the order of the key without a sort, because the list of logs and
 * each log are in that order. By a range of ids, because SQLite reads a log from its beginning for a comparison of whole keys.
 */
const inOtherLogs = (table: "activity" | "log_segments"): string => `(
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM ${table} WHERE vault_id >= ?1
      UNION ALL SELECT (SELECT min(vault_id) FROM ${table} WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT log FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = log))
  CROSS JOIN ${table} ON vault_id = log AND id >= iif(log = ?1, ?2, '') WHERE true`;

const REGISTRY_TABLES = backedUpIn("registry");

/** The most rows of a slice. A row has up to about 8 KiB. */
const SLICE_ROWS_MAX = 1_000;
/** The most segments of the log in a slice. A segment has up to about 80 KiB. */
const SLICE_SEGMENTS_MAX = 50;

/** For some tables: FROM and WHERE, whether ORDER BY is needed, and the most rows of a slice. */
const SOURCES: Readonly<Record<string, readonly [source: string, order: boolean, rows: number]>> = {
  activity: [inOtherLogs("activity"), false, SLICE_ROWS_MAX],
  log_segments: [inOtherLogs("log_segments"), false, SLICE_SEGMENTS_MAX],
};

const sourceOf = (name: string) => SOURCES[name] ?? ([`${name} WHERE true`, true, SLICE_ROWS_MAX] as const);

const SQL = REGISTRY_TABLES.map((table) => {
  const { key, name } = table;
  const [source, ordered, rows] = sourceOf(name);
  const order = ordered ? `ORDER BY ${key.join(", ")}` : "";
  return `SELECT ${backedUpColumns(table).join(", ")} FROM ${source} AND ${isAfterKey(key, 1)} ${order} LIMIT ${rows}`;
});

/** A position in the registry: the index of a table, and the key of the last row that was read. */
export interface Position {
  readonly table: number;
  readonly key: readonly Cell[];
}

export const FIRST_POSITION: Position = { table: 0, key: [] };

/** Reads a slice of one table. Out: the rows, and the next position; `undefined` after the last one. Errors: `unavailable`. */
export async function readRegistry(
  db: D1Database,
  { table, key }: Position,
): Promise<Result<{ readonly rows: TableRows; readonly next: Position | undefined }>> {
  const { name, key: keys } = REGISTRY_TABLES[table]!;
  const columns = backedUpColumns(REGISTRY_TABLES[table]!);
  const read = await runBatch<[Record<string, Cell>]>(
    db,
    db.prepare(SQL[table]!).bind(...keys.map((_, index) => key[index] ?? "")),
  );
  if (!read.ok) return read;
  const rows = read.value[0].map((row) => columns.map((column) => row[column]!));
  const following = table + 1 < REGISTRY_TABLES.length ? { table: table + 1, key: [] } : undefined;
  const next = rows.length < sourceOf(name)[2] ? following : { table, key: rows.at(-1)!.slice(0, keys.length) };
  return ok({ rows: { table: name, columns, rows }, next });
}
