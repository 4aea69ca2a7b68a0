import type { Table } from "./table.ts";
import { columnsOfKind, type NamedTable } from "./tables.ts";

/**
 * The SQL of slices: the rows after a key, in the order of the key, bounded by their number and by the bytes of their texts. The
 * sizes are summed apart from the texts, which SQLite would copy.
 */

/**
 * The maximum rows of a slice, and the bytes of sealed texts at which it ends. It includes the row that reaches this size. The first row is
 * always included.
 */
export interface SliceBounds {
  readonly rows: number;
  readonly bytes: number;
}

/** A value of a key, as D1 gives it. */
export type KeyValue = string | number | null;

/** Returns the primary key without `vault_id`, if that is its first column. */
export const keyInVault = ({ key }: Table): readonly string[] => (key[0] === "vault_id" ? key.slice(1) : key);

/** SQL: the bytes of the sealed texts of a row. */
export const textBytes = (table: Table, columns: readonly string[] = columnsOfKind(table, "sealed")): string =>
  columns.map((column) => `octet_length(${column})`).join(" + ") || "0";

/** Returns the key before all other keys, without `vault_id`. */
export const firstKey = (table: Table): KeyValue[] =>
  keyInVault(table).map((column) => (table.columns[column] === "number" ? -1 : ""));

/** Returns SQL that is true for a row after a key. `parameter` is the number of the key's first parameter. */
export const isAfterKey = (key: readonly string[], parameter: number): string =>
  `(${key.join(", ")}) > (${key.map((_, index) => `?${parameter + index}`).join(", ")})`;

/** Returns the key in descending order. Each column needs its own DESC; otherwise only the last column would descend. */
const descending = (key: readonly string[]): string => key.map((column) => `${column} DESC`).join(", ");

/** Returns SQL of the sum of the bytes of a row and all rows before it. Without `order`, rows are taken as they are found. */
export const runningSum = (bytes: string, order?: string): string =>
  `sum(${bytes}) OVER (${order ? `ORDER BY ${order} ` : ""}ROWS UNBOUNDED PRECEDING)`;

/**
 * Returns SQL of the keys of a slice's rows. `key` has the columns of the key; `bytes` is the expression for the bytes of a row.
 * `source` is `FROM` and `WHERE` without those words. With `backwards` the slice starts at the last row.
 */
export function keysOfSlice(
  key: readonly string[],
  bytes: string,
  source: string,
  { rows, bytes: bytesMax }: { readonly rows: number | string; readonly bytes: number | string },
  backwards = false,
): string {
  const order = backwards ? descending(key) : key.join(", ");
  return `
    SELECT ${key.join(", ")} FROM (
      SELECT ${key.join(", ")}, ${runningSum("bytes", order)} - bytes AS earlier
      FROM (SELECT ${key.join(", ")}, ${bytes} AS bytes FROM ${source} ORDER BY ${order} LIMIT ${rows}))
    WHERE earlier < ${bytesMax}`;
}

/** SQL: the key of the last row of a slice. By the key, because rows without texts have the sum of the row before them. */
const lastKey = (key: readonly string[], bytes: string, source: string, bounds: SliceBounds): string =>
  `${keysOfSlice(key, bytes, source, bounds)} ORDER BY ${descending(key)} LIMIT 1`;

/** Options of a slice, besides the table of a vault and the key. */
export interface SliceOptions {
  /** The columns; absent: all but `vault_id`. */
  readonly columns?: readonly string[];
  /** A further condition on the rows. */
  readonly where?: string;
  /** The number of the first parameter of the key. */
  readonly keyParameter?: number;
}

/**
 * Returns SQL of a slice of rows of the vault ?1 after a key, in the order of the key, with the bytes of their texts as `row_bytes`. It reads
 * a range of keys: in a table WITHOUT ROWID SQLite reads about a dozen whole rows to find one row by its key.
 */
export function sliceOfVault(table: NamedTable, bounds: SliceBounds, options: SliceOptions = {}): string {
  const { columns = columnsInVault(table), where, keyParameter = 2 } = options;
  const key = keyInVault(table);
  const source = `${table.name} WHERE vault_id = ?1${where ? ` AND ${where}` : ""} AND ${isAfterKey(key, keyParameter)}`;
  return `
    SELECT ${columns.join(", ")}, ${textBytes(table)} AS row_bytes FROM ${source}
      AND (${key.join(", ")}) <= (${lastKey(key, textBytes(table), source, bounds)})
    ORDER BY ${key.join(", ")}`;
}

/** Returns all columns but `vault_id`, the key's columns first. */
export const columnsInVault = (table: Table): string[] => [
  ...new Set([...keyInVault(table), ...Object.keys(table.columns).filter((column) => column !== "vault_id")]),
];

/**
 * Returns the key after which the next slice begins, or `null` if no rows are left. `slice` has the rows of a slice, with
 * `row_bytes`. A slice below its bounds includes the last row.
 */
export function keyOfNextSlice(
  table: Table,
  { rows, bytes }: SliceBounds,
  slice: readonly Readonly<Record<string, KeyValue>>[],
): KeyValue[] | null {
  const sum = slice.reduce((total, row) => total + Number(row["row_bytes"]), 0);
  return slice.length < rows && sum < bytes ? null : keyInVault(table).map((column) => slice.at(-1)![column]!);
}

/** SQL: deletes a slice of the rows of the vault ?1, the first ones, under a condition that holds for all or none of them. */
export function deleteSliceOfVault(table: NamedTable, bounds: SliceBounds, condition = "true"): string {
  const key = keyInVault(table);
  return `
    DELETE FROM ${table.name} WHERE ${condition} AND vault_id = ?1
      AND (${key.join(", ")}) <= (${lastKey(key, textBytes(table), `${table.name} WHERE vault_id = ?1`, bounds)})`;
}

/** Returns SQL that is true if any of the tables has rows of the vault ?1. */
export const hasRowsOfVault = (tables: readonly NamedTable[]): string =>
  tables.map(({ name }) => `EXISTS (SELECT 1 FROM ${name} WHERE vault_id = ?1)`).join(" OR ");
