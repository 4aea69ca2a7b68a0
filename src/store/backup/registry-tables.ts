import type { Cell, TableRows } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";

/** The tables of the registry's snapshot: what belongs to no vault. Tokens are only names there: what authenticates them is left out. */

interface RegistryTable {
  readonly table: string;
  readonly key: readonly string[];
  /** The other columns. */
  readonly columns: readonly string[];
  /** FROM, with the first condition of WHERE. ?1 is the first column of the key. */
  readonly source: string;
}

const TOKEN = ["root_key_id", "sealed", "created_at", "expires_at", "signed_by"];

/**
 * The logs of the admin, of tokens and of deleted vaults. They are found log by log, because the key begins with the log: else SQLite
 * would read every row. The order is that of the key: the list of logs has it, and so has each log.
 */
const LOGS = `(
    WITH RECURSIVE logs (log) AS (
      SELECT min(vault_id) FROM activity WHERE vault_id >= ?1
      UNION ALL SELECT (SELECT min(vault_id) FROM activity WHERE vault_id > log) FROM logs WHERE log IS NOT NULL)
    SELECT log FROM logs WHERE NOT EXISTS (SELECT 1 FROM vaults WHERE id = log))
  CROSS JOIN activity ON vault_id = log WHERE true`;

export const REGISTRY_TABLES: readonly RegistryTable[] = [
  { table: "root_keys", key: ["id"], columns: ["proof", "fingerprint"], source: "root_keys WHERE true" },
  { table: "tokens", key: ["id"], columns: TOKEN, source: "tokens WHERE true" },
  { table: "ended_tokens", key: ["id"], columns: [...TOKEN, "ended_at"], source: "ended_tokens WHERE true" },
  { table: "past_writes", key: ["action"], columns: ["writes"], source: "past_writes WHERE true" },
  {
    table: "activity",
    key: ["vault_id", "id"],
    columns: ["action", "result", "actor", "item_id", "version", "root_key_id", "sealed", "resource", "sequence", "at", "event"],
    source: LOGS,
  },
];

/** Rows of a slice. None is larger than about 8 KiB. */
const ROWS = 1_000;

const SQL = REGISTRY_TABLES.map(({ key, columns, source, table }) => {
  const after = key.map((_, index) => `?${index + 1}`).join(", ");
  const order = table === "activity" ? "" : `ORDER BY ${key.join(", ")}`;
  return `SELECT ${[...key, ...columns].join(", ")} FROM ${source} AND (${key.join(", ")}) > (${after}) ${order} LIMIT ${ROWS}`;
});

/** Where the reading of the registry is: a table, and the key of the last row that was read. */
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
  const { table: name, key: keys, columns: others } = REGISTRY_TABLES[table]!;
  const columns = [...keys, ...others];
  const read = await runBatch<[Record<string, Cell>]>(
    db,
    db.prepare(SQL[table]!).bind(...keys.map((_, index) => key[index] ?? "")),
  );
  if (!read.ok) return read;
  const rows = read.value[0].map((row) => columns.map((column) => row[column]!));
  const following = table + 1 < REGISTRY_TABLES.length ? { table: table + 1, key: [] } : undefined;
  const next = rows.length < ROWS ? following : { table, key: rows.at(-1)!.slice(0, keys.length) };
  return ok({ rows: { table: name, columns, rows }, next });
}
