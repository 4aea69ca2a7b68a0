import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { KeyedFile } from "../../model/file.ts";
import { sealFile } from "../items/files.ts";

/**
 * The statements that change the rows of Files, in the order of the operations. A row that only earlier versions need moves
 * to `file_versions`, and back when a version is restored, sealed as it is.
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

const SQL = {
  insert: "INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
  update: "UPDATE files SET generation = ?4, size = ?5, sealed = ?6, since = ?7 WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3",
  // A row that is in the way is of a version that was lost, as in `item_versions` (version-rows.ts): it is replaced.
  end: `
    INSERT OR REPLACE INTO file_versions (vault_id, item_id, id, until, since, generation, size, sealed)
    SELECT vault_id, item_id, id, ?4, since, generation, size, sealed FROM files
    WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  remove: `DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  return: `
    INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since)
    SELECT vault_id, item_id, id, generation, size, sealed, ?4 FROM file_versions
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
    return bind(replaces ? SQL.update : SQL.insert, file.id, file.generation, file.size, sealed, since);
  }
  if (change.kind === "end") return bind(SQL.end, JSON.stringify(change.ids), change.until);
  if (change.kind === "remove") return bind(SQL.remove, JSON.stringify(change.ids));
  return bind(SQL.return, JSON.stringify(change.rows), change.since);
}
