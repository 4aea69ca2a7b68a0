import { createCache } from "../crypto/cache.ts";
import { rootOf, type VerifiedClaims } from "../crypto/token.ts";
import { fail, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import type { Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";
import { loadForToken } from "../store/vaults/authorized.ts";
import type { TokenIdentity } from "../store/vaults/token-check.ts";
import { limitToken } from "./rate-limit.ts";

/**
 * Sessions, tokens and one-time codes that D1 has refused. They are refused for a minute without a D1 call, so that revoked
 * credentials cause no load (contract 12.8). A refused credential never becomes valid again: the id of a session or code and the
 * hash of a token are issued once.
 */
const refused = createCache<true>(4096, MINUTE);

/** A refused holder: a token, which a session may act as; or a session or code with all its grants under this fingerprint of ADMIN_TOKEN. */
type Holder = TokenIdentity | { readonly id: string; readonly admin: string | undefined };

/**
 * Returns the cache key of a holder. It includes the root keys and TOKENS_NOT_BEFORE, because D1's refusal depends on them. It
 * includes the token's hash, so that a forged text under the token's id is another key.
 */
function nameOf({ keyring, settings }: Store, holder: Holder): string {
  const parts = "hash" in holder ? [holder.session?.id, holder.hash] : [holder.id, `admin ${holder.admin}`];
  return [keyring.id, settings.tokensNotBefore, ...parts].join(".");
}

/** Remembers that D1 has refused it. */
export const rememberRefusal = (store: Store, holder: Holder): void => refused.set(nameOf(store, holder), true, store.now);

/** Returns true if D1 has refused the holder in the last minute. */
export const isKnownRefused = (store: Store, holder: Holder): boolean => refused.get(nameOf(store, holder), store.now) === true;

/** Asks D1 about a holder, unless D1 has refused it in the last minute, and remembers a refusal. Fails with `unauthorized`, or as `ask`. */
export async function askUnlessRefused<T>(store: Store, holder: Holder, ask: () => Promise<Result<T>>): Promise<Result<T>> {
  if (isKnownRefused(store, holder)) return fail("unauthorized");
  const answered = await ask();
  if (!answered.ok && answered.failure.kind === "unauthorized") rememberRefusal(store, holder);
  return answered;
}

/** Counts a request of a token, and asks D1 whether the token is in use. Fails with `rate`, `schema`, `unauthorized`, `unavailable`. */
export async function requireInUse(env: Env, store: Store, claims: VerifiedClaims, cost = 1): Promise<Result<unknown>> {
  const limited = await limitToken(env, rootOf(claims), store.now, cost);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  return schema.ok ? askUnlessRefused(store, claims, () => loadForToken<[]>(store, claims)) : schema;
}
