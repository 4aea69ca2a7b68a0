import { isEmail, normalizeEmail } from "../model/email.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { JsonObject } from "../model/strict-json.ts";
import type { VerifiedJwt } from "./jwt.ts";

/** The people of verified tokens: of Cloudflare Access, and of ID tokens (OpenID Connect Core 1.0 section 2). */

/** Somebody whom an issuer has authenticated. It does not reveal whether this service knows them. */
export interface Identity {
  /** `iss` and `sub`: they name the account for good, as the email does not. */
  readonly issuer: string;
  readonly subject: string;
  /** Normalized (model/email.ts). */
  readonly email: string;
  /** All claims of the token, for rules. */
  readonly claims: JsonObject;
  /** The identity of the token, as in `VerifiedJwt`. */
  readonly jti: string;
}

/** Characters of `sub` (OpenID Connect Core 1.0 section 2). */
const SUBJECT_MAX = 255;

/** Accepted values of `email_verified`. Some providers write it as a string, and some omit it. */
const VERIFIED: ReadonlySet<unknown> = new Set([undefined, true, "true"]);

/** Fails with `unauthorized` for a token without `sub`, and with `account_refused` for one without an email that is verified. */
export function parseIdentity({ payload, jti }: VerifiedJwt): Result<Identity> {
  const { iss, sub, email, email_verified: verified } = payload;
  if (typeof sub !== "string" || sub === "" || sub.length > SUBJECT_MAX || !sub.isWellFormed()) return fail("unauthorized");
  if (typeof email !== "string" || !isEmail(email))
    return fail("account_refused", "The identity provider has not given your email address: ask an administrator");
  if (!VERIFIED.has(verified))
    return fail("account_refused", "Your email address is not verified: verify it at the identity provider, then sign in again");
  return ok({ issuer: iss as string, subject: sub, email: normalizeEmail(email), claims: payload, jti });
}

/** Returns true if a token of Cloudflare Access belongs to a person who signed in to an application. Service tokens have no email. */
export const isOfPerson = ({ email, type, common_name: service }: JsonObject): boolean =>
  typeof email === "string" && isEmail(email) && service === undefined && (type === undefined || type === "app");

/**
 * Returns true if an ID token is for the client (OpenID Connect Core 1.0 section 3.1.3.7). With several audiences, `azp` has to
 * name the client.
 */
export const isForClient = ({ aud, azp }: JsonObject, clientId: string): boolean =>
  azp === undefined ? [aud].flat().length === 1 : azp === clientId;
