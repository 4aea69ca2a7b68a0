import { createCache } from "../crypto/cache.ts";
import { NOWHERE } from "../crypto/seal.ts";
import { logFailure } from "../log.ts";
import type { Activity, AdminResource } from "../model/activity.ts";
import { fail, type Refusal } from "../model/result.ts";
import { SECOND } from "../model/time.ts";

/** Rate limits, counted by the platform (the `ratelimits` of wrangler.toml): each Cloudflare location counts for itself. */

/** An isolate calls the platform's limiter once for this many requests of a token. */
const BUNDLE_REQUESTS = 50;

interface Usage {
  /** Requests since the last call of the limiter. */
  uncounted: number;
  /** The limiter has refused a request. It is then called for each request until it accepts one. */
  limited: boolean;
}

/** The tokens of this isolate. An unused entry expires, so up to 49 requests may stay uncounted. */
const tokens = createCache<Usage>(1024, 60_000);

/** Refuses a token with too many requests. `now` is in Unix milliseconds. The request counts as `cost` requests. Fails with `rate`. */
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
 * Counts a failed authentication for the client's address. Successful authentications are not counted. Returns `refusal`, or
 * `rate` above the limit. Outside Cloudflare a request may have no address; then nothing is counted.
 */
export async function countFailure(env: Env, address: string | undefined, refusal: Refusal): Promise<Refusal> {
  if (!address || refusal.failure.kind !== "unauthorized") return refusal;
  return (await within(env.FAILURE_RATE, network(address))) ? refusal : fail("rate");
}

/** The networks that have sent too many cookies of ended sessions, for as long as a 429 asks them to wait. */
const floods = createCache<true>(1024, 10 * SECOND);

/** Returns true if an address has recently sent too many cookies of ended sessions. `now` is in Unix milliseconds. */
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
 * Counts a request without a credential for the client's address, before any other work. Failed authentications have their own
 * count, and so have exchanges of workload tokens. Fails with `rate`.
 */
export async function limitAddress(
  env: Env,
  address: string | undefined,
  what: "open" | "exchange" = "open",
): Promise<Refusal | undefined> {
  return !address || (await within(env.FAILURE_RATE, `${what} ${network(address)}`)) ? undefined : fail("rate");
}

/**
 * Returns true if a denial is logged. A token without access must not fill the log of a vault, nor a client without a credential
 * the admin's log. In the admin's log each address has a limit: a fifth of the overall limit. Refused sign-ins do not count as
 * refused admin tokens. So no single address can keep other denials out of the log (docs/design/requests.md).
 */
export async function isWorthLogging(env: Env, { log, actor, resource, origin }: Activity): Promise<boolean> {
  if (log !== NOWHERE) return within(env.FAILURE_RATE, actor);
  const { requestIp: address } = origin;
  if (address && !(await within(env.DENIAL_RATE, network(address)))) return false;
  return within(env.FAILURE_RATE, DENIALS[resource ?? "VAULT"] ?? "denied admin");
}

/** The resources whose denials have their own count. */
const DENIALS: Partial<Readonly<Record<AdminResource, string>>> = { SESSION: "denied sign-in", EXCHANGE: "denied exchange" };

/** Counts one request. A failing limiter limits nobody: it protects against load and is not access control. */
async function within(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success;
  } catch (error) {
    logFailure("A rate limiter", error);
    return true;
  }
}

/**
 * Returns the network under which an address is counted. An IPv6 address counts as its /64, because a client usually has the
 * whole /64 (RFC 4291 section 2.5.1).
 */
function network(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::", 2);
  const left = head === "" ? [] : head.split(":");
  const right = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":");
}
