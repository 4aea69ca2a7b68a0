import { type RowOf, TABLES, type TableName } from "./tables.ts";

/** The SQL of writing one row. Its values are parameters in the order of the columns. */

/** SQL: the table and the columns of an INSERT; all columns of the catalogue, in its order, unless some are named. */
export const into = <Name extends TableName>(
  table: Name,
  columns = Object.keys(TABLES[table].columns) as (keyof RowOf<Name>)[],
): string => `INTO ${table} (${columns.join(", ")})`;

/** Returns SQL that inserts a row. The values start at ?1. With `replaces`, a row with the same key is replaced. */
export const insertRow = <Name extends TableName>(table: Name, columns: (keyof RowOf<Name>)[], replaces = false): string =>
  `INSERT ${replaces ? "OR REPLACE " : ""}${into(table, columns)} VALUES (${columns.map((_, index) => `?${1 + index}`).join(", ")})`;

/** Returns SQL of the assignments of an UPDATE. `first` is the number of the first parameter. */
export const assignments = (columns: readonly string[], first: number): string =>
  columns.map((column, index) => `${column} = ?${first + index}`).join(", ");

/** Returns the values of a row in the order of the columns. */
export const valuesOf = <Row extends object>(row: Row, columns: readonly (keyof Row)[]): unknown[] =>
  columns.map((column) => row[column]);
