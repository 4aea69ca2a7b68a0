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

const NUMBERS = ["MAX_INLINE_FILE_SIZE_KB", "FILE_RETENTION_DAYS", "ACTIVITY_RETENTION_DAYS"] as const;

/** Looks at all of them. Errors: `misconfigured`, with what is wrong in words. */
export function checkSettings(env: Env): Result<unknown> {
  const wrong = NUMBERS.find((name) => !((env[name] as unknown) !== "" && Number(env[name] as unknown) >= 0));
  return wrong === undefined ? readNotBefore(env.TOKENS_NOT_BEFORE) : fail("misconfigured", `${wrong} is not a number`);
}
