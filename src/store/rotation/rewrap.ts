import { HEADER_AND_NONCE_LENGTH } from "../../crypto/seal.ts";
import { type Claims, hashToken, isUnheld, signToken } from "../../crypto/token.ts";
import { rewrapVaultKeys } from "../../crypto/vault-keys.ts";
import { echo } from "../../model/failure.ts";
import type { Finding } from "../../model/finding.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import type { WriteRows } from "../jobs/step-fence.ts";
import { proofStatement, refuseMissingKey } from "../keys/root-keys.ts";
import { derivedColumns, openToken, sealToken, signAgain, type TokenRow } from "../tokens/token-rows.ts";
import type { KeyRow } from "../vaults/rows.ts";

/**
 * Wraps the keys of vaults, and reseals the rows of tokens, under the active root key, in slices (contract 20.3).
 *
 * No coordinator takes part. A commit writes neither `root_key_id` nor the wrapped keys of a vault's row (commit/commit.ts), and no fence
 * compares the wrapped texts. A slice writes nothing else, so neither can undo the other. Only the commit that gives the vault a new key
 * writes them (docs/design/keys.md). It wraps all of them under one root key, so they can be unwrapped whatever a slice has written before.
 *
 * Each row is written by compare and swap, only if its root key and its wrapped or sealed texts are unchanged. A row that was since deleted
 * or got other keys is not changed. A new row is already under the active key.
 *
 * A coordinator may have the row with the old wrapped keys in its cache. They unwrap to the same keys, and the next commit does not write
 * them. After the old root key is removed, the cached row cannot be decrypted, and the commit loop reads the row (vault/group.ts).
 *
 * A slice that is interrupted has rewrapped each row or left it unchanged. jobs/rewrap.ts makes the slices.
 */

/** The rewrapping of one table. A row is a result of its `select`. */
interface RewrapTable {
  readonly table: "vaults" | "tokens" | "ended_tokens";
  /** Rows of a slice. Their new texts are one parameter of a statement, which D1 limits to 2 MB. */
  readonly rows: number;
  /** The columns besides `id` and `root_key_id`. */
  readonly columns: string;
  /** ?1: a JSON array of results of `rewrap`. ?2: the id of the active key. */
  readonly update: string;
  /** Fails with `misconfigured` or `integrity` if the row cannot be decrypted. */
  rewrap(store: Store, row: never): Promise<Result<object>>;
}

/** The start of a slice: after this row of this table. */
export interface RewrapCursor {
  readonly table: RewrapTable["table"];
  /** The empty text comes before all ids. */
  readonly after: string;
}

export const FIRST_SLICE: RewrapCursor = { table: "vaults", after: "" };

/** The result of a slice. */
export interface RewrapSlice {
  /** Number of all rows under other keys than the active key, before the slice. */
  readonly rows: number;
  /** The rows that cannot be decrypted and are not changed: their root key is missing, or they are damaged. */
  readonly findings: readonly Finding[];
  /** True if the slice has written rows. */
  readonly hasWritten: boolean;
  /** The position of the next slice; absent at the end. Rows that appeared behind it are in the `rows` of the next pass. */
  readonly next: RewrapCursor | undefined;
}

const ROWS = "SELECT coalesce(sum(vaults + tokens + ended_tokens), 0) AS rows FROM root_key_uses WHERE id <> ?1";

/**
 * Rewraps one slice: rows of one table. Makes two D1 calls. Fails with `unavailable`, and as `write` does. A repeated slice finds the rows
 * that were left.
 */
export async function rewrapSlice(
  store: Store,
  { table: name, after }: RewrapCursor,
  write: WriteRows,
): Promise<Result<RewrapSlice>> {
  const { db, keyring } = store;
  const { active } = keyring;
  const index = TABLES.findIndex(({ table }) => table === name);
  const table = TABLES[index]!;
  const read = await runBatch<[RowUnderKey, { rows: number }]>(
    db,
    db.prepare(selectRows(table)).bind(after, active.id, table.rows),
    db.prepare(ROWS).bind(active.id),
  );
  if (!read.ok) return read;
  const [rows, [count]] = read.value;
  const values: object[] = [];
  const findings: Finding[] = [];
  for (const row of rows) {
    const value = await table.rewrap(store, row as never);
    if (value.ok) values.push(value.value);
    else findings.push(findingOf(store, table, row));
  }
  const update = db.prepare(table.update).bind(JSON.stringify(values), active.id);
  const written = values.length > 0 ? await write([await proofStatement(db, active), update]) : ok(undefined);
  if (!written.ok) return written;
  const following = TABLES[index + 1];
  const isFull = rows.length === table.rows;
  const next = isFull ? { table: name, after: rows.at(-1)!.id } : following && { table: following.table, after: "" };
  return ok({ rows: count!.rows, findings, hasWritten: values.length > 0, next });
}

interface RowUnderKey {
  readonly id: string;
  readonly root_key_id: string;
}

