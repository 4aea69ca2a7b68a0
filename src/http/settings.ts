import * as z from "zod";
import { fail, ok, type Result } from "../model/result.ts";

/** The variables of wrangler.toml. */

const rfc3339 = z.iso.datetime({ offset: true });

/**
 * The Unix second before which no token is accepted. Errors: `misconfigured`, when the variable is no RFC 3339 time.
 * What `Date.parse` takes for a date besides ("restore 2" is one in 2001) would let every token in.
 */
export function readNotBefore(text: string | undefined): Result<number> {
  if (!text) return ok(0);
  return rfc3339.safeParse(text).success ? ok(Date.parse(text) / 1000) : fail("misconfigured", "TOKENS_NOT_BEFORE is not a time");
}

/** The least that each may be. The log also tells which writes took effect, so it is kept a day at least. */
const LEAST = { MAX_INLINE_FILE_SIZE_KB: 0, FILE_RETENTION_DAYS: 0, ACTIVITY_RETENTION_DAYS: 1 };

/** Reads a variable that is a number. Errors: `misconfigured`. */
export function readNumber(env: Env, name: keyof typeof LEAST): Result<number> {
  const given = env[name] as number | string; // a dashboard gives texts
  const value = given === "" ? Number.NaN : Number(given);
  return value >= LEAST[name] ? ok(value) : fail("misconfigured", `${name} is not a number, or less than ${LEAST[name]}`);
}

/** Looks at all of them. Errors: `misconfigured`, with what is wrong in words. */
export function checkSettings(env: Env): Result<unknown> {
  const numbers = (Object.keys(LEAST) as (keyof typeof LEAST)[]).map((name) => readNumber(env, name));
  return numbers.find((number) => !number.ok) ?? readNotBefore(env.TOKENS_NOT_BEFORE);
}
