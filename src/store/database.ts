import type { Keyring } from "../crypto/keyring.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { report } from "./report.ts";

/** What every function of the store works with. */
export interface Store {
  readonly db: D1Database;
  readonly keyring: Keyring;
  /** Unix milliseconds. */
  readonly now: number;
}

/** After so many milliseconds a D1 call counts as lost. It may still take effect. */
const DEADLINE = 10_000;

/**
 * One D1 call that reads, or writes what may safely be written again: the statements run in one transaction.
 * Out: the rows of each statement, in order. Errors: `unavailable`, when D1 does not answer or refuses.
 * The caller names the row types, because only it knows its SQL.
 */
export async function call<Rows extends unknown[]>(
  db: D1Database,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  try {
    const results = await answered(db.batch(statements as D1PreparedStatement[]));
    return ok(results.map((result) => result.results) as { [K in keyof Rows]: Rows[K][] });
  } catch (error) {
    report("D1 call", error);
    return fail("unavailable");
  }
}

/** What became of a batch: `stale` is known to have done nothing, of `unknown` nothing is known. */
export type Attempt = "committed" | "stale" | "unknown";

/** One D1 call that writes, fenced by a constraint: a violated constraint says that the batch was rolled back. */
export async function attempt(db: D1Database, statements: D1PreparedStatement[]): Promise<Attempt> {
  try {
    await answered(db.batch(statements));
    return "committed";
  } catch (error) {
    if (/constraint failed/.test(String(error))) return "stale";
    report("D1 batch", error);
    return "unknown";
  }
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  let timer: number | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("D1_ERROR: no answer in time")), DEADLINE);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
