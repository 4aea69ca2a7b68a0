import type { Presented, Schemas } from "../../api/answer.ts";
import type { Claims } from "../../crypto/token.ts";
import { presentTime } from "./time.ts";
import { createdAtOf, presentScope } from "./tokens.ts";

/** Issuers and rules of workload identity on the wire (contract 27). */

export function presentIssuer(claims: Claims): Presented<Schemas.Issuer> {
  const { id, name, issuer, managedBy } = claims;
  const { url, keys, ...rest } = issuer!;
  return { id, name, issuer: url, ...rest, jwks: keys && { keys }, managedBy, createdAt: createdAtOf(claims) };
}

export function presentRule(claims: Claims): Presented<Schemas.Rule> {
  const { id, name, dialect, descent, rule, admin, managedBy } = claims;
  const { claims: needed, anyRepository, allowSubject, lifetime, people } = rule!;
  const [issuer, vaults, createdAt] = [descent!.ancestors[0]!, presentScope(claims, "uuid"), createdAtOf(claims)];
  const policy = { issuer, claims: needed, anyRepository, allowSubject, lifetime, people };
  return { id, name, ...policy, vaults, dialect, admin, managedBy, createdAt };
}

/** Presents an earlier exchange. `at` is in Unix milliseconds, `issuer` is the URL, and `failed` names the claims that do not match. */
export const presentPastExchange = (at: number, issuer: string, failed: readonly string[]): Presented<Schemas.PastExchange> => ({
  at: presentTime(at),
  issuer,
  matches: failed.length === 0,
  failed,
});
