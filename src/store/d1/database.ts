import { type Keyring, openKeyring } from "../../crypto/keyring.ts";
import { failedBy } from "../../log.ts";
import { admitBytes, type Share, sizeOfRows } from "../../memory-budget.ts";
import type { FailureKind } from "../../model/failure.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseSettings, type Settings } from "../../settings.ts";
import { classify, type D1Failure, isPermanent, isSchemaError, withDeadline } from "./errors.ts";
import { explainSchemaError } from "./schema.ts";
import { recordDatabaseSize } from "./size.ts";

/** The environment of every function of the store. */
export interface Store {
  /** May be a replica, for a near read (near-reads.ts). */
  readonly db: D1Database;
  readonly primary: D1Database;
  readonly keyring: Keyring;
  readonly settings: Settings;
  /** Unix milliseconds. */
  readonly now: number;
  /** The bytes that a request holds; absent for jobs and coordinators. */
  readonly share?: Share;
}

/** Returns the store of these bindings, without any I/O. `now` is in Unix milliseconds. Fails with `misconfigured`. */
export async function openStore(env: Env, now: number): Promise<Result<Store>> {
  const settings = parseSettings(env);
  if (!settings.ok) return settings;
  const keyring = await openKeyring(env.ROOT_KEYS);
  return keyring.ok ? ok({ db: env.DB, primary: env.DB, keyring: keyring.value, settings: settings.value, now }) : keyring;
}

/**
 * Makes one D1 call for reads, or for writes that can be repeated. The statements run in one transaction. Returns the rows of
 * each statement, in order. Fails with `unavailable` if D1 does not answer, with `retry: false` if an overloaded D1 did not run
 * the call. Fails with `database_full`, with `internal` if D1 refuses the statements on every try, and with `schema` if a
 * migration is pending. The caller names the row types, because only it knows its SQL.
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
    return refusalOf(db, "A D1 call", error);
  }
}

/** Makes one D1 call as `runBatch` does, for reads that may be large: counts the rows as bytes in work. Fails with `rate` too. */
export async function readBatch<Rows extends unknown[]>(
  { db, share }: Store,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  const read = await runBatch<Rows>(db, ...statements);
  const admitted = read.ok && share ? admitBytes(share, sizeOfRows((read.value as object[][]).flat())) : read;
  return admitted.ok ? read : admitted;
}

/** Returns the refusal of a batch that writes: `uncertain` if D1 may have run it (contract 10.15), else its own failure. */
export const refusalOfWrite = (refused: Refusal): Refusal =>
  refused.failure.kind === "unavailable" && refused.retry !== false ? { ...refused, ...fail("uncertain") } : refused;

/** The outcome of a batch. All outcomes except `committed` and `unknown` had no effect. */
export type BatchOutcome = "committed" | D1Failure;

/** An outcome, and its failure unless the batch was committed or is stale. */
export interface BatchResult {
  readonly outcome: BatchOutcome;
  readonly refusal?: Refusal;
}

/** Makes one D1 call that writes behind a fence. Returns its outcome. */
export async function tryBatch(db: D1Database, statements: D1PreparedStatement[]): Promise<BatchResult> {
  try {
    recordSize(await withDeadline(db.batch(statements)));
    return { outcome: "committed" };
  } catch (error) {
    const outcome = classify(error);
    return outcome === "stale" ? { outcome } : { outcome, refusal: await refusalOf(db, "A D1 batch", error) };
  }
}

/**
 * Makes one D1 call as `tryBatch` does, for a batch that can be repeated. Fails with `stale` if the fence refuses it; with
 * `database_full`, `internal` or `schema`; with `unavailable`, also if the batch may have taken effect.
 */
export async function writeFenced(
  db: D1Database,
  statements: D1PreparedStatement[],
  stale: FailureKind,
): Promise<Result<undefined>> {
  const { outcome, refusal } = await tryBatch(db, statements);
  return outcome === "committed" ? ok(undefined) : (refusal ?? fail(stale));
}

/** Records the size of the database. Each statement's answer has the size after it. */
function recordSize(results: readonly D1Result[]): void {
  const size = results.at(-1)?.meta.size_after;
  if (size !== undefined) recordDatabaseSize(size);
}

/** Returns the failure of a D1 call that threw. Statements that D1 refuses on every try are a defect, unless a migration is pending. */
async function refusalOf(db: D1Database, what: string, error: unknown): Promise<Refusal> {
  const failure = classify(error);
  if (isSchemaError(error)) return failedBy(what, error, await explainSchemaError(db));
  if (failure === "full") return failedBy(what, error, "database_full");
  if (failure === "stale" || failure === "refused" || isPermanent(error)) return failedBy(what, error);
  const refusal = failedBy(what, error, "unavailable");
  return failure === "unavailable" ? { ...refusal, retry: false } : refusal;
}

/** The D1 calls of one invocation on the free plan. */
export const INVOCATION_CALLS_MAX = 50;

/** Takes a number of calls. Returns false, and takes none, if fewer are left. */
export type Take = (calls: number) => boolean;

/** Returns calls shared by several tasks. Each task takes the calls of its next step, so no task starves another. */
export function shareCalls(most: number): Take {
  let left = most;
  return (calls) => {
    if (calls > left) return false;
    left -= calls;
    return true;
  };
}
