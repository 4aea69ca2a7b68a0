import { ENDING } from "../../model/ending.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";

/** The tokens that end soon, for /health and /metrics (contract 13.3, 13.4). */

/**
 * SQL: whether a row of `tokens` is such a token. In: ?1, Unix milliseconds. As `endsSoon`; a row of another kind is no token, or lives for hours.
 * The index `tokens_ending` has the condition on the lifetime.
 */
export const ENDS_SOON = `(expires_at > ?1 AND expires_at <= ?1 + ${ENDING.within} AND expires_at - created_at > ${ENDING.lifetimeAbove}
  AND (kind IS NULL OR kind = 'admin'))`;

const SQL = `SELECT count(*) AS ending FROM tokens WHERE ${ENDS_SOON}`;

const IN_DAYS = { within: ENDING.within / DAY, lifetime: ENDING.lifetimeAbove / DAY };

/** What /metrics says of them. */
export const ENDING_HELP = `Tokens of more than ${IN_DAYS.lifetime} days that expire within ${IN_DAYS.within} days.`;

/** What /health says without one. */
export const NONE_ENDING = `No token of more than ${IN_DAYS.lifetime} days expires within ${IN_DAYS.within} days`;

/** For /health, which needs no token: how many there are, and no name. In: Unix milliseconds. Out: `undefined` without one. */
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
