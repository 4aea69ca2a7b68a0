import * as z from "zod/mini";
import { SECRET_CHARACTERS_MIN } from "./model/limits.ts";
import { fail, ok, type Result } from "./model/result.ts";
import { type Access, parseAccess, parseSignInIssuer, type SignInIssuer } from "./model/sign-in-issuer.ts";
import { DAY } from "./model/time.ts";

/**
 * The variables of wrangler.toml and the optional secrets, parsed once for all layers. While one setting is malformed, or a secret may be
 * known or guessed, every data route is refused.
 */
export interface Settings {
  /** Unix seconds. A token that was issued before is refused. */
  readonly tokensNotBefore: number;
  /** Bytes. A larger File is not inlined. */
  readonly inlineLimit: number;
  /** Milliseconds for which R2 keeps the content of a deleted File. */
  readonly fileRetention: number;
  /** Milliseconds for which the activity log keeps an entry. */
  readonly activityRetention: number;
  /**
   * Milliseconds for which an entry can be exported: after the retention from the archive in R2. There is no archive if this is not longer
   * than the retention.
   */
  readonly activityArchive: number;
  /** The approximate maximum bytes of the reads and denials of one log. */
  readonly activityBytes: number;
  /** Bytes that the database may hold: the limit of the operator's plan. */
  readonly databaseLimit: number;
  /** Number of earlier versions that an Item keeps besides the current one. */
  readonly versionsKept: number;
  /** Milliseconds for which a deleted Item can be restored; 0: a deletion destroys the Item at once. */
  readonly deletedRetention: number;
  /** Number of nightly backups to keep. */
  readonly backupsKept: number;
  /** After this number of calls to D1, buckets and coordinators, a step of a job starts no further work. */
  readonly stepCalls: number;
  /** The hour (UTC) in which the nightly backup begins; `undefined`: there is none. */
  readonly backupHour: number | undefined;
  /** Origins to which the service may send requests although their hosts are not public. */
  readonly allowedOrigins: readonly string[];
  /** The APIs of other products that the service also serves. */
  readonly doors: readonly Door[];
  /** The audience that tokens of workloads must have; `undefined`: the origin of the request. */
  readonly workloadAudience: string | undefined;
  /** The Access application with which people sign in; `undefined`: there is none. */
  readonly access: Access | undefined;
  /** The identity provider with which people sign in; `undefined`: there is none. */
  readonly oidc: SignInIssuer | undefined;
}

const NUMBERS = {
  inlineLimit: { variable: "MAX_INLINE_FILE_SIZE_KB", least: 0, unit: 1024 },
  fileRetention: { variable: "FILE_RETENTION_DAYS", least: 0, unit: DAY },
  // The log also shows which writes took effect, and idempotency records live for a day.
  activityRetention: { variable: "ACTIVITY_RETENTION_DAYS", least: 1, unit: DAY },
  activityArchive: { variable: "ACTIVITY_ARCHIVE_DAYS", least: 0, unit: DAY },
  activityBytes: { variable: "ACTIVITY_MAX_MB", least: 1, unit: 1_000_000 },
  databaseLimit: { variable: "DATABASE_LIMIT_MB", least: 1, unit: 1_000_000 },
  versionsKept: { variable: "VERSIONS_KEPT", least: 0, most: 100, unit: 1 },
  backupsKept: { variable: "BACKUPS_KEPT", least: 1, unit: 1 },
  stepCalls: { variable: "JOB_STEP_CALLS", least: 1, most: 400, unit: 1 },
  deletedRetention: { variable: "DELETED_RETENTION_DAYS", least: 0, unit: DAY },
} satisfies Readonly<Record<string, Numeric>>;

const parsed = new WeakMap<object, Result<Settings>>();

/**
 * Parses the variables. The result is cached per `env` object, which the platform keeps for the life of the isolate. Fails with
 * `misconfigured`. The detail names each variable that is malformed and its rule, never its value.
 */
export function parseSettings(env: Env): Result<Settings> {
  const cached = parsed.get(env) ?? parseAll(env);
  parsed.set(env, cached);
  return cached;
}

/** D1's Sessions API, which every commit uses, hangs under this flag as soon as the database has read replicas. */
const HANGING_FLAG = "global_fetch_strictly_public";

function parseAll(env: Env): Result<Settings> {
  const numbers = Object.entries<Numeric>(NUMBERS).map(([name, rule]) => [name, parseNumber(env[rule.variable], rule)] as const);
  const allowedOrigins = parseAllowedOrigins(env.WEBHOOK_TEST_ORIGIN, env.ALLOWED_HOSTS);
  const others: { readonly [K in Exclude<keyof Settings, keyof typeof NUMBERS>]: Result<Settings[K]> } = {
    tokensNotBefore: parseTime(env.TOKENS_NOT_BEFORE),
    allowedOrigins,
    workloadAudience: parseAudience(env.WORKLOAD_AUDIENCE),
    doors: parseDoors(env.DOORS),
    access: parseAccess(env.ACCESS_TEAM, env.ACCESS_AUD),
    oidc: parseSignInIssuer(
      env.OIDC_ISSUER,
      env.OIDC_CLIENT_ID,
      env.OIDC_CLIENT_SECRET,
      allowedOrigins.ok ? allowedOrigins.value : [],
    ),
    backupHour: parseHour(env.BACKUP_HOUR),
  };
  const settings: Record<string, unknown> = {};
  const faults = [...faultsAround(env)];
  for (const [name, result] of [...Object.entries<Result<unknown>>(others), ...numbers]) {
    if (result.ok) settings[name] = result.value;
    else faults.push(result.failure.detail!);
  }
  return faults.length === 0 ? ok(settings as unknown as Settings) : fail("misconfigured", faults.join("; "));
}

