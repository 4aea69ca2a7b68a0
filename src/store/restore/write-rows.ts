import { fail, ok, type Result } from "../../model/result.ts";
import { VAULT_TABLES } from "../backup/tables.ts";
import type { RowGroup } from "./groups.ts";

/** The statements that write the rows of parts. */

/** What becomes of a row that is there already: an entry of the log stays, and is an event of the snapshot again. */
const CONFLICT: Readonly<Record<string, string>> = {
  activity: "ON CONFLICT (vault_id, id) DO UPDATE SET sequence = excluded.sequence, at = excluded.at",
};

const TABLES = new Map(VAULT_TABLES.map((table) => [table.table, table]));

/** The statements of a group of rows of a vault. Errors: `backup_damaged`, for a table or column that the schema does not have. */
export function rowStatements(db: D1Database, vault: string, group: RowGroup): Result<D1PreparedStatement[]> {
  if (group.kind === "replace") return ok(replaceStatements(db, vault, group.items));
  const table = TABLES.get(group.table);
  if (!table) return fail("backup_damaged", `the table ${group.table} is not known`);
  const known = new Set([...table.key, ...table.columns]);
  const unknown = group.columns.find((column) => !known.has(column));
  if (unknown !== undefined) return fail("backup_damaged", `the column ${unknown} of ${group.table} is not known`);
  const values = group.columns.map((_, index) => `value ->> ${index}`).join(", ");
  const conflict = CONFLICT[group.table];
  const sql = `
    INSERT ${conflict ? "" : "OR REPLACE"} INTO ${group.table} (vault_id, ${group.columns.join(", ")})
    SELECT ?1, ${values} FROM json_each(?2) WHERE true ${conflict ?? ""}`;
  return ok([db.prepare(sql).bind(vault, JSON.stringify(group.rows))]);
}

const replaceStatements = (db: D1Database, vault: string, items: readonly string[]): D1PreparedStatement[] =>
  VAULT_TABLES.flatMap(({ table, item }) => {
    if (item === undefined) return [];
    const sql = `DELETE FROM ${table} WHERE vault_id = ?1 AND ${item} IN (SELECT value FROM json_each(?2))`;
    return [db.prepare(sql).bind(vault, JSON.stringify(items))];
  });