/** A missing root key is one finding, however many rows need it. */
function findingOf({ keyring }: Store, { table }: RewrapTable, { id, root_key_id: key }: RowUnderKey): Finding {
  if (!keyring.keys.has(key))
    return { kind: "root_key_missing", id: echo(key), detail: "rows need it, and ROOT_KEYS does not have it", repairable: false };
  const detail = "the row cannot be decrypted, and stays under its root key";
  return { kind: "row_unreadable", table, id: echo(id), detail, repairable: false };
}

/** Without a row under another key, the condition on the counts saves the scan of the table. */
const selectRows = ({ table, columns }: RewrapTable): string => `
  SELECT id, root_key_id, ${columns} FROM ${table}
  WHERE id > ?1 AND root_key_id <> ?2 AND EXISTS (SELECT 1 FROM root_key_uses WHERE id <> ?2 AND ${table} > 0)
  ORDER BY id LIMIT ?3`;

/** The rows of vaults. A row is written only if its list of keys is unchanged. */
const REWRAPPED_VAULTS: RewrapTable = {
  table: "vaults",
  rows: 100,
  columns: "keys",
  update: `
    UPDATE vaults SET root_key_id = ?2, keys = new.value ->> 'new_keys'
    FROM json_each(?1) AS new
    WHERE vaults.id = new.value ->> 'id' AND vaults.root_key_id = new.value ->> 'root_key_id'
      AND vaults.keys = new.value ->> 'keys'`,
  rewrap,
};

async function rewrap(store: Store, row: KeyRow): Promise<Result<object>> {
  const { keys, active } = store.keyring;
  const root = keys.get(row.root_key_id);
  if (!root) return refuseMissingKey(store, row.root_key_id);
  return map(await rewrapVaultKeys(root, active, row.id, row.keys), (list) => ({ ...row, new_keys: list }));
}

/** Each sealed text has its own random nonce, so header and nonce show if it is unchanged. */
const unchanged = (table: string): string => `
  WHERE ${table}.id = new.value ->> 'id' AND root_key_id = new.value ->> 'root_key_id'
    AND substr(sealed, 1, ${HEADER_AND_NONCE_LENGTH}) = new.value ->> 'nonce'`;

const REWRAPPED_TOKENS: RewrapTable = {
  table: "tokens",
  rows: 50,
  columns: "sealed, created_at, expires_at, claims, signed_by",
  update: `
    UPDATE tokens SET root_key_id = ?2, sealed = new.value ->> 'sealed', signed_by = new.value ->> 'signed_by',
      claims = new.value ->> 'hash', name_index = new.value ->> 'name_index'
    FROM json_each(?1) AS new ${unchanged("tokens")} AND claims = new.value ->> 'claims'`,
  rewrap: async (store, row: TokenRow) => {
    const claims = await openRow(store, row);
    if (!claims.ok) return claims;
    const signature = isUnheld(claims.value) ? await signByActive(store, row, claims.value) : currentSignature(row);
    const { name_index } = await derivedColumns(store.keyring.active, claims.value);
    return ok({ ...(await sealAgain(store, row, claims.value)), claims: row.claims, name_index, ...signature });
  },
};

const REWRAPPED_ENDED_TOKENS: RewrapTable = {
  table: "ended_tokens",
  rows: 50,
  columns: "sealed, created_at, expires_at",
  update: `
    UPDATE ended_tokens SET root_key_id = ?2, sealed = new.value ->> 'sealed'
    FROM json_each(?1) AS new ${unchanged("ended_tokens")}`,
  rewrap: async (store, row: TokenRow) => {
    const claims = await openRow(store, row);
    return claims.ok ? ok(await sealAgain(store, row, claims.value)) : claims;
  },
};

const TABLES: readonly RewrapTable[] = [REWRAPPED_VAULTS, REWRAPPED_TOKENS, REWRAPPED_ENDED_TOKENS];

const openRow = (store: Store, row: TokenRow): Promise<Result<Claims>> =>
  store.keyring.keys.has(row.root_key_id) ? openToken(store.keyring, row) : refuseMissingKey(store, row.root_key_id);

const sealAgain = async ({ keyring }: Store, { id, root_key_id, sealed }: TokenRow, claims: Claims): Promise<object> => ({
  id,
  root_key_id,
  nonce: sealed.slice(0, HEADER_AND_NONCE_LENGTH),
  sealed: await sealToken(keyring.active, claims),
});

interface Signature {
  readonly signed_by: string;
  readonly hash: string;
}

/** Somebody has the text of the token, so it keeps its signature and its hash. */
const currentSignature = ({ signed_by, claims }: TokenRow): Signature => ({ signed_by, hash: claims });

/**
 * Signs a token whose text nobody has: for service bindings, or the row of a person. The active key signs it, so it does not depend on the
 * old key. Only a row that its hash authenticates is signed, because the signature would make any other row valid. Such a row keeps its
 * hash, and stays refused.
 */
async function signByActive({ keyring }: Store, row: TokenRow, claims: Claims): Promise<Signature> {
  const signed = await signAgain(keyring, row);
  const authentic = signed.ok && signed.value.hash === row.claims;
  return authentic
    ? { signed_by: keyring.active.id, hash: await hashToken(await signToken(keyring, claims)) }
    : currentSignature(row);
}
