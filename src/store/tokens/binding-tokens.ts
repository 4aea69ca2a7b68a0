import { createCache } from "../../crypto/cache.ts";
import { isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { MINUTE } from "../../model/time.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { explainFailure, refuseMissingKey } from "../keys/root-keys.ts";
import { signAgain, type TokenRow } from "./token-rows.ts";

/**
 * The tokens of service bindings (contract 18), which are named by id. Their claims come from their rows, so the rows are
 * authenticated. The token is signed again, and its hash must equal the hash stored at issue (docs/design/access.md).
 */

/** Loaded claims by keyring and token id. */
const verified = createCache<VerifiedClaims>(1024, MINUTE);

const SQL = "SELECT * FROM tokens WHERE id = ?1";

/** Tries of a read. The row changes with a revocation, and with each rotation of root keys. */
const TRIES_MAX = 3;

/**
 * Reads with the claims of a token. The claims are loaded with one D1 call and cached for a minute per isolate. `read` compares
 * their hash with the row in its own D1 call, as for any token. If that refuses the claims, they are loaded again, because the
 * row may have changed: a rewrap signs the token again (rotation/rewrap.ts), also between load and read. Fails as `read` does,
 * with `unauthorized` for every fault of the token, `misconfigured` or `unavailable`.
 */
export async function readWithToken<T>(
  store: Store,
  id: string,
  read: (claims: VerifiedClaims) => Promise<Result<T>>,
): Promise<Result<T>> {
  const name = `${store.keyring.id}.${id}`;
  let claims = verified.get(name, store.now);
  for (let refused: VerifiedClaims | undefined, attempt = 0; ; attempt++) {
    if (!claims) {
      const loaded = await load(store, id);
      if (!loaded.ok) return loaded;
      if (refused?.hash === loaded.value.hash) return fail("unauthorized");
      claims = loaded.value;
      verified.set(name, claims, store.now);
    }
    const done = await readIfCurrent(store, claims, read);
    if (done.ok || done.failure.kind !== "unauthorized" || attempt === TRIES_MAX) return done;
    refused = claims;
    claims = undefined;
  }
}

const readIfCurrent = async <T>(
  { now, settings }: Store,
  claims: VerifiedClaims,
  read: (claims: VerifiedClaims) => Promise<Result<T>>,
): Promise<Result<T>> => (isCurrent(claims, now, settings.tokensNotBefore) ? read(claims) : fail("unauthorized"));

async function load(store: Store, id: string): Promise<Result<VerifiedClaims>> {
  const loaded = await runBatch<[TokenRow]>(store.db, store.db.prepare(SQL).bind(id));
  if (!loaded.ok) return loaded;
  const [row] = loaded.value[0];
  if (!row) return fail("unauthorized");
  if (!store.keyring.keys.has(row.root_key_id)) return refuseMissingKey(store, row.root_key_id);
  const signed = await signAgain(store.keyring, row);
  if (!signed.ok) return explainFailure(store);
  const { claims, hash } = signed.value;
  return claims.binding && row.claims === hash ? ok({ ...claims, hash }) : fail("unauthorized");
}
