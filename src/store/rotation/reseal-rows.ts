import { blindIndex } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { resealText } from "../../crypto/vault-texts.ts";
import { foldedIndex } from "../items/folded-index.ts";
import { openSummary } from "../items/items.ts";
import { type Columns, type ResealTable, writeSql } from "./reseal-tables.ts";

/** Seals rows again, and makes the statements that write them. */

export interface ResealedRow {
  /** The columns of the key and those that change; absent when the row stays as it is. */
  readonly changed: Columns | undefined;
  /** Whether a text of it does not open. Its other texts are sealed again all the same. */
  readonly unreadable: boolean;
}

/** Seals the texts of a row under the newest key, and makes the blind indexes of an Item under the newest index key. */
export async function resealRow(keys: VaultKeys, vault: string, table: ResealTable, row: Columns): Promise<ResealedRow> {
  let unreadable = false;
  const changes: Record<string, string> = {};
  for (const [column, place] of Object.entries(table.texts)) {
    const text = String(row[column]);
    // The nonce of `details` makes the entity tag of the version, which does not change.
    const sealed = await resealText(keys, place(vault, row), text, column === "details");
    if (!sealed.ok) unreadable = true;
    else if (sealed.value !== text) changes[column] = sealed.value;
  }
  if (table.name === "items") Object.assign(changes, await indexesOf(keys, vault, { ...row, ...changes }, row));
  if (Object.keys(changes).length === 0) return { changed: undefined, unreadable };
  const key = Object.fromEntries(Object.keys(table.key).map((column) => [column, row[column]!]));
  return { changed: { ...key, ...changes, ...(table.compares ? { before: row["sealed"]! } : {}) }, unreadable };
}

/** The blind indexes that differ from those of the row. In: the row with its new texts, and as it was read. */
async function indexesOf(keys: VaultKeys, vault: string, row: Columns, read: Columns): Promise<Record<string, string>> {
  const { id, version, overview } = row as Columns & { id: string; version: number; overview: string };
  const summary = await openSummary(keys, vault, { id, version, overview });
  if (!summary.ok) return {};
  const title_index = await blindIndex(keys.newest.index, summary.value.title);
  const folded_index = (await foldedIndex(keys.newest, summary.value.title)) + title_index;
  return title_index === read["title_index"] && folded_index === read["folded_index"] ? {} : { title_index, folded_index };
}

/** D1 takes texts of at most 2 MB as a parameter, in bytes; so many characters of JSON go into one. */
const PARAMETER = 1024 * 1024;

/** The statements that write rows: those that change the same columns together. */
export function resealStatements(
  db: D1Database,
  vault: string,
  table: ResealTable,
  rows: readonly Columns[],
): D1PreparedStatement[] {
  const keys = new Set([...Object.keys(table.key), "before"]);
  const columnsOf = (row: Columns): string[] => Object.keys(row).filter((column) => !keys.has(column));
  const alike = Map.groupBy(rows, (row) => columnsOf(row).join());
  return [...alike.values()].flatMap((group) => {
    const sql = writeSql(table, columnsOf(group[0]!));
    return parametersOf(group).map((list) => db.prepare(sql).bind(vault, list));
  });
}

/** Lists of rows as JSON, each within the bound; a row that is larger has one of its own. */
function parametersOf(rows: readonly Columns[]): string[] {
  const lists: string[][] = [];
  let size = Infinity;
  for (const row of rows.map((one) => JSON.stringify(one))) {
    if (size + row.length > PARAMETER) {
      lists.push([]);
      size = 0;
    }
    lists.at(-1)!.push(row);
    size += row.length;
  }
  return lists.map((list) => `[${list.join()}]`);
}
