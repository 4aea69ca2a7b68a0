import { createCache } from "../crypto/cache.ts";
import { NOWHERE } from "../crypto/seal.ts";
import type { Activity, AdminResource } from "../model/activity.ts";
import { network } from "../model/network.ts";
import { fail, type Refusal } from "../model/result.ts";
import { SECOND } from "../model/time.ts";
import { logFailure } from "../log.ts";

/** Rate limits, counted by the platform (the `ratelimits` of wrangler.toml): each Cloudflare location counts for itself. */

/** An isolate calls the platform's limiter once for this many requests of a token. */
const BUNDLE_REQUESTS = 50;

interface Usage {
  /** Requests since the last call of the limiter. */
  uncounted: number;
  /** Whether the limiter refused. Then it is called for each request until it accepts one. */
  limited: boolean;
}

/** The tokens of this isolate. An unused entry expires, so up to 49 requests may stay uncounted. */
const tokens = createCache<Usage>(1024, 60_000);

/** Refuses a token with too many requests. In: Unix milliseconds, and as how many requests this one counts. Errors: `rate`. */
export async function limitToken(env: Env, token: string, now: number, cost = 1): Promise<Refusal | undefined> {
  const usage = tokens.get(token, now) ?? { uncounted: 0, limited: false };
  tokens.set(token, usage, now);
  usage.uncounted += cost;
  if (usage.uncounted < BUNDLE_REQUESTS && !usage.limited) return undefined;
  const bundles = Math.max(1, Math.floor(usage.uncounted / BUNDLE_REQUESTS));
  usage.uncounted = Math.max(0, usage.uncounted - bundles * BUNDLE_REQUESTS);
  usage.limited = false;
  for (let counted = 0; counted < bundles && !usage.limited; counted++) usage.limited = !(await within(env.TOKEN_RATE, token));
  return usage.limited ? fail("rate") : undefined;
}

/**
 * Counts a failed authentication for the client's address. Successful ones are not counted.
 * Out: the refusal, or `rate`. Outside of Cloudflare a request may have no address; then nothing is counted.
 */
export async function countFailure(env: Env, address: string | undefined, refusal: Refusal): Promise<Refusal> {
  if (!address || refusal.failure.kind !== "unauthorized") return refusal;
  return (await within(env.FAILURE_RATE, network(address))) ? refusal : fail("rate");
}

/** The networks that have sent too many cookies of ended sessions, for as long as a 429 tells them to wait. */
const floods = createCache<true>(1024, 10 * SECOND);

/** Whether an address has sent too many cookies of ended sessions lately. `now` is in Unix milliseconds. */
export const isFlooding = (address: string | undefined, now: number): boolean =>
  address !== undefined && floods.get(network(address), now) === true;

/**
 * Counts a cookie of an ended session for the client's address, after D1 has refused it. FAILURE_RATE does not count it: a browser sends its
 * cookie by itself, and an office shares an address.
 */
export async function countEndedSession(env: Env, address: string | undefined, now: number): Promise<void> {
  if (address && !(await within(env.SESSION_RATE, network(address)))) floods.set(network(address), true, now);
}

/**
 * Counts a request that needs no credential, for the client's address, before any other work. Failed authentications are counted apart.
 * Errors: `rate`.
 */
export async function limitAddress(env: Env, address: string | undefined): Promise<Refusal | undefined> {
  return !address || (await within(env.FAILURE_RATE, `open ${network(address)}`)) ? undefined : fail("rate");
}

/**
 * Whether a denial is logged: a token without access must not fill the log of a vault, and somebody without any credential not that of the
 * admin. There each address has a limit of its own, which is a fifth of the limit of all, and refused sign-ins do not count for
 * refused admin tokens: no single address can keep the denials of others out of the log (decision 0043).
 */
export async function isWorthLogging(env: Env, { log, actor, resource, origin }: Activity): Promise<boolean> {
  if (log !== NOWHERE) return within(env.FAILURE_RATE, actor);
  const { requestIp: address } = origin;
  if (address && !(await within(env.DENIAL_RATE, network(address)))) return false;
  return within(env.FAILURE_RATE, DENIALS[resource ?? "VAULT"] ?? "denied admin");
}

/** What counts for itself, by the resource. */
const DENIALS: Partial<Readonly<Record<AdminResource, string>>> = { SESSION: "denied sign-in", EXCHANGE: "denied exchange" };

/**
 * Counts an exchange of a workload's token for the client's address, before anything of it is looked at: it costs D1 calls, and may cost a
 * fetch. Outside of Cloudflare a request may have no address; then nothing is counted. Errors: `rate`.
 */
export async function limitExchange(env: Env, address: string | undefined): Promise<Refusal | undefined> {
  return !address || (await within(env.FAILURE_RATE, `exchange ${network(address)}`)) ? undefined : fail("rate");
}

/** Counts one request. A limiter that fails limits nobody: it protects against load and is no access control. */
async function within(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success;
  } catch (error) {
    logFailure("A rate limiter", error);
    return true;
  }
}
