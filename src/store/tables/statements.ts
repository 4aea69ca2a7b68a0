import { type RowOf, TABLES, type TableName } from "./tables.ts";

/** The SQL of writing one row. Its values are parameters in the order of the columns. */

/** SQL: the table and the columns of an INSERT; all columns of the catalogue, in its order, unless some are named. */
export const into = <Name extends TableName>(
  table: Name,
  columns = Object.keys(TABLES[table].columns) as (keyof RowOf<Name>)[],
): string => `INTO ${table} (${columns.join(", ")})`;

/** SQL: inserts a row. ?1 and on: the values. In: whether a row with the same key is replaced. */
export const insertRow = <Name extends TableName>(table: Name, columns: (keyof RowOf<Name>)[], replaces = false): string =>
  `INSERT ${replaces ? "OR REPLACE " : ""}${into(table, columns)} VALUES (${columns.map((_, index) => `?${1 + index}`).join(", ")})`;

/** SQL: the assignments of an UPDATE. In: the number of the parameter of the first value. */
export const assignments = (columns: readonly string[], first: number): string =>
  columns.map((column, index) => `${column} = ?${first + index}`).join(", ");

/** The values of a row in the order of the columns. */
export const valuesOf = <Row extends object>(row: Row, columns: readonly (keyof Row)[]): unknown[] =>
  columns.map((column) => row[column]);
