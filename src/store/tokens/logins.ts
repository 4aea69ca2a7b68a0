import { type Claims, isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, type Result } from "../../model/result.ts";
import type { Scope } from "../../model/vault-scope.ts";
import type { Store } from "../d1/database.ts";
import { insertToken, type IssuedToken } from "./tokens.ts";

/** The tokens that people get by a login from a terminal (contract 28): each is a row of its own, below the person. */

/** What a login asks for. */
export interface LoginRequest {
  /** Absent: all vaults of the person. */
  readonly vaults?: Scope | undefined;
  /** Seconds; absent: as long as possible. */
  readonly expiresIn?: number | undefined;
  /** Whether the token is one of the admin routes, which opens no vaults. */
  readonly admin?: boolean | undefined;
}

/**
 * The claims of the token of a login. In: the person, what was asked for and confirmed, the id of the token, and Unix milliseconds. It has
 * the name of the person.
 */
export function claimsOfLogin(person: Claims, { vaults, expiresIn, admin }: LoginRequest, id: string, now: number): Claims {
  const issuedAt = Math.floor(now / 1000);
  return {
    id,
    name: person.name,
    dialect: "uuid",
    vaults: admin ? {} : (vaults ?? person.vaults),
    kind: admin ? "admin" : undefined,
    issuedAt,
    expiresAt: issuedAt + (expiresIn ?? (admin ? LIMITS.adminLoginLifetime : LIMITS.loginLifetime)),
    descent: { ancestors: [person.id], issuedAt: person.issuedAt },
  };
}

/**
 * Issues the token of a confirmed login. In: the person as they were when they confirmed, and the entry of the admin's log. Errors:
 * `unauthorized`, when the person was changed or removed since; those of `insertToken`.
 */
export async function issueLogin(
  store: Store,
  person: VerifiedClaims,
  claims: Claims,
  entry: Activity,
): Promise<Result<IssuedToken>> {
  if (!isCurrent(person, store.now, store.settings.tokensNotBefore)) return fail("unauthorized");
  return insertToken(store, claims, entry, person);
}
