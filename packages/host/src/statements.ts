import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Statements of an SQLite, which the bindings of D1 and of Durable Objects run. */

export type SqlValue = string | number | null;

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Prepared statements that are kept: more than the service has texts. */
const STATEMENTS_MAX = 2_000;

/** Gives prepared statements, each prepared once. */
export function createStatements(db: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement) return statement;
    if (prepared.size >= STATEMENTS_MAX) prepared.clear();
    statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

const rounded = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);

/**
 * Runs a statement. Returns its rows. An integer beyond 2^53, which only a damaged row has, is rounded as in D1: Node would throw, and the
 * undamaged rows would be lost.
 */
export function allRows(statement: StatementSync, values: readonly SqlValue[]): Record<string, unknown>[] {
  try {
    return statement.all(...values);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_OUT_OF_RANGE") throw error;
    statement.setReadBigInts(true);
    const rows = statement.all(...values);
    statement.setReadBigInts(false);
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)])));
  }
}

/** The names of SQLite's result codes in D1's messages. */
const CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  26: "SQLITE_NOTADB",
};

/** An error of SQLite in the words of D1. */
export function d1Error(error: unknown): Error {
  const { errcode = 1, message } = error as { errcode?: number; message: string };
  return new Error(`D1_ERROR: ${message}: ${CODES[errcode & 255] ?? "SQLITE_ERROR"}`);
}

/** SQLite's error for a value that is too long. */
export const tooBig = (): Error => Object.assign(new Error("string or blob too big"), { errcode: 18 });