/** Yields the faults of the compatibility flags and of the secrets. */
function* faultsAround(env: Env): Generator<string> {
  if (Cloudflare.compatibilityFlags[HANGING_FLAG])
    yield `compatibility_flags has ${HANGING_FLAG}, under which writes to D1 can hang: remove it`;
  for (const name of ["ADMIN_TOKEN", "METRICS_TOKEN"] as const) {
    const weakness = weaknessOf(env[name]);
    if (weakness) yield `${name} ${weakness}: set it to the output of openssl rand -base64 32`;
  }
  if (env.ADMIN_TOKEN && env.ADMIN_TOKEN === env.METRICS_TOKEN)
    yield "METRICS_TOKEN is the ADMIN_TOKEN: whoever reads the metrics could do everything";
}

/** Returns the fault of a TOKENS_NOT_BEFORE that would refuse a token issued at a time in Unix seconds. */
export const refusesNew = ({ tokensNotBefore }: Settings, issuedAt: number): string | undefined =>
  issuedAt < tokensNotBefore
    ? "TOKENS_NOT_BEFORE is in the future: until then every token and session is refused, and none is issued"
    : undefined;

/**
 * Returns the weakness of a secret: it is a placeholder, it is short, or it cannot be sent as a bearer token (RFC 6750 section
 * 2.1). An absent secret needs no check, because its routes do not exist.
 */
export function weaknessOf(secret: string | undefined): string | undefined {
  if (!secret) return undefined;
  if (/^\s*replace-me/i.test(secret)) return "is a placeholder";
  if (!/^[\x21-\x7e]*$/.test(secret)) return "has a blank, or a character that is not printable ASCII";
  return secret.length < SECRET_CHARACTERS_MIN ? `has fewer than ${SECRET_CHARACTERS_MIN} characters` : undefined;
}

/** Parses the values of settings (settings.ts). Fails with `misconfigured`; the detail names the variable and the rule, never the value. */

/** A variable that is a number. `unit` converts it to the unit of the setting. */
interface Numeric {
  readonly variable: keyof Env;
  readonly least: number;
  readonly most?: number;
  readonly unit: number;
}

const rfc3339 = z.iso.datetime({ offset: true });

/** `Date.parse` alone would accept "restore 2" as a date in 2001, and so refuse no token. */
function parseTime(text: string | undefined): Result<number> {
  if (!text) return ok(0);
  return rfc3339.safeParse(text).success ? ok(Date.parse(text) / 1000) : fail("misconfigured", "TOKENS_NOT_BEFORE is not a time");
}

/** Returns undefined if there is no nightly backup. */
function parseHour(value: number | string | undefined): Result<number | undefined> {
  if (value === undefined || value === "off") return ok(undefined);
  return /^(\d|1\d|2[0-3])$/.test(String(value))
    ? ok(Number(value))
    : fail("misconfigured", "BACKUP_HOUR is neither off nor 0 to 23");
}

const parseAudience = (text: string | undefined): Result<string | undefined> =>
  !text || /^[\x21-\x7e]{1,255}$/.test(text)
    ? ok(text || undefined)
    : fail("misconfigured", "WORKLOAD_AUDIENCE is not 1 to 255 printable ASCII characters without spaces");

const DOORS = ["vault"] as const;
type Door = (typeof DOORS)[number];

/** Parses names that are separated by commas. The router needs them where other settings are malformed. */
export function parseDoors(text: string | undefined): Result<readonly Door[]> {
  const names = (text ?? "").split(",").flatMap((name) => name.trim() || []);
  const doors = names.flatMap((name) => DOORS.find((door) => door === name) ?? []);
  return doors.length === names.length ? ok(doors) : fail("misconfigured", `DOORS names another API than ${DOORS.join(", ")}`);
}

/**
 * Parses the origins that need not be public: one origin of this machine for tests, and https origins of the hosts from
 * `item-vault server --allow-host`. The test origin must not open a private network.
 */
function parseAllowedOrigins(testOrigin: string | undefined, hosts: string | undefined): Result<readonly string[]> {
  if (testOrigin && !(/^https?:\/\/(127\.0\.0\.1|localhost|\[::1\]):[1-9]\d*$/.test(testOrigin) && URL.canParse(testOrigin)))
    return fail("misconfigured", "WEBHOOK_TEST_ORIGIN is not the origin of a port of this machine");
  const origins = (hosts || "").split(",").flatMap((host) => (host === "" ? [] : `https://${host}`));
  if (!origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin))
    return fail("misconfigured", "ALLOWED_HOSTS is not a list of hosts, each with its port unless that is 443");
  return ok(testOrigin ? [testOrigin, ...origins] : origins);
}

/** wrangler.toml gives numbers, the dashboard gives texts. `Number` alone would accept the empty text as 0. */
function parseNumber(value: unknown, { variable, least, most = Infinity, unit }: Numeric): Result<number> {
  const number = /^\d{1,9}(\.\d{1,9})?$/.test(String(value)) ? Number(value) : Number.NaN;
  // A fraction of a millisecond would give operation ids and due times that no comparison expects.
  if (number > most) return fail("misconfigured", `${variable} is more than ${most}`);
  if (unit === 1 && number % 1 > 0) return fail("misconfigured", `${variable} is not a whole number`);
  return number >= least
    ? ok(Math.round(number * unit))
    : fail("misconfigured", `${variable} is not a number, or less than ${least}`);
}
