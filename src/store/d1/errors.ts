/** The errors of D1, and calls without an answer. */

/** The state of a failed batch, derived from D1's error. */
export type D1Failure =
  /** A constraint was violated: the batch was rolled back. */
  | "stale"
  /** The rows of this batch are refused, now and on every retry: nothing happened. */
  | "refused"
  /** The database or the account has reached its limit: nothing happened. */
  | "full"
  /** D1 did not run the batch. A retry would fail again, or add to the load of an overloaded D1. */
  | "unavailable"
  /** The batch may have taken effect. */
  | "unknown";

const SCHEMA_ERROR = /no such (table|column)|has no column/;

/** Returns true if SQLite refuses a statement on every try: a defect of the service, or a pending migration. */
export const isPermanent = (error: unknown): boolean => /SQLITE_ERROR\b/.test(String(error));

/** Returns true if an error shows that the SQL does not fit the schema of the database. */
export const isSchemaError = (error: unknown): boolean => SCHEMA_ERROR.test(String(error));

/**
 * Words in D1's errors (developers.cloudflare.com/d1/observability/debug-d1), and the SQLite codes after its messages. The first
 * matching pattern decides. An error without a match has an unknown outcome: lost connections, resets, timeouts, internal errors,
 * and an unreachable D1, because the request may have been delivered before.
 */
const WORDS: readonly (readonly [RegExp, D1Failure])[] = [
  [/CHECK constraint failed/, "refused"], // a value that no row of the service may have
  [/constraint failed/, "stale"],
  [/is overloaded|free tier daily/, "unavailable"],
  [/maximum (DB size|account storage)|disk is full|SQLITE_FULL\b/i, "full"],
  [/too big|D1_TYPE_ERROR|No SQL statements detected|SQLITE_(TOOBIG|MISMATCH|RANGE)\b/, "refused"],
  [SCHEMA_ERROR, "unavailable"],
  [/SQLITE_ERROR\b/, "unavailable"],
];

export const classify = (error: unknown): D1Failure => WORDS.find(([pattern]) => pattern.test(String(error)))?.[1] ?? "unknown";

/** After this time without an answer a D1 call counts as lost. The call may still take effect later. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Rejects when the call has no answer within the deadline, in milliseconds. Without it a lost answer would block the write queue. */
export async function withDeadline<T>(answer: Promise<T>, milliseconds = ANSWER_TIMEOUT_MS): Promise<T> {
  let timer!: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("D1_ERROR: no answer in time")), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
