import { createRemoteJWKSet, type JWTHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import type { Access } from "../model/access.ts";
import { isEmail, normalizeEmail } from "../model/email.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { MINUTE, SECOND } from "../model/time.ts";
import { createCache } from "./cache.ts";

/** The tokens of Cloudflare Access: JWTs (RFC 7519) signed with RS256, whose keys the team's domain publishes (RFC 7517). */

/** Who an Access token says is there. */
export interface AccessIdentity {
  /** Normalized (model/email.ts). */
  readonly email: string;
  /** When the token expires, in Unix seconds. */
  readonly expiresAt: number;
}

const TOKEN_CHARACTERS_MAX = 16 * 1024;
/** Other machines make the tokens, and their clocks may be ahead. */
const CLOCK_SKEW_MS_MAX = MINUTE;
/** Parameters that name or bring a key, or ask for more than a signature. Access sends none; none is followed. */
const FOREIGN = ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip"];

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** By issuer: `jose` keeps the keys for ten minutes, and fetches them again for an unknown key id, at most every 30 seconds. */
const keySets = new Map<string, KeySet>();
/** Issuers whose keys could not be fetched: not tried again for a second, so that tokens with unknown key ids do not cause a fetch each. */
const failing = createCache<true>(8, SECOND);

/**
 * Verifies a token. In: Unix milliseconds, and what is told why the keys could not be fetched. Errors: `unauthorized`, whatever the fault
 * of the token; `access_unavailable`, when the keys cannot be fetched: then nothing is known of the token.
 */
export async function verifyAccessToken(
  access: Access,
  token: string,
  now: number,
  report: (error: unknown) => void,
): Promise<Result<AccessIdentity>> {
  if (token.length > TOKEN_CHARACTERS_MAX || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return fail("unauthorized");
  let unavailable = false;
  try {
    const { payload } = await jwtVerify(
      token,
      async (header, parts) => {
        if (typeof header.kid !== "string" || FOREIGN.some((name) => name in header)) throw new Error("not a header of Access");
        const keys = keySetOf(access);
        unavailable = failing.get(access.issuer, now) === true && !isKnown(keys, header);
        if (unavailable) throw new Error("the keys could not be fetched a moment ago");
        try {
          return await keys(header, parts);
        } catch (error) {
          unavailable = !isUnknownKey(error);
          if (unavailable) failing.set(access.issuer, true, now);
          throw error;
        }
      },
      {
        algorithms: ["RS256"],
        issuer: access.issuer,
        audience: access.audience,
        requiredClaims: ["exp", "iat"],
        clockTolerance: CLOCK_SKEW_MS_MAX / SECOND,
        currentDate: new Date(now),
      },
    );
    const identity = parseIdentity(payload, now);
    return identity ? ok(identity) : fail("unauthorized");
  } catch (error) {
    if (!unavailable) return fail("unauthorized"); // the error may quote the token
    report(error);
    return fail("access_unavailable");
  }
}

function keySetOf({ issuer }: Access): KeySet {
  const keys = keySets.get(issuer) ?? createRemoteJWKSet(new URL("/cdn-cgi/access/certs", issuer));
  keySets.set(issuer, keys);
  return keys;
}

/** Whether the key of a token is there and needs no fetch. */
const isKnown = (keys: KeySet, { kid }: JWTHeaderParameters): boolean =>
  keys.fresh && keys.jwks()?.keys.some((key) => key.kid === kid) === true;

/** Whether the keys are there and the token names none of them. */
const isUnknownKey = (error: unknown): boolean =>
  /^ERR_JWKS_(NO|MULTIPLE)_MATCHING_KEYS?$/.test(String((error as { code?: unknown }).code));

/**
 * Out: `undefined` for a token that is not that of a person who has signed in to an application: one of a service has no email. The
 * expiry has no tolerance: the session that begins with the token ends with it.
 */
function parseIdentity({ email, exp, iat, type, common_name: service }: JWTPayload, now: number): AccessIdentity | undefined {
  if (typeof email !== "string" || !isEmail(email) || service !== undefined) return undefined;
  if (type !== undefined && type !== "app") return undefined;
  if (exp! * SECOND <= now || iat! * SECOND > now + CLOCK_SKEW_MS_MAX) return undefined;
  return { email: normalizeEmail(email), expiresAt: exp! };
}
