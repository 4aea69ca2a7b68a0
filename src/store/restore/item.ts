import type { Manifest } from "../../model/backup.ts";
import type { Item } from "../../model/item.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import type { BackupStore } from "../backup/ports.ts";
import { runBatch, type Store } from "../database.ts";
import { type FileRow, FILES_OF_ITEM } from "../files.ts";
import { type ItemRow, openItem } from "../items.ts";
import { KEY_COLUMNS, type KeyRow, openKeys, type VaultRow } from "../vault-rows.ts";
import { openPartFiles, type PartFile, rowsOf } from "./files.ts";

/** One Item: as a snapshot has it, and as the database has it. */

export interface SnapshotItem {
  /** Of an Item that is deleted in the snapshot the last version. */
  readonly item: Item;
  readonly files: readonly PartFile[];
}

type Version = Omit<ItemRow, "id"> & { readonly item_id: string };
type Deleted = { readonly id: string; readonly version: number };

/**
 * Finds an Item in a snapshot, whose parts are all read. In: the row of the vault in the snapshot. Errors: `backup_not_found`, when the
 * snapshot does not have the Item; `backup_damaged`, `unavailable`.
 */
export async function findItem(store: BackupStore, manifest: Manifest, row: VaultRow, id: string): Promise<Result<SnapshotItem>> {
  let items: ItemRow[] = [];
  let versions: Version[] = [];
  let deleted: Deleted[] = [];
  let files: FileRow[] = [];
  for (const ref of manifest.parts) {
    const part = await loadPart(store.backups, manifest, ref);
    if (!part.ok) return part;
    if (part.value.replaces.includes(id)) [items, versions, deleted, files] = [[], [], [], []];
    items.push(...rowsOf<ItemRow>(part.value, "items").filter((one) => one.id === id));
    versions.push(...rowsOf<Version>(part.value, "item_versions").filter((one) => one.item_id === id));
    deleted.push(...rowsOf<Deleted>(part.value, "deleted_items").filter((one) => one.id === id));
    files.push(...rowsOf<FileRow>(part.value, "files").filter((one) => one.item_id === id));
  }
  const last = versions.find(({ version }) => version === deleted[0]?.version);
  const found = items[0] ?? (last && { ...last, id });
  if (!found) return fail("backup_not_found");
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const [item, opened] = [
    await openItem(keys.value, manifest.vault, found, files),
    await openPartFiles(keys.value, manifest.vault, files),
  ];
  if (!item.ok || !opened.ok) return fail("backup_damaged", `item ${id} of snapshot ${manifest.number} does not open`);
  return ok({ item: item.value, files: opened.value });
}

const SQL = {
  vault: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  item: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2",
  deleted: "SELECT 1 FROM deleted_items WHERE vault_id = ?1 AND id = ?2",
};

/** What the database has of an Item. */
export interface CurrentItem {
  /** Absent when there is none, or it is deleted. */
  readonly item: Item | undefined;
  readonly deleted: boolean;
}

/** Errors: 400, when there is no such vault; `integrity`, `misconfigured`, `unavailable`. */
export async function loadCurrentItem(store: Store, vault: string, id: string): Promise<Result<CurrentItem>> {
  const { db } = store;
  const read = await runBatch<[KeyRow, ItemRow, FileRow, unknown]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    ...([SQL.item, FILES_OF_ITEM, SQL.deleted].map((sql) => db.prepare(sql).bind(vault, id)) as [
      D1PreparedStatement,
      D1PreparedStatement,
      D1PreparedStatement,
    ]),
  );
  if (!read.ok) return read;
  const [[row], [found], files, deleted] = read.value;
  if (!row) return invalid("vault: does not exist, so no item of it can be restored: restore the vault");
  if (!found) return ok({ item: undefined, deleted: deleted.length > 0 });
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const item = await openItem(keys.value, vault, found, files);
  return item.ok ? ok({ item: item.value, deleted: false }) : item;
}
