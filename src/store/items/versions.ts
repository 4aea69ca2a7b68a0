import type { KeyedFile } from "../../model/file.ts";
import type { Item, OfVault, BrokenItem, Summary } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { keysOfSlice } from "../tables/slices.ts";
import { type Joined, joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import { FILE_COLUMNS, type FileRow, openOnlyFile } from "./files.ts";
import { type ItemRow, openAnswered, brokenItem, openSummary } from "./items.ts";
import { SLICE_BYTES_MAX, OVERVIEW_BYTES } from "./list.ts";

/**
 * The Files of version n of an Item: the rows of `files` with since <= n, and the rows of `file_versions` with since <= n <
 * until. At any version a File has at most one row.
 */

/** A column of `file_versions`, the table being called `f`. */
const COLUMNS = FILE_COLUMNS.replaceAll(/\w+/g, "f.$&");

/** Returns the condition of a File's row with the first end after the version. Only that row can belong to the version. */
const ended = (version: string, file: string) => `
  f.vault_id = ?1 AND f.item_id = ?2 AND f.id = ${file} AND f.since <= ${version} AND f.until = (
    SELECT min(until) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2 AND id = ${file} AND until > ${version})`;

/**
 * Returns SQL of the rows of a version's Files. `version` is an expression for its number; ?1 and ?2 are the ids of vault and
 * Item. Ids of ended rows are visited one by one, because a File may have as many rows as the Item has versions.
 */
export const filesOfVersion = (version: string): string => `
  WITH RECURSIVE ended (id) AS (
    SELECT min(id) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2
    UNION ALL
    SELECT (SELECT min(id) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2 AND id > ended.id)
    FROM ended WHERE ended.id IS NOT NULL)
  SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 AND since <= ${version}
  UNION ALL
  SELECT ${COLUMNS} FROM ended CROSS JOIN file_versions AS f ON ${ended(version, "ended.id")}
  ORDER BY id`;

/** Returns SQL of the row of one File of a version, as `filesOfVersion` does. ?4 is the id of the File. */
export const fileOfVersion = (version: string): string => `
  SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id = ?4 AND since <= ${version}
  UNION ALL
  SELECT ${COLUMNS} FROM file_versions AS f WHERE ${ended(version, "?4")}`;

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

/** Returns one File of a version, with its key, in one D1 call. Fails as `loadVersion` does, and with `file_not_found` before `integrity`. */
export async function loadFileOfVersion(
  store: Store,
  access: VaultAccess,
  item: string,
  version: number,
  file: string,
): Promise<Result<KeyedFile>> {
  const exists = `items.id AS item, items.version = ?4 OR EXISTS (
    SELECT 1 FROM item_versions WHERE vault_id = ?2 AND item_id = ?3 AND item_versions.version = ?4) AS found`;
  const read = await loadFromVault<{ readonly item: string | null; readonly found: number | null }, [FileRow]>(
    store,
    access,
    { ...joinedItem(item, exists), values: [item, version] },
    store.db.prepare(fileOfVersion("?3")).bind(access.vault, item, version, file),
  );
  if (!read.ok) return read;
  const { keys, joined, rows } = read.value;
  if (joined.item === null) return fail("item_not_found");
  // The version is for the message: if the query names it, the path does not have it.
  if (joined.found !== 1) return fail("version_not_found", String(version));
  return openOnlyFile(keys, access.vault, rows[0]);
}

/** Lists the versions of an Item, page by page. */

export interface ListedVersion {
  readonly summary: Summary | BrokenItem;
  readonly current: boolean;
}

export interface VersionsPage {
  /** Newest first. */
  readonly versions: readonly ListedVersion[];
  /** The version before which the next page begins; absent when this is the last page. */
  readonly next: number | undefined;
}

const EARLIER = "item_versions WHERE vault_id = ?1 AND item_id = ?2 AND version < ?3";

/** The sizes are read first, because SQLite reads them without the texts. */
const PAGE = `
    SELECT version, overview FROM ${EARLIER} AND version >= (
      SELECT min(version) FROM (${keysOfSlice(["version"], OVERVIEW_BYTES, EARLIER, { rows: "?4", bytes: SLICE_BYTES_MAX + 1 }, true)}))
    ORDER BY version DESC`;

/** The newest version of an Item, with its summary if that belongs to the page, and the number of the oldest earlier one. */
interface Newest {
  readonly newest: number | null;
  readonly summary: string | null;
  readonly oldest: number | null;
}

/**
 * Returns a page of the versions of an Item, in one D1 call. It begins before the version `before` (absent: with the newest) and has at most
 * `limit` versions. Refusals are checked in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`.
 */
export async function loadVersions(
  store: Store,
  access: VaultAccess,
  item: string,
  before: number = Number.MAX_SAFE_INTEGER,
  limit: number,
): Promise<Result<VersionsPage>> {
  const columns = `
    items.version AS newest, CASE WHEN items.version < ?4 THEN items.overview END AS summary,
    (SELECT min(version) FROM item_versions WHERE vault_id = ?2 AND item_id = ?3) AS oldest`;
  const joined: Joined = { ...joinedItem(item, columns), values: [item, before] };
  const rows = store.db.prepare(PAGE).bind(access.vault, item, before, limit);
  const read = await loadFromVault<Newest, [Omit<ItemRow, "id" | "details">]>(store, access, joined, rows);
  if (!read.ok) return read;
  const { newest, summary, oldest } = read.value.joined;
  if (newest === null) return fail("item_not_found");
  const current = summary === null ? [] : [{ version: newest, overview: summary }];
  const page = [...current, ...read.value.rows[0]].slice(0, limit);
  const versions: ListedVersion[] = [];
  for (const row of page) {
    const opened = await openSummary(read.value.keys, access.vault, { ...row, id: item });
    const entry = opened.ok ? opened.value : brokenItem(access.vault, { ...row, id: item });
    versions.push({ summary: entry, current: row.version === newest });
  }
  const last = page.at(-1)?.version;
  return ok({ versions, next: last !== undefined && last > (oldest ?? newest) ? last : undefined });
}
