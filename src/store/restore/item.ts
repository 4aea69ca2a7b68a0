import type { Manifest, PartRef } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Item } from "../../model/item.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { type BackupStore, loadPart } from "../backup/load.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type FileRow, FILES_OF_ITEM } from "../items/files.ts";
import { type ItemRow, openItem } from "../items/items.ts";
import { KEY_COLUMNS, type KeyRow, openKeys, type VaultRow } from "../vaults/rows.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { openPartFiles, type PartFile, rowsOf } from "./files.ts";

/** One Item, in a backup and in the database. */

export interface BackedUpItem {
  /** The current version, or the last version of an Item that is deleted in the backup. */
  readonly item: Item;
  readonly files: readonly PartFile[];
  /** The broken Files of the Item. They are not restored. */
  readonly findings: readonly Finding[];
}

type Version = Omit<ItemRow, "id"> & { readonly item_id: string };
type Deleted = { readonly id: string; readonly version: number };

/** Returns the parts with the rows of an Item, if the backup has it: the parts whose lowest Item is the highest one not above it. */
function partsOfItem({ parts }: Manifest, id: string): readonly PartRef[] {
  const first = parts.findLast(({ item }) => item !== undefined && item <= id)?.item;
  return first === undefined ? [] : parts.filter(({ item }) => item === first);
}

/**
 * Finds an Item in a backup. Reads the parts that may have the Item. `row` is the row of the vault in the backup. Fails with
 * `backup_not_found` if the backup does not have the Item, with `backup_damaged`, and with `unavailable`.
 */
export async function findItem(store: BackupStore, manifest: Manifest, row: VaultRow, id: string): Promise<Result<BackedUpItem>> {
  const items: ItemRow[] = [];
  const versions: Version[] = [];
  const deleted: Deleted[] = [];
  const files: FileRow[] = [];
  for (const ref of partsOfItem(manifest, id)) {
    const part = await loadPart(store.backups, manifest, ref);
    if (!part.ok) return part;
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
  const opened = await openPartFiles(keys.value, manifest.vault, files);
  const item = await openItem(keys.value, manifest.vault, found, []);
  if (!item.ok) return fail("backup_damaged", `item ${id} of snapshot ${manifest.number} does not open`);
  const closed = files.filter(({ id: one }) => !opened.some(({ file }) => file.id === one));
  const findings = closed.map(({ id: file }) =>
    findingOf(fault("row_unreadable", { vault: manifest.vault, item: id, file, table: "files" }, "the row does not open")),
  );
  const kept = opened.map(({ file: { key: _key, ...file } }) => file);
  return ok({ item: { ...item.value, files: kept }, files: opened, findings });
}

const SQL = {
  vault: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  item: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2",
  deleted: "SELECT 1 FROM deleted_items WHERE vault_id = ?1 AND id = ?2",
};

/** The state of an Item in the database. */
export interface CurrentItem {
  /** Absent when there is none, or it is deleted. */
  readonly item: Item | undefined;
  readonly deleted: boolean;
  /** True if the Item exists, and it or one of its Files is broken. */
  readonly broken: boolean;
}

/** Fails with 400 if there is no such vault, and with `misconfigured` or `unavailable`. */
export async function loadCurrentItem(store: Store, vault: string, id: string): Promise<Result<CurrentItem>> {
  const { db } = store;
  const read = await runBatch<[KeyRow, ItemRow, FileRow, unknown]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.item).bind(vault, id),
    db.prepare(FILES_OF_ITEM).bind(vault, id),
    db.prepare(SQL.deleted).bind(vault, id),
  );
  if (!read.ok) return read;
  const [[row], [found], files, deleted] = read.value;
  if (!row) return invalid("vault: does not exist, so no item of it can be restored: restore the vault");
  if (!found) return ok({ item: undefined, deleted: deleted.length > 0, broken: false });
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const item = await openItem(keys.value, vault, found, files);
  if (!item.ok && item.failure.kind !== "integrity") return item;
  return ok({ item: item.ok ? item.value : undefined, deleted: false, broken: !item.ok || item.value.brokenFiles !== undefined });
}
