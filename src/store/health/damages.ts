import { KEYS_ARE_DAMAGED } from "../../crypto/vault-keys.ts";
import { logRefusal } from "../../log.ts";
import type { Failure } from "../../model/failure.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY, MINUTE } from "../../model/time.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { checkRootKeys } from "../keys/root-keys.ts";
import { into } from "../tables/statements.ts";

/**
 * The time of the last read of data that could not be decrypted, for /health and /metrics (contract 13.3, 13.4). The table `counters` keeps
 * it. `verify` names the rows.
 */

const NAME = "damaged_read_at";

const SQL = {
  record: `INSERT ${into("counters")} VALUES ('${NAME}', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  read: `SELECT value FROM counters WHERE name = '${NAME}'`,
};

/**
 * Time at which this isolate recorded a read, in Unix milliseconds. It records once a minute, so that reading a list repeatedly costs
 * little.
 */
let recordedAt = 0;

/**
 * Records that data could not be decrypted, in two D1 calls. With wrong root keys nothing is damaged, and nothing is recorded. Never fails:
 * an unrecorded read is recorded the next time.
 */
export async function recordDamage({ primary: db, keyring, now }: Store): Promise<void> {
  if (Math.abs(now - recordedAt) < MINUTE) return;
  recordedAt = now;
  const checked = await checkRootKeys(db, keyring);
  if (!checked.ok && checked.cause) logRefusal(checked);
  if (!checked.ok) return;
  const recorded = await runBatch(db, db.prepare(SQL.record).bind(now));
  if (!recorded.ok) logRefusal(recorded);
}

/** Returns true if a request's failure indicates damaged data. */
export const isDamage = ({ kind, detail }: Failure): boolean =>
  kind === "integrity" || (kind === "misconfigured" && detail === KEYS_ARE_DAMAGED);

export interface DamageRow {
  /** In Unix milliseconds. */
  readonly value: number;
}

/** Returns the statement that reads the time of the last damaged read: at most one `DamageRow`. */
export const damageStatement = (db: D1Database): D1PreparedStatement => db.prepare(SQL.read);

/** Returns a warning for /health if damaged data was read in the last day. `now` is in Unix milliseconds. */
export async function probeDamage(db: D1Database, now: number): Promise<Result<string | undefined>> {
  const read = await runBatch<[DamageRow]>(db, damageStatement(db));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const [[row]] = read.value;
  const warns = row !== undefined && row.value > now - DAY;
  return ok(warns ? "Data could not be decrypted in the last 24 hours: `item-vault admin verify` names it" : undefined);
}
