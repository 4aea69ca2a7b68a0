import { type Claims, isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import type { Activity, Origin } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";
import { fail, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { ConfirmedLogin } from "./session-rows.ts";
import { insertToken, type IssuedToken } from "./tokens.ts";

/** The tokens that people get by a login from a terminal (contract 28). Each has its own row below the person. */

/** Returns the claims of a login's token. Its name is the person's name. `now` is in Unix milliseconds. */
export function claimsOfLogin(person: Claims, login: ConfirmedLogin, origin: Origin, now: number): Claims {
  const { id, vaults, expiresIn, admin, until = Infinity } = login;
  const issuedAt = Math.floor(now / 1000);
  return {
    id,
    name: person.name,
    dialect: "uuid",
    vaults: admin ? {} : (vaults ?? person.vaults),
    kind: admin ? "admin" : undefined,
    issuedAt,
    expiresAt: Math.min(
      issuedAt + (expiresIn ?? (admin ? LIMITS.adminLoginLifetime : LIMITS.loginLifetime)),
      Math.floor(until / SECOND),
    ),
    descent: { ancestors: [person.id], issuedAt: person.descent?.issuedAt ?? person.issuedAt },
    login: { address: origin.requestIp, program: origin.userAgent },
  };
}

/**
 * Issues the token of a confirmed login, for the person as they were at the confirmation. Fails with `unauthorized` if the person was changed
 * or removed since. It fails so too if a token has the id already: the row of a used code was then put back. Fails as `insertToken` does.
 */
export async function issueLogin(
  store: Store,
  person: VerifiedClaims,
  claims: Claims,
  entry: Activity,
): Promise<Result<IssuedToken>> {
  if (!isCurrent(person, store.now, store.settings.tokensNotBefore)) return fail("unauthorized");
  const issued = await insertToken(store, claims, entry, person);
  const isUsed = issued.ok ? issued.value.claims !== claims : issued.failure.kind === "idempotency";
  return isUsed ? fail("unauthorized") : issued;
}
