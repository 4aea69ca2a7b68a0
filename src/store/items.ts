import { blindIndex, open, type Place, seal, sealedLength } from "../crypto/seal.ts";
import { recallVaultKeys, type VaultKeys } from "../crypto/vault-keys.ts";
import { type Filter, itemPasses } from "../model/filter.ts";
import type { Item, Summary } from "../model/item.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Store } from "./database.ts";
import { type FileRow, FILES_OF_ITEM, openFiles } from "./files.ts";
import { readBehindGate, type Visit } from "./gate.ts";

/** Items as D1 keeps them, two sealed texts each, and how they are read. Who writes them: commit.ts. */

export interface ItemRow {
  id: string;
  version: number;
  overview: string;
  details: string;
}

export type SealedItem = ItemRow & { title_index: string };

const place = (kind: "overview" | "details", item: Pick<Summary, "id" | "vault" | "version">, keys: VaultKeys): Place => ({
  kind,
  vault: item.vault,
  record: item.id,
  version: item.version,
  key: keys.id,
});

/** Seals an Item: its summary and its secrets apart, so that a list opens no secret. */
export async function sealItem(keys: VaultKeys, item: Item): Promise<SealedItem> {
  const [summary, secrets] = textsOf(item);
  const [overview, details, title_index] = await Promise.all([
    seal(keys.data, place("overview", item, keys), summary),
    seal(keys.data, place("details", item, keys), secrets),
    blindIndex(keys.index, item.title),
  ]);
  return { id: item.id, version: item.version, overview, details, title_index };
}

/** The size of an Item as stored, in bytes, without sealing it: both its sealed texts. */
export const sealedSize = (item: Item): number => textsOf(item).reduce((sum, text) => sum + sealedLength(text), 0);

const textsOf = ({ id: _id, vault: _vault, version: _version, sections, fields, files: _files, ...summary }: Item) =>
  [JSON.stringify(summary), JSON.stringify({ sections, fields })] as const;

/** Opens the summary of a row that lies in this vault. Errors: `integrity`. */
export async function openSummary(keys: VaultKeys, vault: string, row: Omit<ItemRow, "details">): Promise<Result<Summary>> {
  const { id, version } = row;
  const text = await open(keys.data, place("overview", { id, vault, version }, keys), row.overview);
  return text.ok ? ok({ ...(JSON.parse(text.value) as Summary), id, vault, version }) : text;
}

/** Opens a whole row, with the rows of its Files. Errors: `integrity`. */
export async function openItem(
  keys: VaultKeys,
  vault: string,
  row: ItemRow,
  fileRows: readonly FileRow[],
): Promise<Result<Item>> {
  const { id, version } = row;
  const [summary, text, keyed] = await Promise.all([
    openSummary(keys, vault, row),
    open(keys.data, place("details", { id, vault, version }, keys), row.details),
    openFiles(keys, vault, fileRows),
  ]);
  if (!summary.ok) return summary;
  if (!keyed.ok) return keyed;
  const files = keyed.value.map(({ key: _key, ...file }) => file);
  if (!text.ok) return text;
  return ok({ ...summary.value, ...(JSON.parse(text.value) as Pick<Item, "sections" | "fields">), files });
}

const ITEM = "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2";

/** One Item. Errors, in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `integrity`. */
export async function readItem(store: Store, visit: Visit, item: string): Promise<Result<Item>> {
  const statement = (sql: string) => store.db.prepare(sql).bind(visit.vault, item);
  const read = await readBehindGate<[ItemRow, FileRow]>(store, visit, statement(ITEM), statement(FILES_OF_ITEM));
  if (!read.ok) return read;
  const { opened, rows } = read.value;
  const [[row], files] = rows;
  return row ? openItem(opened.keys, visit.vault, row, files) : fail("item_not_found");
}

const SUMMARIES = "SELECT id, version, overview FROM items WHERE vault_id = ?1 ORDER BY id";
// Without the hint SQLite takes the primary key and looks at every Item of the vault.
const SUMMARIES_BY_TITLE = `
  SELECT id, version, overview FROM items INDEXED BY items_by_title WHERE vault_id = ?1 AND title_index = ?2 ORDER BY id`;
type SummaryRow = Omit<ItemRow, "details">;
type Read = Awaited<ReturnType<typeof readBehindGate<[SummaryRow]>>>;

/**
 * The summaries of a vault that pass the filter, in the order of their ids.
 * Errors, in this order: `unauthorized` (revoked), `vault_not_found`, `integrity`.
 */
export async function readSummaries(store: Store, visit: Visit, filter: Filter | undefined): Promise<Result<Summary[]>> {
  const byTitle = filter?.attribute === "title" && filter.operator === "eq";
  const read = await (byTitle
    ? readByTitle(store, visit, filter.value)
    : readBehindGate<[SummaryRow]>(store, visit, store.db.prepare(SUMMARIES).bind(visit.vault)));
  if (!read.ok) return read;
  const {
    opened,
    rows: [rows],
  } = read.value;
  const summaries = await Promise.all(rows.map((row) => openSummary(opened.keys, visit.vault, row)));
  const passing: Summary[] = [];
  for (const summary of summaries) {
    if (!summary.ok) return summary;
    if (!filter || itemPasses(filter, summary.value)) passing.push(summary.value);
  }
  return ok(passing);
}

/**
 * The rows whose blind index is that of the title. The key of the index lies wrapped in the vault's row, so an isolate
 * that has not seen the vault in the last minutes spends a D1 call on the key before the one on the rows.
 */
async function readByTitle(store: Store, visit: Visit, title: string): Promise<Read> {
  let keys = recallVaultKeys(store.keyring, visit.vault, store.now);
  for (;;) {
    const index = keys && (await blindIndex(keys.index, title));
    const statement = store.db.prepare(SUMMARIES_BY_TITLE).bind(visit.vault, index ?? "");
    const read = await readBehindGate<[SummaryRow]>(store, visit, statement);
    if (!read.ok || read.value.opened.keys.id === keys?.id) return read;
    keys = read.value.opened.keys;
  }
}
