import { issuerUrlFault } from "./public-url.ts";
import { fail, ok, type Result } from "./result.ts";

/** The settings OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET (settings.ts): the identity provider with which people sign in. */

export interface SignInIssuer {
  /** Its URL, to the letter as its tokens have it in `iss`. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** RFC 6749 appendix A.1 and A.2. */
const isCredential = (text: string): boolean => /^[\x20-\x7e]{1,1024}$/.test(text);

/**
 * Returns `undefined` without an issuer and a client id; the secret may be stored before the two are set. Fails with `misconfigured` if only a
 * part is set. The detail names the variable and the rule, never its value.
 */
export function parseSignInIssuer(
  issuer: string | undefined,
  clientId: string | undefined,
  clientSecret: string | undefined,
  allowedOrigins: readonly string[],
): Result<SignInIssuer | undefined> {
  if (!issuer && !clientId) return ok(undefined);
  if (!issuer) return fail("misconfigured", "OIDC_CLIENT_ID is set without OIDC_ISSUER");
  if (!clientId) return fail("misconfigured", "OIDC_ISSUER is set without OIDC_CLIENT_ID");
  if (!clientSecret) return fail("misconfigured", "OIDC_ISSUER is set without the secret OIDC_CLIENT_SECRET");
  const wrong = issuerUrlFault(issuer, "fetched", allowedOrigins);
  const faults = [
    wrong !== undefined && `OIDC_ISSUER ${wrong}`,
    !isCredential(clientId) && "OIDC_CLIENT_ID is not 1 to 1,024 printable ASCII characters",
    (!isCredential(clientSecret) || /^\s*replace-me/i.test(clientSecret)) &&
      "OIDC_CLIENT_SECRET is a placeholder, or not 1 to 1,024 printable ASCII characters",
  ].filter((fault) => fault !== false);
  return faults.length === 0 ? ok({ issuer, clientId, clientSecret }) : fail("misconfigured", faults.join("; "));
}
