import type { Cell } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { isAfterKey } from "../tables/slices.ts";
import { backedUpColumns, backedUpIn, type NamedTable } from "../tables/tables.ts";
import { LEAVES_NAME } from "../tokens/ended-tokens.ts";
import { areOfOneDay, type Unit } from "./cut.ts";

/** Reads the rows of the registry: the rows outside vaults. */

/**
 * SQL: the entries of the logs of the admin, of tokens and of deleted vaults. The query goes from log to log, because the key begins
 * with the log; otherwise SQLite would read every row. The result is in the order of the key without a sort, because the list of logs and
 * each log are in that order. By a range of ids, because SQLite reads a log from its beginning for a comparison of whole keys.
 */
const IN_OTHER_LOGS = `(
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM activity WHERE vault_id >= ?1
      UNION ALL SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT log FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = log))
  CROSS JOIN activity ON vault_id = log AND id >= iif(log = ?1, ?2, '') WHERE true`;

const REGISTRY_TABLES = backedUpIn("registry");

/** A row has up to about 8 KiB. */
const SLICE_ROWS_MAX = 1_000;

/** For some tables: FROM and WHERE, whether ORDER BY is needed, and the maximum rows of a slice. */
const SOURCES: Readonly<Record<string, readonly [source: string, order: boolean, rows: number]>> = {
  activity: [IN_OTHER_LOGS, false, SLICE_ROWS_MAX],
  // A restore ends tokens, and tokens of workloads leave no name.
  tokens: [`tokens WHERE ${LEAVES_NAME}`, true, SLICE_ROWS_MAX],
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

export interface RegistryRow extends Unit {
  readonly key: readonly Cell[];
  readonly cells: readonly Cell[];
}

export interface RegistrySlice {
  readonly table: NamedTable;
  readonly columns: readonly string[];
  readonly rows: readonly RegistryRow[];
  /** True if the table has no further rows. */
  readonly isEnd: boolean;
}

/** Reads a slice of one table. Returns undefined after the last table. Fails with `unavailable`. */
export async function readRegistry(db: D1Database, { table: index, key }: Position): Promise<Result<RegistrySlice | undefined>> {
  const table = REGISTRY_TABLES[index];
  if (!table) return ok(undefined);
  const columns = backedUpColumns(table);
  const read = await runBatch<[Record<string, Cell>]>(
    db,
    db.prepare(SQL[index]!).bind(...table.key.map((_, column) => key[column] ?? "")),
  );
  if (!read.ok) return read;
  const rows = read.value[0].map((row): RegistryRow => {
    const cells = columns.map((column) => row[column]!);
    return {
      id: String(row["id"]),
      key: table.key.map((column) => row[column]!),
      cells,
      characters: JSON.stringify(cells).length + 1,
    };
  });
  return ok({ table, columns, rows, isEnd: rows.length < sourceOf(table.name)[2] });
}

/** Returns true if two rows of a table may be in one part. Entries of a log must be of one log and day. */
export const areOfOnePart =
  ({ owner }: NamedTable) =>
  (a: RegistryRow, b: RegistryRow): boolean =>
    owner === undefined || !("log" in owner) || (a.key[0] === b.key[0] && areOfOneDay(a, b));
