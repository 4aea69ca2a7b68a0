import { fail, ok, type Result } from "../../model/result.ts";
import type { RowGroup } from "./groups.ts";

/** The statements that write the rows of the registry. Nothing that is there is replaced. */

interface RegistryTable {
  readonly into: string;
  readonly columns: readonly string[];
  /** Columns that the backup does not have, with the SQL of their values. ?2: the time of the restore. */
  readonly added?: Readonly<Record<string, string>>;
}

const TOKEN = ["id", "root_key_id", "sealed", "created_at", "expires_at", "signed_by"];
const ENTRY = [
  "vault_id",
  "id",
  "action",
  "result",
  "actor",
  "item_id",
  "version",
  "root_key_id",
  "sealed",
  "resource",
  "sequence",
  "at",
  "event",
];

/** By the name of the table in the backup. A token comes back as one that has ended: its name stays, and it opens nothing. */
const TABLES: Readonly<Record<string, RegistryTable>> = {
  root_keys: { into: "root_keys", columns: ["id", "proof", "fingerprint"] },
  tokens: { into: "ended_tokens", columns: TOKEN, added: { ended_at: "min(value ->> 'expires_at', ?2)" } },
  ended_tokens: { into: "ended_tokens", columns: [...TOKEN, "ended_at"] },
  past_writes: { into: "past_writes", columns: ["action", "writes"] },
  activity: { into: "activity", columns: ENTRY },
};

/** In: Unix milliseconds. Errors: `backup_damaged`, for a table that the registry of no release has. */
export function registryStatements(db: D1Database, group: RowGroup, now: number): Result<D1PreparedStatement[]> {
  if (group.kind === "replace") return ok([]);
  const table = Object.hasOwn(TABLES, group.table) ? TABLES[group.table]! : undefined;
  if (!table) return fail("backup_damaged", `the table ${group.table} is not known`);
  const { into, columns, added = {} } = table;
  const rows = group.rows.map((row) => Object.fromEntries(group.columns.map((column, index) => [column, row[index]])));
  const names = [...columns, ...Object.keys(added)].join(", ");
  const values = [...columns.map((column) => `value ->> '${column}'`), ...Object.values(added)].join(", ");
  const sql = `INSERT INTO ${into} (${names}) SELECT ${values} FROM json_each(?1) WHERE ?2 > 0 ON CONFLICT DO NOTHING`;
  return ok([db.prepare(sql).bind(JSON.stringify(rows), now)]);
}
