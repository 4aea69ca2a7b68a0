import { type Keyring, openKeyring } from "../../crypto/keyring.ts";
import { logFailure } from "../../log.ts";
import type { FailureKind } from "../../model/failure.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseSettings, type Settings } from "../../settings.ts";
import { classify, type D1Failure, isSchemaError } from "./errors.ts";
import { recordDatabaseSize } from "./size.ts";
import { withDeadline } from "./deadline.ts";
import { forgetSchemaVersion } from "./schema.ts";

/** What every function of the store works with. */
export interface Store {
  /** May be a replica, for a near read (near-reads.ts). */
  readonly db: D1Database;
  readonly primary: D1Database;
  readonly keyring: Keyring;
  readonly settings: Settings;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Out: the store of these bindings, without any I/O. In: Unix milliseconds. Errors: `misconfigured`. */
export async function openStore(env: Env, now: number): Promise<Result<Store>> {
  const settings = parseSettings(env);
  if (!settings.ok) return settings;
  const keyring = await openKeyring(env.ROOT_KEYS);
  return keyring.ok ? ok({ db: env.DB, primary: env.DB, keyring: keyring.value, settings: settings.value, now }) : keyring;
}

/**
 * One D1 call that reads, or writes what may safely be written again: the statements run in one transaction.
 * Out: the rows of each statement, in order. Errors: `unavailable`, when D1 does not answer or refuses, with `retry: false` when
 * D1 did not run the call and would not run the next one either; `database_full`.
 * The caller names the row types, because only it knows its SQL.
 */
export async function runBatch<Rows extends unknown[]>(
  db: D1Database,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  try {
    const results = await withDeadline(db.batch(statements as D1PreparedStatement[]));
    recordSize(results);
    return ok(results.map((result) => result.results) as { [K in keyof Rows]: Rows[K][] });
  } catch (error) {
    handleError("A D1 call", error);
    const failure = classify(error);
    if (failure === "full") return fail("database_full");
    const failed = fail("unavailable");
    return failure === "unavailable" ? { ...failed, retry: false } : failed;
  }
}

/** The refusal of a batch that writes: `uncertain` when D1 may have carried it out (contract 10.15), else its own failure. */
export const refusalOfWrite = (refused: Refusal): Refusal =>
  refused.failure.kind === "unavailable" && refused.retry !== false ? fail("uncertain") : refused;

/** The outcome of a batch. All but `committed` and `unknown` did nothing. */
export type BatchOutcome = "committed" | D1Failure;

/** One D1 call that writes behind a fence: see d1-errors.ts for its outcomes. */
export async function tryBatch(db: D1Database, statements: D1PreparedStatement[]): Promise<BatchOutcome> {
  try {
    recordSize(await withDeadline(db.batch(statements)));
    return "committed";
  } catch (error) {
    const failure = classify(error);
    if (failure !== "stale") handleError("A D1 batch", error);
    return failure;
  }
}

const FAILURES = { refused: "internal", full: "database_full", unavailable: "unavailable", unknown: "unavailable" } as const;

/**
 * As `tryBatch`, for a batch that may be repeated. In: the failure when the fence refuses it. Errors: that one; `database_full`; `internal`;
 * `unavailable`, also when it may have taken effect.
 */
export async function writeFenced(
  db: D1Database,
  statements: D1PreparedStatement[],
  stale: FailureKind,
): Promise<Result<undefined>> {
  const outcome = await tryBatch(db, statements);
  if (outcome === "committed") return ok(undefined);
  return fail(outcome === "stale" ? stale : FAILURES[outcome]);
}

/** Each statement's answer has the size after it. */
function recordSize(results: readonly D1Result[]): void {
  const size = results.at(-1)?.meta.size_after;
  if (size !== undefined) recordDatabaseSize(size);
}

function handleError(subject: string, error: unknown): void {
  if (isSchemaError(error)) forgetSchemaVersion();
  logFailure(subject, error);
}
