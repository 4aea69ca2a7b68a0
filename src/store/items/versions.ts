import type { KeyedFile } from "../../model/file.ts";
import type { Item, OfVault } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type Joined, joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import type { Store } from "../d1/database.ts";
import { type FileRow, openOnlyFile } from "./files.ts";
import { fileOfVersion, filesOfVersion } from "./file-versions.ts";
import { type ItemRow, openAnswered } from "./items.ts";

/**
 * Loads versions of Items: the current one from `items`, the earlier ones from `item_versions`, where they are sealed as they
 * were in `items`. Versions of an Item without a row in `items` are not served.
 */

const VERSION = `
    SELECT version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2 AND version = ?3
    UNION ALL SELECT version, overview, details FROM item_versions WHERE vault_id = ?1 AND item_id = ?2 AND version = ?3`;

/**
 * Returns one version of an Item, which may be the current one, with its Files, in one D1 call. Refusals are checked in this order:
 * `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `version_not_found`, `integrity`.
 */
export async function loadVersion(
  store: Store,
  access: VaultAccess,
  item: string,
  version: number,
): Promise<Result<Item & OfVault>> {
  const read = await loadFromVault<{ item: string | null }, [Omit<ItemRow, "id">, FileRow]>(
    store,
    access,
    joinedItem(item, "items.id AS item"),
    store.db.prepare(VERSION).bind(access.vault, item, version),
    store.db.prepare(filesOfVersion("?3")).bind(access.vault, item, version),
  );
  if (!read.ok) return read;
  const { joined, rows } = read.value;
  if (joined.item === null) return fail("item_not_found");
  const [row] = rows[0];
  return row ? openAnswered(read.value, access.vault, { ...row, id: item }, rows[1]) : fail("version_not_found");
}

interface Found {
  readonly item: string | null;
  readonly found: number | null;
}

/** Returns the join that checks if an Item has a version. */
const joinedVersion = (item: string, version: number): Joined => ({
  ...joinedItem(
    item,
    `items.id AS item, items.version = ?4 OR EXISTS (
      SELECT 1 FROM item_versions WHERE vault_id = ?2 AND item_id = ?3 AND item_versions.version = ?4) AS found`,
  ),
  values: [item, version],
});

/** Refuses a missing Item or version. The version is for the message: if the query names it, the path does not have it. */
const checkFound = ({ item, found }: Found, version: number): Result<undefined> => {
  if (item === null) return fail("item_not_found");
  return found === 1 ? ok(undefined) : fail("version_not_found", String(version));
};

/** Checks that a version exists, without decrypting it. Fails as `loadVersion` does. */
export async function requireVersion(
  store: Store,
  access: VaultAccess,
  item: string,
  version: number,
): Promise<Result<undefined>> {
  const read = await loadFromVault<Found, []>(store, access, joinedVersion(item, version));
  return read.ok ? checkFound(read.value.joined, version) : read;
}

/** Returns one File of a version, with its key, in one D1 call. Fails as `loadVersion` does, and with `file_not_found` before `integrity`. */
export async function loadFileOfVersion(
  store: Store,
  access: VaultAccess,
  item: string,
  version: number,
  file: string,
): Promise<Result<KeyedFile>> {
  const rows = store.db.prepare(fileOfVersion("?3")).bind(access.vault, item, version, file);
  const read = await loadFromVault<Found, [FileRow]>(store, access, joinedVersion(item, version), rows);
  if (!read.ok) return read;
  const checked = checkFound(read.value.joined, version);
  if (!checked.ok) return checked;
  return openOnlyFile(read.value.keys, access.vault, read.value.rows[0]);
}
