/** The SQL of writing one row. Its values are parameters in the order of the columns. */

/** SQL: inserts a row. ?1 and on: the values. In: whether a row with the same key is replaced. */
export const insertRow = (table: string, columns: readonly string[], replaces = false): string =>
  `INSERT ${replaces ? "OR REPLACE " : ""}INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((_, index) => `?${1 + index}`).join(", ")})`;

/** SQL: the assignments of an UPDATE. In: the number of the parameter of the first value. */
export const assignments = (columns: readonly string[], first: number): string =>
  columns.map((column, index) => `${column} = ?${first + index}`).join(", ");

/** The values of a row in the order of the columns. */
export const valuesOf = <Row extends object>(row: Row, columns: readonly (keyof Row)[]): unknown[] =>
  columns.map((column) => row[column]);
