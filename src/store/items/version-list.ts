import type { BrokenItem, Summary } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type Joined, joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import type { Store } from "../d1/database.ts";
import { keysOfSlice } from "../tables/slices.ts";
import { SLICE_BYTES_MAX, OVERVIEW_BYTES } from "./list.ts";
import { brokenItem, type ItemRow, openSummary } from "./items.ts";

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
