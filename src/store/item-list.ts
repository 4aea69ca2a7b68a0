import { blindIndex } from "../crypto/seal.ts";
import { recallVaultKeys } from "../crypto/vault-keys.ts";
import { type Filter, itemPasses } from "../model/filter.ts";
import type { Summary } from "../model/item.ts";
import { ok, type Result } from "../model/result.ts";
import type { Store } from "./database.ts";
import { readBehindGate, type Visit } from "./gate.ts";
import { type ItemRow, openSummary } from "./items.ts";

/** The lists of Items: slice by slice, so that a vault of any size fits. */

/** So many rows are in memory at once, or few when their summaries come to more than 4 MiB: one may be half a MiB. */
const ROWS = 2_000;
const FEW = 8;
const OCTETS = 4 * 1024 * 1024;
/** Titles are seldom shared by more. */
const TITLED_ROWS = 64;

/** Part of a list. */
export interface Slice {
  /** Those that pass, in the order of their ids. */
  readonly summaries: readonly Summary[];
  /** The id after which the next slice begins; absent when this is the last. */
  readonly next: string | undefined;
}

const SQL = {
  all: `
    SELECT id, version, overview FROM items WHERE vault_id = ?1 AND id > ?2 ORDER BY id LIMIT iif(
      (SELECT sum(octet_length(overview)) FROM (SELECT overview FROM items WHERE vault_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3))
        > ${OCTETS}, min(?3, ${FEW}), ?3)`,
  lastOfAll: "SELECT max(id) AS id FROM items WHERE vault_id = ?1",
  // Without the hint SQLite takes the primary key and looks at every Item of the vault.
  titled: `
    SELECT id, version, overview FROM items INDEXED BY items_by_title
    WHERE vault_id = ?1 AND title_index = ?3 AND id > ?2 ORDER BY id LIMIT ${TITLED_ROWS}`,
  lastOfTitled: "SELECT max(id) AS id FROM items INDEXED BY items_by_title WHERE vault_id = ?1 AND title_index = ?2",
};

type Row = Omit<ItemRow, "details">;

/**
 * The summaries of a vault after an id, in one D1 call; a slice may hold less than there is.
 * In: the id (the empty text for the first slice), and how many rows to look at at most.
 * Errors, in this order: `unauthorized` (revoked), `vault_not_found`, `integrity`.
 */
export async function readSlice(
  store: Store,
  visit: Visit,
  filter: Filter,
  after: string,
  most: number = ROWS,
): Promise<Result<Slice>> {
  const title = filter.find(({ words }) => words === "title eq")?.value;
  const found = await (title === undefined ? readAll(store, visit, after, most) : readTitled(store, visit, after, title));
  if (!found.ok) return found;
  const { opened, rows: tables } = found.value;
  const [rows, [last]] = tables;
  const opening = await Promise.all(rows.map((row) => openSummary(opened.keys, visit.vault, row)));
  const summaries: Summary[] = [];
  for (const summary of opening) {
    if (!summary.ok) return summary;
    if (itemPasses(filter, summary.value)) summaries.push(summary.value);
  }
  const end = rows.at(-1)?.id;
  return ok({ summaries, next: end === last?.id ? undefined : end });
}

const read = readBehindGate<[Row, { id: string | null }]>;

function readAll(store: Store, visit: Visit, after: string, most: number): ReturnType<typeof read> {
  const { db } = store;
  const { vault } = visit;
  return read(store, visit, db.prepare(SQL.all).bind(vault, after, most), db.prepare(SQL.lastOfAll).bind(vault));
}

/**
 * The rows whose blind index is that of the title. The key of the index lies wrapped in the vault's row, so an isolate
 * that has not seen the vault in the last minutes spends a D1 call on the key before the one on the rows.
 */
async function readTitled(store: Store, visit: Visit, after: string, title: string): ReturnType<typeof read> {
  const { db } = store;
  const { vault } = visit;
  let keys = recallVaultKeys(store.keyring, vault, store.now);
  for (;;) {
    const index = keys ? await blindIndex(keys.index, title) : "";
    const rows = db.prepare(SQL.titled).bind(vault, after, index);
    const found = await read(store, visit, rows, db.prepare(SQL.lastOfTitled).bind(vault, index));
    if (!found.ok || found.value.opened.keys.id === keys?.id) return found;
    keys = found.value.opened.keys;
  }
}
