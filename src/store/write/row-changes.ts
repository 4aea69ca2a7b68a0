import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { File, KeyedFile } from "../../model/file.ts";
import type { Item } from "../../model/item.ts";
import { sealFile } from "../files.ts";
import { type ItemRow, sealItem } from "../items.ts";

/** The statements that change the rows of Items and Files. Only commit.ts runs them, behind the fence. */

export interface ItemChange {
  readonly id: string;
  /** Whether it has a row. */
  readonly existed: boolean;
  /** The Item before; absent when it did not exist, or did not open. */
  readonly before: Item | undefined;
  /** The Item after; absent when it is deleted. */
  readonly after: Item | undefined;
}

/** The change of one row of a File. */
export interface FileChange {
  readonly item: string;
  readonly id: string;
  /** The File before; absent when it is new. */
  readonly before: File | undefined;
  /** The File after; absent when it is deleted. */
  readonly after: KeyedFile | undefined;
}

const SQL = {
  insertItem: `
    INSERT INTO items (vault_id, id, version, overview, details, title_index, folded_index) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
  updateItem: "UPDATE items SET version = ?3, overview = ?4, details = ?5 WHERE vault_id = ?1 AND id = ?2",
  // A statement of its own, because SET of an indexed column writes the index even when the value stays the same.
  renameItem: `
    UPDATE items SET version = ?3, overview = ?4, details = ?5, title_index = ?6, folded_index = ?7
    WHERE vault_id = ?1 AND id = ?2`,
  deleteItem: "DELETE FROM items WHERE vault_id = ?1 AND id = ?2",
  deleteFiles: "DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2",
  insertFile: "INSERT INTO files (vault_id, item_id, id, generation, size, sealed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
  updateFile: "UPDATE files SET generation = ?4, size = ?5, sealed = ?6 WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3",
  deleteFile: "DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3",
};

/** The statements that write a row, and the row that they write. */
interface RowChange {
  readonly statements: readonly D1PreparedStatement[];
  /** Absent when the row is deleted. */
  readonly row: ItemRow | undefined;
}

/** Writes an Item, or deletes it with its Files. */
export async function changeItem(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  { id, existed, before, after }: ItemChange,
): Promise<RowChange> {
  const inVault = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(vault, id, ...values);
  if (!after) return { statements: [inVault(SQL.deleteItem), inVault(SQL.deleteFiles)], row: undefined };
  const { title_index, folded_index, ...row } = await sealItem(keys, after);
  const sealed = [row.version, row.overview, row.details];
  if (!existed) return { statements: [inVault(SQL.insertItem, ...sealed, title_index, folded_index)], row };
  if (before?.title === after.title) return { statements: [inVault(SQL.updateItem, ...sealed)], row };
  return { statements: [inVault(SQL.renameItem, ...sealed, title_index, folded_index)], row };
}

/** Writes the row of a File, or deletes it. */
export async function fileStatement(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  { item, id, before, after }: FileChange,
): Promise<D1PreparedStatement> {
  if (!after) return db.prepare(SQL.deleteFile).bind(vault, item, id);
  const sql = before ? SQL.updateFile : SQL.insertFile;
  return db.prepare(sql).bind(vault, item, id, after.generation, after.size, await sealFile(keys, vault, item, after));
}
