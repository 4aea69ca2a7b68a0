import { createCache } from "../crypto/cache.ts";
import { fail, type Refusal } from "../model/result.ts";
import { report } from "../store/report.ts";
import type { Call } from "./route.ts";

/** Rate limits, counted by the platform (the `ratelimits` of wrangler.toml): each Cloudflare location counts for itself. */

/** The platform is asked once for so many requests that an isolate serves for one token: the limit counts bundles. */
const BUNDLE = 50;

interface Asked {
  /** Requests since the platform was asked last. */
  uncounted: number;
  /** Whether it said no: then it is asked each time, until it says yes. */
  limited: boolean;
}

/** Of the tokens that this isolate has seen; forgotten when they rest, which lets up to 49 requests more through. */
const tokens = createCache<Asked>(1024, 60_000);

/** Whether a token asks too often. In: Unix milliseconds. */
export async function limitToken(c: Call, token: string, now: number): Promise<Refusal | undefined> {
  const asked = tokens.get(token, now) ?? { uncounted: 0, limited: false };
  tokens.set(token, asked, now);
  if (++asked.uncounted < BUNDLE && !asked.limited) return undefined;
  asked.uncounted = 0;
  asked.limited = !(await within(c.env.TOKEN_RATE, token));
  return asked.limited ? fail("rate") : undefined;
}

/**
 * Counts a failed authentication for the address that it came from; those who are let in are never counted.
 * Out: the refusal, or that there were too many. Off Cloudflare there may be no address, and then nothing to count for.
 */
export async function countFailure(c: Call, refusal: Refusal): Promise<Refusal> {
  const address = c.req.header("CF-Connecting-IP");
  if (!address || refusal.failure.kind !== "unauthorized") return refusal;
  return (await within(c.env.FAILURE_RATE, network(address))) ? refusal : fail("rate");
}

/** Whether a denial is still to be logged: who is let in nowhere must not fill the log of those who are. */
export const isWorthLogging = (c: Call, token: string): Promise<boolean> => within(c.env.FAILURE_RATE, token);

/** Counts one more. A limiter that does not answer limits nobody: it guards against load, not against people. */
async function within(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success;
  } catch (error) {
    report("a rate limiter", error);
    return true;
  }
}

/** An IPv6 address stands for its /64 (RFC 4291 section 2.5.1): its holder has all of them. */
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
