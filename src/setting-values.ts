import * as z from "zod";
import { fail, ok, type Result } from "./model/result.ts";

/**
 * Parses the values of settings (settings.ts). Errors: `misconfigured`, with a detail that names the variable and the rule, never its
 * value.
 */

/** A variable that is a number. `unit` converts it to the unit of the setting. */
export interface Numeric {
  readonly variable:
    | "MAX_INLINE_FILE_SIZE_KB"
    | "FILE_RETENTION_DAYS"
    | "ACTIVITY_RETENTION_DAYS"
    | "ACTIVITY_ARCHIVE_DAYS"
    | "ACTIVITY_MAX_ROWS"
    | "DATABASE_LIMIT_MB"
    | "VERSIONS_KEPT"
    | "DELETED_RETENTION_DAYS"
    | "BACKUPS_KEPT";
  readonly least: number;
  readonly most?: number;
  readonly unit: number;
  /** The value of an absent variable. Without it the variable is required. */
  readonly absent?: number;
}

const rfc3339 = z.iso.datetime({ offset: true });

/** `Date.parse` alone would accept "restore 2" as a date in 2001, and so refuse no token. */
export function parseTime(text: string | undefined): Result<number> {
  if (!text) return ok(0);
  return rfc3339.safeParse(text).success ? ok(Date.parse(text) / 1000) : fail("misconfigured", "TOKENS_NOT_BEFORE is not a time");
}

/** Out: `undefined` without a nightly backup. */
export function parseHour(value: number | string | undefined): Result<number | undefined> {
  if (value === undefined || value === "off") return ok(undefined);
  return /^(\d|1\d|2[0-3])$/.test(String(value))
    ? ok(Number(value))
    : fail("misconfigured", "BACKUP_HOUR is neither off nor 0 to 23");
}

/** Only this machine: the setting must not open a private network to webhooks. */
export const parseTestOrigin = (text: string | undefined): Result<string | undefined> =>
  !text || /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/.test(text)
    ? ok(text || undefined)
    : fail("misconfigured", "WEBHOOK_TEST_ORIGIN is not the origin of a port of this machine");

/** wrangler.toml gives numbers, the dashboard gives texts. `Number` alone would accept the empty text as 0. */
export function parseNumber(written: unknown, { variable, least, most = Infinity, unit, absent }: Numeric): Result<number> {
  const value: unknown = written === undefined ? absent : written;
  const number = /^\d{1,9}(\.\d{1,9})?$/.test(String(value)) ? Number(value) : Number.NaN;
  // A fraction of a millisecond would give operation ids and due times that no comparison expects.
  if (number > most) return fail("misconfigured", `${variable} is more than ${most}`);
  return number >= least
    ? ok(Math.round(number * unit))
    : fail("misconfigured", `${variable} is not a number, or less than ${least}`);
}
