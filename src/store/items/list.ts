import { blindIndex, listMac } from "../../crypto/seal.ts";
import { cachedVaultKeys, type VaultKeys } from "../../crypto/vault-keys.ts";
import { type Filter, idsOf, itemPasses, titleOf } from "../../model/filter.ts";
import type { BrokenItem, OfVault, Summary } from "../../model/item.ts";
import { isSameState, type ListState } from "../../model/list-state.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { keysOfSlice, textBytes } from "../tables/slices.ts";
import { TABLES } from "../tables/tables.ts";
import { type Joined, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { brokenItem, type ItemRow, openSummary } from "./items.ts";

/** Lists of Items, loaded in slices, so that a vault of any size fits into memory. */

export const SLICE_ROWS_MAX = 2_000;
/** A slice ends with the row that makes its sealed summaries exceed 4 MiB. One may have half a MiB. */
export const SLICE_BYTES_MAX = 4 * 1024 * 1024;
/** This number of rows stays below `SLICE_BYTES_MAX` whatever their content, so their bytes are not summed. */
const UNMEASURED_ROWS_MAX = 8;

export interface Slice extends OfVault {
  /** The Items that pass, and the broken rows, in the order of their ids. */
  readonly items: readonly (Summary | BrokenItem)[];
  /** Number of Items read. */
  readonly rows: number;
  /** The id after which the next slice begins; absent when this is the last. */
  readonly next: string | undefined;
  /** The state of the vault from which the rows were read. */
  readonly state: ListState;
  /** True if the vault still has the client's state. No row was read then. */
  readonly unchanged: boolean;
  /** The MAC of a text and of the bytes of the vault, which the restore of a damaged backup changes although the state repeats. */
  readonly sign: (text: string) => Promise<string>;
}

export interface SliceOptions {
  /** Limit of the rows to read. */
  readonly most?: number | undefined;
  /** True if archived Items pass (contract 14.15). */
  readonly archived?: boolean;
  /** The client's state. The slice is empty if the vault still has this state. */
  readonly known?: ListState | undefined;
}

/** SQL: the bytes of the sealed summary of an Item. */
export const OVERVIEW_BYTES = textBytes(TABLES.items, ["overview"]);

/** The source of a slice in SQL: `FROM` and `WHERE` without the first word. ?1: the vault, ?2: `value`. */
interface Source {
  readonly table: string;
  readonly condition: string;
  readonly value: string;
}

const ALL: Source = { table: "items", condition: "true", value: "" };
const namedBy = (ids: readonly string[]): Source => ({
  table: "items",
  condition: "id IN (SELECT value FROM json_each(?2))",
  value: JSON.stringify(ids),
});
/** Returns the source of the rows with the blind index of a title. */
const titledBy = (index: string): Source => ({
  // Without the hint SQLite takes the primary key and reads every Item.
  table: "items INDEXED BY items_by_title",
  condition: "title_index = ?2",
  value: index,
});
/**
 * Returns the source as `titledBy` does, among some Items. It uses the primary key, so that rows of other Items with the title are not read.
 */
const titledAmong = (index: string, items: ReadonlySet<string>): Source => ({
  table: "items NOT INDEXED",
  condition: "title_index = ?2 ->> 0 AND id IN (SELECT value FROM json_each(?2 ->> 1))",
  value: JSON.stringify([index, [...items]]),
});

const STATE_COLUMNS = "content_version, attribute_version, updated_at";
/** SQL: the vault ?1 unless its state is ?5 to ?7. SQLite evaluates it once. */
const CHANGED_VAULT = `SELECT id FROM vaults WHERE id = ?1 AND (${STATE_COLUMNS}) IS NOT (?5, ?6, ?7)`;

/** The state of the vault, which the statement that authorizes reads anyway. */
const STATE: Joined = { columns: `${STATE_COLUMNS}, sealed_bytes`, tables: "", values: [] };
type StateRow = Pick<VaultRow, "content_version" | "attribute_version" | "updated_at" | "sealed_bytes">;
const stateOf = (row: StateRow): ListState => ({
  contentVersion: row.content_version,
  attributeVersion: row.attribute_version,
  updatedAt: row.updated_at,
});

/** Returns SQL of the rows after an id. One more row shows that this slice is not the last. */
const smallPage = (source: string) => `SELECT id, version, overview FROM ${source} AND id > ?3 ORDER BY id LIMIT ?4 + 1`;

/**
 * Returns SQL of the same rows, bounded by their size. The sizes are added row by row only if their sum exceeds the bound.
 * `source` is `FROM` and `WHERE` without the first word.
 */
export function largePage(source: string, columns = "id, version, overview"): string {
  const rows = `${source} AND id > ?3`;
  // Includes the row that makes the sum exceed the bound; and one more, as above.
  const keys = keysOfSlice(["id"], OVERVIEW_BYTES, rows, { rows: "?4", bytes: SLICE_BYTES_MAX + 1 });
  return `
    SELECT ${columns} FROM ${rows} ORDER BY id LIMIT CASE
      WHEN (SELECT sum(octets) FROM (SELECT ${OVERVIEW_BYTES} AS octets FROM ${rows} ORDER BY id LIMIT ?4)) <= ${SLICE_BYTES_MAX} THEN ?4 + 1
      ELSE 1 + (SELECT count(*) FROM (${keys})) END`;
}

type Row = Omit<ItemRow, "details">;

/**
 * Returns the summaries of a vault after an id ("" for the first slice), in one D1 call. A slice may have fewer Items than there are. All
 * readings of the filter have the same title.
 *
 * Refusals are checked in this order: `unauthorized` (revoked), `vault_not_found`, `integrity`. `integrity` means that a row with
 * the filter's title cannot be decrypted: a client that gets an empty list would create the Item again. Without a title such a
 * row is in the list as broken.
 */
export async function loadSlice(
  store: Store,
  access: VaultAccess,
  readings: readonly Filter[],
  after: string,
  { most = SLICE_ROWS_MAX, archived = false, known }: SliceOptions = {},
): Promise<Result<Slice>> {
  const title = titleOf(readings[0]!);
  const ids = title === undefined ? within(access, idsOf(readings)) : undefined;
  // The first slice of a title is expected to hold few Items.
  const expected = title !== undefined && after === "" ? UNMEASURED_ROWS_MAX : ids?.length;
  const limit = Math.min(most, expected ?? most);
  const range: Range = { after, limit, known };
  const found = await (title === undefined
    ? load(store, access, ids ? namedBy(ids) : ALL, range)
    : loadTitled(store, access, title, range));
  if (!found.ok) return found;
  const { keys, openName, joined, rows: tables } = found.value;
  const state = stateOf(joined);
  const rows = tables[0].slice(0, fitting(tables[0], limit));
  const [vaultName, ...opened] = await Promise.all([openName(), ...rows.map((row) => openSummary(keys, access.vault, row))]);
  const items: (Summary | BrokenItem)[] = [];
  for (const [index, summary] of opened.entries()) {
    if (!summary.ok && title !== undefined) return summary;
    if (!summary.ok) items.push(brokenItem(access.vault, rows[index]!));
    else if ((archived || summary.value.state !== "ARCHIVED") && itemPasses(readings, summary.value)) items.push(summary.value);
  }
  return ok({
    items,
    vaultName,
    rows: rows.length,
    next: rows.length < tables[0].length ? rows.at(-1)!.id : undefined,
    state,
    unchanged: known !== undefined && isSameState(known, state),
    sign: (text) => listMac(keys.index, `${joined.sealed_bytes} ${text}`),
  });
}

/** Returns the ids that a list reads, given the ids of its filter. Returns undefined if it reads all Items. */
const within = ({ items }: VaultAccess, ids: readonly string[] | undefined): readonly string[] | undefined =>
  items && ids ? ids.filter((id) => items.has(id)) : items ? [...items] : ids;

/** Returns the number of rows in the slice: at most `limit`, up to the row that exceeds the bound. */
export function fitting(rows: readonly Pick<Row, "overview">[], limit: number): number {
  let octets = 0;
  const end = rows.findIndex(({ overview }) => (octets += overview.length) > SLICE_BYTES_MAX);
  return Math.min(limit, end < 0 ? rows.length : end + 1);
}

/** The rows of a source that a slice reads. */
interface Range extends Pick<SliceOptions, "known"> {
  readonly after: string;
  readonly limit: number;
}

function load(store: Store, access: VaultAccess, { table, condition, value }: Source, { after, limit, known }: Range) {
  const source = `${table} WHERE vault_id = ${known ? `(${CHANGED_VAULT})` : "?1"} AND ${condition}`;
  const sql = (limit > UNMEASURED_ROWS_MAX ? largePage : smallPage)(source);
  const rows = store.db
    .prepare(sql)
    .bind(access.vault, value, after, limit, ...(known ? [known.contentVersion, known.attributeVersion, known.updatedAt] : []));
  return loadFromVault<StateRow, [Row]>(store, access, STATE, rows);
}

/**
 * Loads the rows with the blind index of a title. The index key never changes. It is in the vault's row, wrapped, so an isolate
 * without the key in its cache makes one more D1 call for it first.
 */
async function loadTitled(store: Store, access: VaultAccess, title: string, range: Range): ReturnType<typeof load> {
  const cached = cachedVaultKeys(store.keyring, access.vault, store.now);
  const found = await load(store, access, await titledIn(access, cached, title), range);
  return cached || !found.ok ? found : load(store, access, await titledIn(access, found.value.keys, title), range);
}

/** Returns the source of the rows with a title; without keys, a source of no rows. */
async function titledIn({ items }: VaultAccess, keys: VaultKeys | undefined, title: string): Promise<Source> {
  const index = keys ? await blindIndex(keys.index, title) : "";
  return items ? titledAmong(index, items) : titledBy(index);
}
