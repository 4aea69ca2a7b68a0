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

/** The settings ACCESS_TEAM and ACCESS_AUD (settings.ts): the Cloudflare Access application with which people sign in. */

export interface Access {
  /** The issuer of its tokens, an origin. Their keys are at `/cdn-cgi/access/certs` there. */
  readonly issuer: string;
  /** The audience tag of the application. */
  readonly audience: string;
}

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const TEAM = new RegExp(`^(?:(${LABEL})|(?:https://)?(${LABEL})\\.cloudflareaccess\\.com/?)$`);
/** Only for tests, and only this machine: nobody else may issue tokens over http. */
const TEST_ORIGIN = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):[1-9]\d*$/;

/**
 * Parses a team and an audience tag. `team` is its name, its domain or the URL of its domain. Returns undefined if both are
 * absent or empty. Fails with `misconfigured`, also if only one is set, because the service would not do what the operator meant.
 * The detail names the variable and the rule, never the value.
 */
export function parseAccess(team: string | undefined, audience: string | undefined): Result<Access | undefined> {
  if (!team && !audience) return ok(undefined);
  if (!team) return fail("misconfigured", "ACCESS_AUD is set without ACCESS_TEAM");
  if (!audience) return fail("misconfigured", "ACCESS_TEAM is set without ACCESS_AUD");
  const issuer = issuerOf(team);
  const faults = [
    issuer === undefined && "ACCESS_TEAM is not the name of a team, or its cloudflareaccess.com address",
    !/^[0-9a-f]{64}$/.test(audience) && "ACCESS_AUD is not 64 hexadecimal digits in lower case",
  ].filter((fault) => fault !== false);
  return issuer !== undefined && faults.length === 0 ? ok({ issuer, audience }) : fail("misconfigured", faults.join("; "));
}

function issuerOf(team: string): string | undefined {
  if (TEST_ORIGIN.test(team)) return URL.canParse(team) ? team : undefined;
  const [, name, domain] = TEAM.exec(team) ?? [];
  const label = name ?? domain;
  return label === undefined ? undefined : `https://${label}.cloudflareaccess.com`;
}
