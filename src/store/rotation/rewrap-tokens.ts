import { emailIndex } from "../../crypto/email-index.ts";
import { HEADER_AND_NONCE_LENGTH } from "../../crypto/seal.ts";
import { type Claims, hashToken, isUnheld, signToken } from "../../crypto/token.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { Rewrapped } from "./rewrapped.ts";
import { refuseMissingKey } from "../keys/root-keys.ts";
import { openToken, sealToken, signAgain, type TokenRow } from "../tokens/token-rows.ts";

/** The rows of tokens, and of tokens that have ended, for rewrap.ts. */

/** Each sealed text has its own random nonce, so header and nonce tell whether it is the one that was read. */
const unchanged = (table: string): string => `
  WHERE ${table}.id = new.value ->> 'id' AND root_key_id = new.value ->> 'root_key_id'
    AND substr(sealed, 1, ${HEADER_AND_NONCE_LENGTH}) = new.value ->> 'nonce'`;

export const REWRAPPED_TOKENS: Rewrapped = {
  table: "tokens",
  rows: 50,
  columns: "sealed, created_at, expires_at, claims, signed_by, person",
  update: `
    UPDATE tokens SET root_key_id = ?2, sealed = new.value ->> 'sealed', signed_by = new.value ->> 'signed_by',
      claims = new.value ->> 'hash', person = new.value ->> 'person'
    FROM json_each(?1) AS new ${unchanged("tokens")} AND claims = new.value ->> 'claims' RETURNING id`,
  rewrap: async (store, row: TokenRow) => {
    const claims = await openRow(store, row);
    if (!claims.ok) return claims;
    const held = isUnheld(claims.value) ? await signByActive(store, row, claims.value) : heldBy(row);
    const { person, name } = claims.value;
    const index = person ? await emailIndex(store.keyring.active, name) : null;
    return ok({ ...(await sealAgain(store, row, claims.value)), claims: row.claims, person: index, ...held });
  },
};

export const REWRAPPED_ENDED_TOKENS: Rewrapped = {
  table: "ended_tokens",
  rows: 50,
  columns: "sealed, created_at, expires_at",
  update: `
    UPDATE ended_tokens SET root_key_id = ?2, sealed = new.value ->> 'sealed'
    FROM json_each(?1) AS new ${unchanged("ended_tokens")} RETURNING id`,
  rewrap: async (store, row: TokenRow) => {
    const claims = await openRow(store, row);
    return claims.ok ? ok(await sealAgain(store, row, claims.value)) : claims;
  },
};

const openRow = (store: Store, row: TokenRow): Promise<Result<Claims>> =>
  store.keyring.keys.has(row.root_key_id) ? openToken(store.keyring, row) : refuseMissingKey(store, row.root_key_id);

const sealAgain = async ({ keyring }: Store, { id, root_key_id, sealed }: TokenRow, claims: Claims): Promise<object> => ({
  id,
  root_key_id,
  nonce: sealed.slice(0, HEADER_AND_NONCE_LENGTH),
  sealed: await sealToken(keyring.active, claims),
});

interface Held {
  readonly signed_by: string;
  readonly hash: string;
}

/** Somebody has the text of the token, so it keeps its signature and its hash. */
const heldBy = ({ signed_by, claims }: TokenRow): Held => ({ signed_by, hash: claims });

/**
 * Nobody has the text of a token for service bindings or of the row of a person, so the active key signs it, and it does not depend on the
 * old one. Only a row that its hash authenticates is signed: another one would become valid by this. That one keeps its hash, and stays
 * refused.
 */
async function signByActive({ keyring }: Store, row: TokenRow, claims: Claims): Promise<Held> {
  const signed = await signAgain(keyring, row);
  const authentic = signed.ok && signed.value.hash === row.claims;
  return authentic ? { signed_by: keyring.active.id, hash: await hashToken(await signToken(keyring, claims)) } : heldBy(row);
}
