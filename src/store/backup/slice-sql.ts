import type { Cell } from "../../model/backup.ts";
import type { VaultTable } from "./tables.ts";

/** The statements that read a slice of a table, in the order of its primary key. */

/** The most rows of a table in a slice, and about the most bytes of their sealed texts. */
export const SLICE = { rows: 1_000, bytes: 2 * 1024 * 1024 };

/** The primary key of the last row that was read, without `vault_id`. */
export type Key = readonly Cell[];

/** The key before all others: each begins with an id. */
export const firstKey = ({ key }: VaultTable): Key => key.map(() => "");

export const columnsOf = ({ key, columns }: VaultTable): string[] => [...key, ...columns];

/** The Items that writes have changed. ?1: the vault; ?2 and ?3: the numbers of the writes before the first and of the last. */
export const CHANGED_ITEMS = `
  SELECT DISTINCT item_id AS changed FROM activity
  WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3 AND item_id IS NOT NULL`;

const listOf = ({ key }: VaultTable): string => key.join(", ");

/** Each column has its own DESC: else only the last one would descend, and the slice would end too early. */
const descending = ({ key }: VaultTable): string => key.map((column) => `${column} DESC`).join(", ");

/** The parameters of a key begin at ?4. */
const isAfter = (table: VaultTable): string =>
  `(${listOf(table)}) > (${table.key.map((_, index) => `?${4 + index}`).join(", ")})`;

/** The keys of a slice. The first row belongs to it however large it is. In: FROM and the first condition of WHERE. */
const page = (table: VaultTable, source: string): string => `
  SELECT ${listOf(table)} FROM (
    SELECT ${listOf(table)}, sum(bytes) OVER (ORDER BY ${listOf(table)} ROWS UNBOUNDED PRECEDING) - bytes AS earlier
    FROM (
      SELECT ${listOf(table)}, ${table.bytes} AS bytes FROM ${source} AND ${isAfter(table)}
      ORDER BY ${listOf(table)} LIMIT ${SLICE.rows}))
  WHERE earlier < ${SLICE.bytes}`;

const selected = (table: VaultTable): string => `SELECT ${columnsOf(table).join(", ")}, ${table.bytes} AS row_bytes`;

/** A range of keys, because it is read fastest. In: FROM and the first conditions of WHERE. */
const sliceOf = (table: VaultTable, source: string): string => `
    ${selected(table)} FROM ${source} AND ${isAfter(table)}
      AND (${listOf(table)}) <= (${page(table, source)} ORDER BY ${descending(table)} LIMIT 1)
    ORDER BY ${listOf(table)}`;

/** A slice of all rows. ?1: the vault; from ?4 on the key after which it begins. */
export const sliceOfAll = (table: VaultTable): string => sliceOf(table, `${table.table} WHERE vault_id = ?1`);

/** A slice of the entries of writes. ?1 to ?3: as `CHANGED_ITEMS`; from ?4 on the key after which it begins. */
export const sliceOfNumbered = (table: VaultTable): string =>
  sliceOf(table, `${table.table} WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3`);

/** A slice of the rows of changed Items. ?1 to ?3: as `CHANGED_ITEMS`; from ?4 on the key after which it begins. */
export const sliceOfChanged = (table: VaultTable): string => {
  const item = table.item!; // also the first column of the key
  const found = `(${CHANGED_ITEMS} AND item_id >= ?4) CROSS JOIN ${table.table} ON vault_id = ?1 AND ${item} = changed WHERE true`;
  const renamed = table.key.map((column, index) => `${column} AS key${index}`).join(", ");
  const same = table.key.map((column, index) => `${column} = key${index}`).join(" AND ");
  return `
    ${selected(table)}
    FROM (SELECT ${renamed} FROM (${page(table, found)})) CROSS JOIN ${table.table} ON vault_id = ?1 AND ${same}
    ORDER BY ${listOf(table)}`;
};
