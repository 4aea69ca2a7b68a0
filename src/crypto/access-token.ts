import { createRemoteJWKSet } from "jose";
import type { Access } from "../model/cloudflare-access.ts";
import { isEmail, normalizeEmail } from "../model/email.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { JsonObject } from "../model/strict-json.ts";
import { SECOND } from "../model/time.ts";
import { usableKeys, type WorkloadKey } from "../model/workload-keys.ts";
import { createCache } from "./cache.ts";
import { parseJwt, type VerifiedJwt, verifyJwt } from "./jwt.ts";

/** The tokens of Cloudflare Access: JWTs (RFC 7519) signed with RS256, whose keys the team's domain publishes (RFC 7517). */

/** The person of an Access token. */
export interface AccessIdentity {
  /** Normalized (model/email.ts). */
  readonly email: string;
  /** When the token expires, in Unix seconds. The session that begins with the token ends with it. */
  readonly expiresAt: number;
}

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** By issuer: `jose` keeps the keys for ten minutes, and fetches them again for an unknown key id, at most every 30 seconds. */
const keySets = new Map<string, KeySet>();
/** Issuers whose keys could not be fetched: not tried again for a second, so that tokens with unknown key ids do not cause a fetch each. */
const failing = createCache<true>(8, SECOND);

/**
 * Verifies a token at a time in Unix milliseconds. Fails with `unauthorized`, whatever the fault of the token; with `access_unavailable`, when the
 * keys cannot be fetched, and tells `report` why: then nothing is known of the token.
 */
export async function verifyAccessToken(
  access: Access,
  text: string,
  now: number,
  report: (error: unknown) => void,
): Promise<Result<AccessIdentity>> {
  const token = parseJwt(text);
  if (!token.ok || token.value.algorithm !== "RS256") return fail("unauthorized");
  const keys = await loadKeys(access, token.value.keyId, now).catch((error: unknown) => report(error));
  if (!keys) return fail("access_unavailable");
  const expected = { ...access, notBefore: 0, lifetimeMax: Infinity };
  const verified = await verifyJwt(token.value, keys, expected, now);
  const identity = verified.ok ? parseIdentity(verified.value) : undefined;
  return identity ? ok(identity) : fail("unauthorized");
}

/** Returns the keys of a team; fetches them when they are old or lack the key. Throws when they cannot be fetched. */
async function loadKeys({ issuer }: Access, kid: string, now: number): Promise<readonly WorkloadKey[]> {
  const set = keySets.get(issuer) ?? createRemoteJWKSet(new URL("/cdn-cgi/access/certs", issuer));
  keySets.set(issuer, set);
  const isKnown = set.fresh && set.jwks()?.keys.some((key) => key.kid === kid) === true;
  if (!isKnown && failing.get(issuer, now)) throw new Error("the keys could not be fetched a moment ago");
  try {
    await set({ alg: "RS256", kid });
  } catch (error) {
    if (!isUnknownKey(error)) {
      failing.set(issuer, true, now);
      throw error;
    }
  }
  return usableKeys(set.jwks()?.keys ?? []).filter(({ alg }) => alg === "RS256");
}

/** Whether the keys are there and the token names none of them. */
const isUnknownKey = (error: unknown): boolean =>
  /^ERR_JWKS_(NO|MULTIPLE)_MATCHING_KEYS?$/.test(String((error as { code?: unknown }).code));

/** Returns nothing for a token that is not that of a person who has signed in to an application: one of a service has no email. */
function parseIdentity({ payload, expiresAt }: VerifiedJwt): AccessIdentity | undefined {
  const { email, type, common_name: service }: JsonObject = payload;
  if (typeof email !== "string" || !isEmail(email) || service !== undefined) return undefined;
  return type === undefined || type === "app" ? { email: normalizeEmail(email), expiresAt } : undefined;
}
