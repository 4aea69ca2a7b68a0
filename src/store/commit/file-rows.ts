import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { KeyedFile } from "../../model/file.ts";
import { sealFile } from "../items/files.ts";
import { assignments, insertRow, valuesOf } from "../tables/statements.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";

/**
 * The statements that change the rows of Files, in the order of the operations. A row that only earlier versions need moves to
 * `file_versions`. When a version is restored, it moves back. The sealed text does not change.
 */

export type FileChange =
  /** Writes the row of a new File, or the new content of a File. */
  | { readonly kind: "put"; readonly item: string; readonly file: KeyedFile; readonly since: number; readonly replaces: boolean }
  /** Copies rows for the versions before `until`. */
  | { readonly kind: "end"; readonly item: string; readonly ids: readonly string[]; readonly until: number }
  | { readonly kind: "remove"; readonly item: string; readonly ids: readonly string[] }
  /** Copies ended rows back, for the versions from `since` on. */
  | {
      readonly kind: "return";
      readonly item: string;
      readonly rows: readonly (readonly [id: string, until: number])[];
      readonly since: number;
    };

const IDS = "(SELECT value FROM json_each(?3))";

const FILE_COLUMNS = Object.keys(TABLES.files.columns) as (keyof RowOf<"files">)[];
const ENDED_COLUMNS = Object.keys(TABLES.file_versions.columns);
const KEY_LENGTH = TABLES.files.key.length;

const SQL = {
  insert: insertRow("files", FILE_COLUMNS),
  update: `UPDATE files SET ${assignments(FILE_COLUMNS.slice(KEY_LENGTH), 1 + KEY_LENGTH)} WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3`,
  // An existing row belongs to a version that was lost, as in `item_versions` (version-rows.ts), so it is replaced.
  end: `
    INSERT OR REPLACE INTO file_versions (${ENDED_COLUMNS.join(", ")})
    SELECT ${ENDED_COLUMNS.map((column) => (column === "until" ? "?4" : column)).join(", ")} FROM files
    WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  remove: `DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  return: `
    INSERT INTO files (${FILE_COLUMNS.join(", ")})
    SELECT ${FILE_COLUMNS.map((column) => (column === "since" ? "?4" : column)).join(", ")} FROM file_versions
    WHERE vault_id = ?1 AND item_id = ?2 AND (id, until) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))`,
};

export async function fileStatement(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  change: FileChange,
): Promise<D1PreparedStatement> {
  const { item } = change;
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(vault, item, ...values);
  if (change.kind === "put") {
    const { file, since, replaces } = change;
    const sealed = await sealFile(keys, vault, item, file);
    const row = { vault_id: vault, item_id: item, id: file.id, generation: file.generation, size: file.size, sealed, since };
    return db.prepare(replaces ? SQL.update : SQL.insert).bind(...valuesOf(row, FILE_COLUMNS));
  }
  if (change.kind === "end") return bind(SQL.end, JSON.stringify(change.ids), change.until);
  if (change.kind === "remove") return bind(SQL.remove, JSON.stringify(change.ids));
  return bind(SQL.return, JSON.stringify(change.rows), change.since);
}
