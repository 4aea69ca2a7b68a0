import { nameIndexes } from "../../crypto/name-index.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { explainFailure, refuseMissingKey } from "../keys/root-keys.ts";
import { signAgain, type TokenRow } from "./token-rows.ts";

/** Finds the person who signs in by the email that the identity provider has confirmed (contract 25.6, 25.12). */

const SQL = {
  find: "SELECT * FROM tokens WHERE name_index IN (SELECT value FROM json_each(?1)) ORDER BY created_at DESC",
  /** A person whose email is not indexed by any root key of this service. */
  unindexed: `
    SELECT root_key_id FROM tokens WHERE kind = 'person' AND root_key_id NOT IN (SELECT value FROM json_each(?1)) LIMIT 1`,
};

/** A person's row and its claims. */
export interface FoundPerson {
  readonly row: TokenRow;
  readonly claims: VerifiedClaims;
}

/**
 * Finds a person by a normalized email. The claims come from the row, so the row is authenticated as in binding-tokens.ts. It is
 * signed again, and its hash must equal the stored hash. Returns undefined if there is none. Fails with `not_invited` for an
 * altered row, and with `unavailable`.
 */
export async function loadPersonByEmail(store: Store, email: string): Promise<Result<FoundPerson | undefined>> {
  const { db, keyring } = store;
  const read = await runBatch<[TokenRow]>(
    db,
    db.prepare(SQL.find).bind(JSON.stringify(await nameIndexes(keyring, "person", email))),
  );
  if (!read.ok) return read;
  const [row] = read.value[0];
  if (!row) return ok(undefined);
  const signed = await signAgain(keyring, row);
  if (!signed.ok) return fail("not_invited");
  const { claims, hash } = signed.value;
  const authentic = claims.kind === "person" && claims.name === email && row.claims === hash;
  return authentic ? ok({ row, claims: { ...claims, hash } }) : fail("not_invited");
}

/**
 * Refuses an unknown person. With wrong root keys, or without one of them, nobody is found, which is no fault of the person.
 * Fails with `not_invited`, `misconfigured` or `unavailable`.
 */
export async function refuseUnknown(store: Store): Promise<Refusal> {
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
