import type { Refusal } from "../model/result.ts";
import { fail } from "../model/result.ts";
import type { Call } from "./route.ts";

/** Rate limits, counted by the platform (the `ratelimits` of wrangler.toml): each Cloudflare location counts for itself. */

/** Whether a token asks too often. */
export async function limitToken(c: Call, token: string): Promise<Refusal | undefined> {
  const { success } = await c.env.TOKEN_RATE.limit({ key: token });
  return success ? undefined : fail("rate");
}

/**
 * Counts a failed authentication for the address that it came from; those who are let in are never counted.
 * Out: the refusal, or that there were too many. Off Cloudflare there may be no address, and then nothing to count for.
 */
export async function countFailure(c: Call, refusal: Refusal): Promise<Refusal> {
  const address = c.req.header("CF-Connecting-IP");
  if (!address || refusal.failure.kind !== "unauthorized") return refusal;
  const { success } = await c.env.FAILURE_RATE.limit({ key: network(address) });
  return success ? refusal : fail("rate");
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
