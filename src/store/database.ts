import { type Keyring, openKeyring } from "../crypto/keyring.ts";
import { logFailure } from "../log.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { parseSettings, type Settings } from "../settings.ts";
import { withDeadline } from "./deadline.ts";
import { forgetSchemaVersion, isSchemaError } from "./schema.ts";

/** What every function of the store works with. */
export interface Store {
  readonly db: D1Database;
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
  return keyring.ok ? ok({ db: env.DB, keyring: keyring.value, settings: settings.value, now }) : keyring;
}

/**
 * One D1 call that reads, or writes what may safely be written again: the statements run in one transaction.
 * Out: the rows of each statement, in order. Errors: `unavailable`, when D1 does not answer or refuses.
 * The caller names the row types, because only it knows its SQL.
 */
export async function runBatch<Rows extends unknown[]>(
  db: D1Database,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  try {
    const results = await withDeadline(db.batch(statements as D1PreparedStatement[]));
    return ok(results.map((result) => result.results) as { [K in keyof Rows]: Rows[K][] });
  } catch (error) {
    handleError("A D1 call", error);
    return fail("unavailable");
  }
}

/** The outcome of a batch: `stale` did nothing; whether `unknown` took effect is unknown. */
export type BatchOutcome = "committed" | "stale" | "unknown";

/** One D1 call that writes behind a fence: a violated constraint means that D1 rolled the batch back. */
export async function tryBatch(db: D1Database, statements: D1PreparedStatement[]): Promise<BatchOutcome> {
  try {
    await withDeadline(db.batch(statements));
    return "committed";
  } catch (error) {
    if (/constraint failed/.test(String(error))) return "stale";
    handleError("A D1 batch", error);
    return "unknown";
  }
}

function handleError(subject: string, error: unknown): void {
  if (isSchemaError(error)) forgetSchemaVersion();
  logFailure(subject, error);
}
