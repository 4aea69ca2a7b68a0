import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { blindIndex } from "../../crypto/seal.ts";
import { wrongDeletionColumns } from "../items/deleted-items.ts";
import type { FileRow } from "../items/files.ts";
import { foldedIndex } from "../items/folded-index.ts";
import { type ItemRow, openItem, openSummary } from "../items/items.ts";
import type { RowInVault } from "../tables/tables.ts";
import { checkFile, checkRanges, type EndedRow } from "./files.ts";
import { fault, type Fault } from "./fault.ts";

/** Checks all rows of one Item against each other. The rows are those of one moment, of D1 or of a backup. */

export type IndexedRow = RowInVault<"items">;

export type DeletedRow = RowInVault<"deleted_items">;

/** The rows of one Item. */
export interface ItemRows {
  readonly id: string;
  readonly current: IndexedRow | undefined;
  readonly deleted: DeletedRow | undefined;
  /** The earlier versions; of a deleted Item also the last one. */
  readonly versions: readonly ItemRow[];
  readonly files: readonly FileRow[];
  readonly ended: readonly EndedRow[];
}

/** The blind indexes that a row has to have. */
export interface Indexes {
  readonly title_index: string;
  readonly folded_index: string;
}

/** What is wrong with the rows of an Item. `indexes`: those that the row should have, where its title opens. */
export interface ItemFault extends Fault {
  readonly indexes?: Indexes;
}

/** Out: every fault of the rows of an Item. Pure, but for the cryptography. */
export async function checkItem(keys: VaultKeys, vault: string, rows: ItemRows): Promise<ItemFault[]> {
  const last = rows.current?.version ?? rows.deleted?.version;
  if (last === undefined) return [orphanOf(vault, rows)];
  return [
    ...(rows.current ? await checkCurrent(keys, vault, rows.current) : []),
    ...(await Promise.all(rows.versions.map((row) => checkVersion(keys, vault, rows, row)))).flat(),
    ...checkDeletion(vault, rows),
    ...(await Promise.all([...rows.files, ...rows.ended].map((row) => checkFile(keys, vault, last, row)))).flat(),
    ...checkRanges(vault, rows.id, rows.files, rows.ended),
  ];
}

/** What brings a lost Item back, in a finding that names it. */
export const RESTORE = "`item-vault admin restore --item` brings it back from a backup";

function orphanOf(vault: string, { id, versions, files, ended }: ItemRows): Fault {
  const [table] = Object.entries({ item_versions: versions, files, file_versions: ended }).find(([, list]) => list.length > 0)!;
  const rows = `${versions.length} versions and ${files.length + ended.length} rows of Files`;
  const detail = `${rows} are left of an Item whose row is lost: ${RESTORE}`;
  return fault("item_missing", { vault, item: id, table }, detail);
}

/** A row of `items`: it opens, and its indexes are those of its title. */
export async function checkCurrent(keys: VaultKeys, vault: string, row: IndexedRow): Promise<ItemFault[]> {
  const named = { vault, item: row.id, version: row.version, table: "items" };
  const opened = await openItem(keys, vault, row, []);
  if (!opened.ok) return [fault("row_unreadable", named, `${await closedPart(keys, vault, row)} does not open`)];
  const { title } = opened.value;
  const indexes: Indexes = { title_index: await blindIndex(keys.index, title), folded_index: await foldedIndex(keys, title) };
  const wrong = (["title_index", "folded_index"] as const).filter((column) => row[column] !== indexes[column]);
  return wrong.map((column) => Object.assign(fault("index_wrong", named, `${column} is not that of the title`), { indexes }));
}

const closedPart = async (keys: VaultKeys, vault: string, row: ItemRow): Promise<string> =>
  (await openSummary(keys, vault, row)).ok ? "details" : "overview";

/** A row of `item_versions`: it opens. */
export async function checkText(keys: VaultKeys, vault: string, row: ItemRow): Promise<Fault[]> {
  const opened = await openItem(keys, vault, row, []);
  if (opened.ok) return [];
  const named = { vault, item: row.id, version: row.version, table: "item_versions" };
  return [fault("row_unreadable", named, `${await closedPart(keys, vault, row)} does not open`)];
}

async function checkVersion(keys: VaultKeys, vault: string, rows: ItemRows, row: ItemRow): Promise<Fault[]> {
  const named = { vault, item: row.id, version: row.version, table: "item_versions" };
  const end = rows.current ? rows.current.version : rows.deleted!.version + 1;
  const late = row.version < end ? [] : [fault("version_wrong", named, `the Item has no version after ${end - 1}`)];
  return [...(await checkText(keys, vault, row)), ...late];
}

function checkDeletion(vault: string, { id, current, deleted, versions }: ItemRows): Fault[] {
  if (!deleted) return [];
  const named = { vault, item: id, version: deleted.version, table: "deleted_items" };
  const wrong = checkDeletedRow(vault, deleted);
  if (current) return [...wrong, fault("version_wrong", named, "the Item exists and is deleted")];
  if (versions.some(({ version }) => version === deleted.version)) return wrong;
  return [...wrong, fault("version_missing", named, `the last version is missing; ${versions.length} earlier ones are kept`)];
}

/** A row of `deleted_items`: its columns, which nothing seals, are possible. */
export const checkDeletedRow = (vault: string, { id, version, ...row }: DeletedRow): Fault[] =>
  wrongDeletionColumns(row).map((wrong) => fault("row_unreadable", { vault, item: id, version, table: "deleted_items" }, wrong));
