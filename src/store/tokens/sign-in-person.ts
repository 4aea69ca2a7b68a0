import { nameIndexes } from "../../crypto/name-index.ts";
import { isCurrent, type VerifiedClaims } from "../../crypto/token.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { explainFailure, refuseMissingKey } from "../keys/root-keys.ts";
import { signAgain, type TokenRow } from "./token-rows.ts";

/** Finds the person who signs in, by the email that Cloudflare Access has confirmed (contract 25.6). */

const SQL = {
  find: "SELECT * FROM tokens WHERE name_index IN (SELECT value FROM json_each(?1)) ORDER BY created_at DESC",
  /** A person whose email no root key of this service indexes. */
  unindexed: `
    SELECT root_key_id FROM tokens WHERE kind = 'person' AND root_key_id NOT IN (SELECT value FROM json_each(?1)) LIMIT 1`,
};

/**
 * The claims of a person. They come from the row, so the row is authenticated as that of a token for service bindings
 * (binding-tokens.ts): it is signed again, and its hash has to be the stored one. In: a normalized email. Errors: `not_invited`, also for
 * a row that was altered, and for one from before TOKENS_NOT_BEFORE; `misconfigured`, `unavailable`.
 */
export async function loadPersonByEmail(store: Store, email: string): Promise<Result<VerifiedClaims>> {
  const { db, keyring, now, settings } = store;
  const read = await runBatch<[TokenRow]>(
    db,
    db.prepare(SQL.find).bind(JSON.stringify(await nameIndexes(keyring, "person", email))),
  );
  if (!read.ok) return read;
  const [row] = read.value[0];
  if (!row) return refuseUnknown(store);
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return fail("not_invited");
  const { claims, hash } = signed.value;
  const authentic = claims.kind === "person" && claims.name === email && row.claims === hash;
  return authentic && isCurrent(claims, now, settings.tokensNotBefore) ? ok({ ...claims, hash }) : fail("not_invited");
}

/** With wrong root keys, or without one of them, nobody is found: that is no fault of the person. */
async function refuseUnknown(store: Store): Promise<Result<never>> {
  const { db, keyring } = store;
  const explained = await explainFailure(store);
  if (explained.failure.kind === "misconfigured") return explained;
  const read = await runBatch<[Pick<TokenRow, "root_key_id">]>(
    db,
    db.prepare(SQL.unindexed).bind(JSON.stringify([...keyring.keys.keys()])),
  );
  if (!read.ok) return read;
  const [row] = read.value[0];
  return row ? refuseMissingKey(store, row.root_key_id) : fail("not_invited");
}
