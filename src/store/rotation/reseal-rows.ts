import { blindIndex, HEADER_AND_NONCE_LENGTH, HEADER_LENGTH, headerOf } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { resealText } from "../../crypto/vault-seal.ts";
import { foldedIndex } from "../items/folded-index.ts";
import { type ItemRow, openDetails, openSummary } from "../items/items.ts";
import { firstKey, keyInVault, type KeyValue, sliceOfVault } from "../tables/slices.ts";
import { columnsOfKind, type NamedTable } from "../tables/tables.ts";

/** Reads slices of the tables with texts under the keys of a vault, seals their rows again, and makes the statements that write them. */

/** At most so many rows of a table, and about so many bytes of their texts, are sealed again in one batch. */
export const RESEAL_SLICE_MAX = { rows: 250, bytes: 1024 * 1024 };

/** The columns of a row. */
export type Columns = Readonly<Record<string, KeyValue>>;

/** SQL: whether a text of the row has one of the headers of the JSON array ?2. A text with any other header opens under no earlier key. */
const hasHeader = (table: NamedTable): string =>
  `(${columnsOfKind(table, "sealed")
    .map((column) => `substr(${column}, 1, ${HEADER_LENGTH}) IN (SELECT value FROM json_each(?2))`)
    .join(" OR ")})`;

/**
 * The statement that reads the next rows of a table. In: the key after which they begin, empty for the first ones; `under`, the numbers of
 * the earlier keys, when only rows with a text under one of them are read.
 */
export function readRows(
  db: D1Database,
  vault: string,
  table: NamedTable,
  after: readonly KeyValue[],
  under: readonly number[] | null,
): D1PreparedStatement {
  const key = after.length > 0 ? after : firstKey(table);
  if (under === null) return db.prepare(sliceOfVault(table, RESEAL_SLICE_MAX)).bind(vault, ...key);
  const sql = sliceOfVault(table, RESEAL_SLICE_MAX, { where: hasHeader(table), keyParameter: 3 });
  return db.prepare(sql).bind(vault, JSON.stringify(under.map(headerOf)), ...key);
}

export interface ResealedRow {
  /** The columns of the key and those that change; absent when the row stays as it is. */
  readonly changed: Columns | undefined;
  /** Whether a text of it does not open. Its other texts are sealed again all the same. */
  readonly unreadable: boolean;
}

/** The column in the parameters of `writeSql` with header and nonce of the compared column, as they were read. */
const READ_PREFIX = "read_prefix";

/** Seals the texts of a row under the newest key, and makes the blind indexes of an Item under the newest index key. */
export async function resealRow(keys: VaultKeys, vault: string, table: NamedTable, row: Columns): Promise<ResealedRow> {
  const sealed = columnsOfKind(table, "sealed");
  let unreadable = false;
  const changes: Record<string, string> = {};
  for (const column of sealed) {
    const text = String(row[column]);
    const associatedData = table.associatedData![column]!(vault, row as never);
    // The nonce of `details` makes the entity tag of the version, which does not change.
    const resealed = await resealText(keys, associatedData, text, column === "details");
    if (!resealed.ok) unreadable = true;
    else if (resealed.value !== text) changes[column] = resealed.value;
  }
  if (table.derived) Object.assign(changes, await indexesOf(keys, vault, { ...row, ...changes }, row));
  if (Object.keys(changes).length === 0) return { changed: undefined, unreadable };
  const key = Object.fromEntries(keyInVault(table).map((column) => [column, row[column]!]));
  const prefix = String(row[comparedColumn(table, Object.keys(changes))]).slice(0, HEADER_AND_NONCE_LENGTH);
  return { changed: { ...key, ...changes, [READ_PREFIX]: prefix }, unreadable };
}

/**
 * The column by which a row is compared: the first that is sealed again, because a text that opens is ASCII, of which SQL and JavaScript take
 * the same part; of a text that does not open they may not.
 */
function comparedColumn(table: NamedTable, changed: readonly string[]): string {
  const sealed = columnsOfKind(table, "sealed");
  return sealed.find((column) => changed.includes(column)) ?? sealed[0]!;
}

/**
 * The blind indexes of an Item that differ from those of the row. Both of its texts have the title (decision 0053), so that it is found as
 * long as one of them opens. In: the row with its new texts, and as it was read.
 */
async function indexesOf(keys: VaultKeys, vault: string, row: Columns, before: Columns): Promise<Record<string, string>> {
  const item = row as unknown as ItemRow;
  const summary = await openSummary(keys, vault, item);
  const opened = summary.ok ? summary : await openDetails(keys, vault, item);
  if (!opened.ok) return {};
  const title_index = await blindIndex(keys.newest.index, opened.value.title);
  const folded_index = await foldedIndex(keys.newest, opened.value.title);
  return title_index === before["title_index"] && folded_index === before["folded_index"] ? {} : { title_index, folded_index };
}

const value = (column: string): string => `new.value ->> '${column}'`;

/**
 * Writes rows, each while its text is the one that was read: idempotency records and webhooks are written without a change of the versions
 * of the vault. In: ?1, the vault, and ?2, the columns of each row. The vault is an expression of the list, because SQLite would else go
 * through the list for each row of the vault.
 */
function writeSql(table: NamedTable, columns: readonly string[]): string {
  const compared = comparedColumn(table, columns);
  const key = keyInVault(table).map((column) => `AND ${table.name}.${column} = ${value(column)}`);
  return `
    UPDATE ${table.name} SET ${columns.map((column) => `${column} = ${value(column)}`).join(", ")}
    FROM json_each(?2) AS new WHERE ${table.name}.vault_id = coalesce(?1, new.key) ${key.join(" ")}
      AND substr(${table.name}.${compared}, 1, ${HEADER_AND_NONCE_LENGTH}) = ${value(READ_PREFIX)}`;
}

/** D1 takes texts of at most 2 MB as a parameter, in bytes; so many characters of JSON go into one. */
const PARAMETER_CHARACTERS_MAX = 1024 * 1024;

/** The statements that write rows: those that change the same columns together. */
export function writeRows(db: D1Database, vault: string, table: NamedTable, rows: readonly Columns[]): D1PreparedStatement[] {
  const keys = new Set([...keyInVault(table), READ_PREFIX]);
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
    if (size + row.length > PARAMETER_CHARACTERS_MAX) {
      lists.push([]);
      size = 0;
    }
    lists.at(-1)!.push(row);
    size += row.length;
  }
  return lists.map((list) => `[${list.join()}]`);
}
