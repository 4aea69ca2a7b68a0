import type { KeyedFile } from "../../model/file.ts";
import { isId } from "../../model/ids.ts";
import type { BrokenItem, Deletion, Item, OfVault, Summary } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { wrongNumbers } from "../tables/numbers.ts";
import { type Joined, loadFromVault, NOTHING, type VaultAccess } from "../vaults/authorized.ts";
import { type FileRow, openOnlyFile } from "./files.ts";
import { brokenItem, type ItemRow, openAnswered, openSummary } from "./items.ts";
import { fitting, largePage } from "./list.ts";
import { fileOfVersion, filesOfVersion } from "./versions.ts";

/** Loads deleted Items: the row in `deleted_items`, and the last version of the Item, which is in `item_versions`. */

export interface DeletedPage extends OfVault {
  /** In the order of their ids. */
  readonly items: readonly ((Summary | BrokenItem) & Deletion)[];
  /** The id after which the next page begins; absent when this is the last page. */
  readonly next: string | undefined;
}

/** The plaintext columns of the deletion. */
export interface DeletionColumns {
  readonly deleted_at: number;
  readonly deleted_by: string;
}

/** Returns SQL of the last versions of the deleted Items of the vault ?1. `also` is a further condition on `deleted`. */
const listed = (also: string): string => `
  (
    SELECT deleted.id, deleted.version, overview, deleted_at, deleted_by FROM deleted_items AS deleted
    JOIN item_versions AS last
    ON last.vault_id = deleted.vault_id AND last.item_id = deleted.id AND last.version = deleted.version
    WHERE deleted.vault_id = ?1 AND ${also})
  WHERE true`;

const pageOf = (also: string): string => largePage(listed(also), "id, version, overview, deleted_at, deleted_by");

const SQL = {
  page: pageOf("true"),
  /** Among the Items ?2. */
  pageAmong: pageOf("deleted.id IN (SELECT value FROM json_each(?2))"),
  /** The last version of the Item ?2. */
  version: "(SELECT version FROM deleted_items WHERE vault_id = ?1 AND id = ?2)",
};

const isDeletion = ({ deleted_at, deleted_by }: DeletionColumns): boolean =>
  isId(deleted_by) && wrongNumbers("deleted_items", { deleted_at }).length === 0;

const deletionOf = ({ deleted_at, deleted_by }: DeletionColumns): Deletion => ({ deletedAt: deleted_at, deletedBy: deleted_by });

/**
 * Returns a page of the deleted Items of a vault, in one D1 call. `after` is the id before the first Item ("" for the first
 * page). The page ends with the Item that exceeds 4 MiB sealed, or at the limit. Refusals are checked in this order:
 * `unauthorized` (revoked), `vault_not_found`.
 */
export async function loadDeletedItems(
  store: Store,
  access: VaultAccess,
  after: string,
  limit: number,
): Promise<Result<DeletedPage>> {
  const { vault, items: among } = access;
  const statement = store.db
    .prepare(among ? SQL.pageAmong : SQL.page)
    .bind(vault, among ? JSON.stringify([...among]) : "", after, limit);
  const read = await loadFromVault<unknown, [Omit<ItemRow, "details"> & DeletionColumns]>(store, access, NOTHING, statement);
  if (!read.ok) return read;
  const found = read.value.rows[0];
  const rows = found.slice(0, fitting(found, limit));
  const vaultName = await read.value.openName();
  const items: ((Summary | BrokenItem) & Deletion)[] = [];
  for (const row of rows) {
    const opened = isDeletion(row) ? await openSummary(read.value.keys, access.vault, row) : fail("integrity");
    items.push({ ...(opened.ok ? opened.value : brokenItem(access.vault, row)), ...deletionOf(row) });
  }
  return ok({ items, vaultName, next: rows.length < found.length ? rows.at(-1)!.id : undefined });
}

/** Joins a deleted Item, with columns of its row `deleted` and of its last version `last`. */
const joinedDeleted = (item: string, columns: string): Joined => ({
  columns,
  tables: `
    LEFT JOIN deleted_items AS deleted ON deleted.vault_id = vaults.id AND deleted.id = ?3
    LEFT JOIN item_versions AS last
    ON last.vault_id = deleted.vault_id AND last.item_id = deleted.id AND last.version = deleted.version`,
  values: [item],
});

/**
 * Returns one deleted Item with its Files, in one D1 call. Refusals are checked in this order: `unauthorized` (revoked),
 * `vault_not_found`, `item_not_found`, `integrity`.
 */
export async function loadDeletedItem(
  store: Store,
  access: VaultAccess,
  item: string,
): Promise<Result<Item & OfVault & Deletion>> {
  type Row = Omit<ItemRow, "id"> & DeletionColumns;
  const read = await loadFromVault<Row | { version: null }, [FileRow]>(
    store,
    access,
    joinedDeleted(item, "last.version, last.overview, last.details, deleted_at, deleted_by"),
    store.db.prepare(filesOfVersion(SQL.version)).bind(access.vault, item),
  );
  if (!read.ok) return read;
  const { joined, rows } = read.value;
  if (joined.version === null) return fail("item_not_found");
  if (!isDeletion(joined)) return fail("integrity");
  const opened = await openAnswered(read.value, access.vault, { ...joined, id: item }, rows[0]);
  return opened.ok ? ok({ ...opened.value, ...deletionOf(joined) }) : opened;
}

/**
 * Returns one File of a deleted Item, with its key, in one D1 call. Fails as `loadDeletedItem` does, and with `file_not_found`
 * before `integrity`.
 */
export async function loadDeletedFile(store: Store, access: VaultAccess, item: string, file: string): Promise<Result<KeyedFile>> {
  const rows = store.db.prepare(fileOfVersion(SQL.version)).bind(access.vault, item, "", file);
  const joined = joinedDeleted(item, "deleted.id AS item");
  const read = await loadFromVault<{ item: string | null }, [FileRow]>(store, access, joined, rows);
  if (!read.ok) return read;
  if (read.value.joined.item === null) return fail("item_not_found");
  return openOnlyFile(read.value.keys, access.vault, read.value.rows[0]);
}
