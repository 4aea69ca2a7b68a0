import { isVersion } from "../../model/item.ts";
import { COUNT_MAX } from "../../model/limits.ts";
import { isTime } from "../../model/time.ts";
import { type TableName, tableOf } from "./tables.ts";

/** Decides which times and numbers a row can hold. A row with another number is damaged as a whole, like a row that cannot be decrypted. */

/** Returns true if a value can be a count: an integer from 0 to COUNT_MAX. */
export const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= COUNT_MAX;

/** Returns true if a column holds times, in Unix milliseconds. */
export const holdsTime = (table: string, column: string): boolean => tableOf(table)?.columns[column]?.startsWith("time") ?? false;

/** Returns true if a sound row can hold a number in a column. */
export const isSoundNumber = (table: string, column: string, value: number): boolean =>
  holdsTime(table, column) ? isTime(value) : column === "version" ? isVersion(value) : isCount(value);

/** Returns the columns of a row whose numbers no sound row can hold. */
export const wrongNumbers = (table: TableName, row: object): string[] =>
  Object.entries(row).flatMap(([column, value]) =>
    typeof value === "number" && !isSoundNumber(table, column, value) ? [column] : [],
  );

/** Returns the fault of such a column in words. */
export const faultOfNumber = (table: string, column: string): string =>
  `${column} is no ${holdsTime(table, column) ? "time" : "number of the service"}`;

/** Returns the row with 0 in place of each such number, to show a damaged row (contract 13.18). */
export const withoutWrongNumbers = <Row extends object>(table: TableName, row: Row): Row => ({
  ...row,
  ...Object.fromEntries(wrongNumbers(table, row).map((column) => [column, 0])),
});
