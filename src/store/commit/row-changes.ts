import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Item } from "../../model/item.ts";
import { type ItemRow, sealItem } from "../items/items.ts";
import type { VersionChange } from "./version-rows.ts";

/** The statements that change the rows of Items. Only commit.ts runs them, behind the fence. */

export interface ItemChange extends VersionChange {
  /** The Item before; absent when it did not exist, or did not open. */
  readonly before: Item | undefined;
  /** The Item after; absent when it is deleted. */
  readonly after: Item | undefined;
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
};

/** The statements that write a row, and the row that they write. */
interface RowChange {
  readonly statements: readonly D1PreparedStatement[];
  /** Absent when the Item is deleted, or only its earlier versions change. */
  readonly row: ItemRow | undefined;
}

/** Writes the row of an Item, or deletes it. */
export async function changeItem(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  { id, before, after, stored }: ItemChange,
): Promise<RowChange> {
  const inVault = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(vault, id, ...values);
  const existed = stored.before?.current !== undefined;
  if (!stored.after?.current) return { statements: existed ? [inVault(SQL.deleteItem)] : [], row: undefined };
  if (!after || after === before) return { statements: [], row: undefined };
  const { title_index, folded_index, ...row } = await sealItem(keys, after);
  const sealed = [row.version, row.overview, row.details];
  if (!existed) return { statements: [inVault(SQL.insertItem, ...sealed, title_index, folded_index)], row };
  if (before?.title === after.title) return { statements: [inVault(SQL.updateItem, ...sealed)], row };
  return { statements: [inVault(SQL.renameItem, ...sealed, title_index, folded_index)], row };
}
