import { sealedLength } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import type { File, KeyedFile } from "../../model/file.ts";
import type { FilesOfItem } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { columnsInVault } from "../tables/slices.ts";
import { type RowInVault, TABLES } from "../tables/tables.ts";
import { joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";

/** The rows of Files: name, size and the key of the content. The contents are in contents/. */

export type FileRow = RowInVault<"files">;

export const FILE_COLUMNS = columnsInVault(TABLES.files).join(", ");

const { associatedData } = TABLES.files;

type Sealed = Pick<KeyedFile, "name" | "section" | "key" | "generation" | "size"> & { item: string };

/**
 * Seals the name, the section and the key of a File, with the plaintext columns of its row. A row with changed columns cannot be decrypted.
 */
export function sealFile(keys: VaultKeys, vault: string, item: string, file: KeyedFile): Promise<string> {
  return sealText(keys, associatedData.sealed(vault, file), textOf(item, file));
}

const textOf = (item: string, { name, section, key, generation, size }: Omit<KeyedFile, "id">): string =>
  JSON.stringify({ name, section, key, generation, size, item } satisfies Sealed);

/** 32 bytes in base64, as every key of a content. */
const ANY_KEY = "A".repeat(44);

/** Returns the bytes of the sealed text of a File, computed without its key. Returns 0 without a File. */
export const sealedFileSize = (item: string, file: File | undefined): number =>
  file ? sealedLength(textOf(item, { ...file, key: ANY_KEY })) : 0;

/** Decrypts a row. Fails with `integrity`. */
export async function openFile(keys: VaultKeys, vault: string, row: FileRow): Promise<Result<KeyedFile>> {
  const text = await openText(keys, associatedData.sealed(vault, row), row.sealed);
  if (!text.ok) return text;
  const { item, ...file } = JSON.parse(text.value) as Sealed;
  const same = item === row.item_id && file.generation === row.generation && file.size === row.size;
  return same ? ok({ ...file, id: row.id }) : fail("integrity");
}

/** Decrypts the only row of a query. Fails with `file_not_found` if there is none, and with `integrity`. */
export const openOnlyFile = async (keys: VaultKeys, vault: string, [row]: readonly FileRow[]): Promise<Result<KeyedFile>> =>
  row ? openFile(keys, vault, row) : fail("file_not_found");

/** The Files of an Item with the keys of their contents, in the order of the rows. */
export interface KeyedFiles extends FilesOfItem {
  readonly files: readonly KeyedFile[];
}

/** Decrypts the rows of an Item. A damaged row does not affect the other rows. */
export async function openFiles(keys: VaultKeys, vault: string, rows: readonly FileRow[]): Promise<KeyedFiles> {
  const files: KeyedFile[] = [];
  const brokenFiles: string[] = [];
  for (const row of rows) {
    const file = await openFile(keys, vault, row);
    if (file.ok) files.push(file.value);
    else brokenFiles.push(row.id);
  }
  return brokenFiles.length > 0 ? { files, brokenFiles } : { files };
}

/** Returns the Files of an Item without the keys of their contents. */
export const withoutKeys = ({ files, ...broken }: KeyedFiles): FilesOfItem => ({
  files: files.map(({ key: _key, ...file }) => file),
  ...broken,
});

const FILE = `SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3`;
export const FILES_OF_ITEM = `SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 ORDER BY id`;

/**
 * Returns the Files of an Item with their keys, in one D1 call. Refusals are checked in this order: `unauthorized` (revoked),
 * `vault_not_found`, `item_not_found`.
 */
export async function loadFiles(store: Store, access: VaultAccess, item: string): Promise<Result<KeyedFiles>> {
  const read = await loadFileRows(store, access, item, store.db.prepare(FILES_OF_ITEM).bind(access.vault, item));
  return read.ok ? ok(await openFiles(read.value.keys, access.vault, read.value.rows)) : read;
}

/** Returns one File of an Item. Fails as `loadFiles` does, then with `file_not_found` or `integrity`. */
export async function loadFile(store: Store, access: VaultAccess, item: string, file: string): Promise<Result<KeyedFile>> {
  const read = await loadFileRows(store, access, item, store.db.prepare(FILE).bind(access.vault, item, file));
  return read.ok ? openOnlyFile(read.value.keys, access.vault, read.value.rows) : read;
}

async function loadFileRows(
  store: Store,
  access: VaultAccess,
  item: string,
  statement: D1PreparedStatement,
): Promise<Result<{ readonly keys: VaultKeys; readonly rows: readonly FileRow[] }>> {
  const read = await loadFromVault<{ item: string | null }, [FileRow]>(
    store,
    access,
    joinedItem(item, "items.id AS item"),
    statement,
  );
  if (!read.ok) return read;
  const { keys, joined, rows } = read.value;
  return joined.item === null ? fail("item_not_found") : ok({ keys, rows: rows[0] });
}
