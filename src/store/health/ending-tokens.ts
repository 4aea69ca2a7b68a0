import { ENDING } from "../../model/ending.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";

/** The tokens that end soon, for /health and /metrics (contract 13.3, 13.4). */

/**
 * SQL: true for a row of `tokens` that is about to expire, as `endsSoon` defines it. ?1 is in Unix milliseconds. Rows of other
 * kinds are not tokens, or live for hours. The index `tokens_ending` has the condition on the lifetime.
 */
export const ENDS_SOON = `(expires_at > ?1 AND expires_at <= ?1 + ${ENDING.within} AND expires_at - created_at > ${ENDING.lifetimeAbove}
  AND (kind IS NULL OR kind = 'admin'))`;

const SQL = `SELECT count(*) AS ending FROM tokens WHERE ${ENDS_SOON}`;

const IN_DAYS = { within: ENDING.within / DAY, lifetime: ENDING.lifetimeAbove / DAY };

/** The help text of /metrics. */
export const ENDING_HELP = `Tokens of more than ${IN_DAYS.lifetime} days that expire within ${IN_DAYS.within} days.`;

/** The message of /health if there is none. */
export const NONE_ENDING = `No token of more than ${IN_DAYS.lifetime} days expires within ${IN_DAYS.within} days`;

/**
 * Returns the number of tokens about to expire for /health, which needs no token: a count without names. `now` is in Unix
 * milliseconds. Returns undefined if there are none.
 */
export async function probeTokens(
  db: D1Database,
  now: number,
): Promise<Result<{ readonly status: "WARNING"; readonly message: string; readonly count: number } | undefined>> {
  const read = await runBatch<[{ readonly ending: number }]>(db, db.prepare(SQL).bind(now));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const count = read.value[0][0]?.ending ?? 0;
  if (count === 0) return ok(undefined);
  const [noun, verb] = count === 1 ? ["token", "expires"] : ["tokens", "expire"];
  const message = `${count} ${noun} of more than ${IN_DAYS.lifetime} days ${verb} within ${IN_DAYS.within} days: \`item-vault token reissue\` replaces one`;
  return ok({ status: "WARNING", message, count });
}
