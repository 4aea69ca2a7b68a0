import { echo } from "../../model/failure.ts";
import type { Finding } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import type { WriteRows } from "../jobs/step-fence.ts";
import { proofStatement, refuseMissingKey } from "../keys/root-keys.ts";
import { rewrapVaultKeys } from "../../crypto/vault-keys.ts";
import type { KeyRow } from "../vaults/rows.ts";
import { HEADER_AND_NONCE_LENGTH } from "../../crypto/seal.ts";
import { type Claims, hashToken, isUnheld, signToken } from "../../crypto/token.ts";
import { derivedColumns, openToken, sealToken, signAgain, type TokenRow } from "../tokens/token-rows.ts";

/**
 * Wraps the keys of vaults again, and seals the rows of tokens again, under the active root key, in slices (contract 20.3).
 *
 * No coordinator takes part. Of the row of a vault, a commit writes neither `root_key_id` nor the wrapped keys
 * (commit/commit.ts), and no fence compares the wrapped texts; a slice writes nothing else. So neither can undo the other. The only
 * commit that writes them gives the vault new keys (decision 0032): it writes all of them under one root key, so that they open whatever a
 * slice has written before. Each row is written by compare and swap: only while its root key and its wrapped or sealed texts are still
 * those that were read. A row that was deleted, or given other keys meanwhile, stays as it is. A new row is under the active key already.
 *
 * A coordinator may have the row with the old wrapped keys in its cache. They still unwrap to the same keys, and the next commit does
 * not write them. When the old root key is gone, the cached row does not open, and the commit loop reads the row (vault/group.ts).
 *
 * A slice that is cut off anywhere has rewrapped each row or left it. jobs/rewrap.ts makes the slices.
 */

/** How one table is rewrapped. A row is what its `select` gives. */
interface RewrapTable {
  readonly table: "vaults" | "tokens" | "ended_tokens";
  /** The most rows of a slice. Their new texts are one parameter of a statement, which D1 limits to 2 MB. */
  readonly rows: number;
  /** The columns besides `id` and `root_key_id`. */
  readonly columns: string;
  /** In: ?1 a JSON array of what `rewrap` gives, ?2 the id of the active key. */
  readonly update: string;
  /** Errors: `misconfigured`, `integrity`: the row does not open. */
  rewrap(store: Store, row: never): Promise<Result<object>>;
}

/** Where a slice begins: after this row of this table. */
export interface RewrapCursor {
  readonly table: RewrapTable["table"];
  /** The empty text comes before all ids. */
  readonly after: string;
}

export const FIRST_SLICE: RewrapCursor = { table: "vaults", after: "" };

/** What a slice has reached. */
export interface RewrapSlice {
  /** How many rows other keys than the active one still hold, in all, before the slice. */
  readonly rows: number;
  /** The rows that do not open, and so stay as they are: their root key is missing, or they are damaged. */
  readonly findings: readonly Finding[];
  /** Whether the slice has written rows. */
  readonly hasWritten: boolean;
  /** Where the next slice begins; absent at the end. Rows that appeared behind it meanwhile are in the `rows` of the next pass. */
  readonly next: RewrapCursor | undefined;
}

const ROWS = "SELECT coalesce(sum(vaults + tokens + ended_tokens), 0) AS rows FROM root_key_uses WHERE id <> ?1";

/**
 * One slice: rows of one table. Two D1 calls. Errors: `unavailable`, those of `write`. A slice that is repeated finds the rows that it has
 * left.
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
  const detail = "the row does not open, and stays under its root key";
  return { kind: "row_unreadable", table, id: echo(id), detail, repairable: false };
}

/** Without a row under another key, the condition on the counts saves the scan of the table. */
const selectRows = ({ table, columns }: RewrapTable): string => `
  SELECT id, root_key_id, ${columns} FROM ${table}
  WHERE id > ?1 AND root_key_id <> ?2 AND EXISTS (SELECT 1 FROM root_key_uses WHERE id <> ?2 AND ${table} > 0)
  ORDER BY id LIMIT ?3`;

/** The rows of vaults. A row is written only while its list of keys is the one that was read. */
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
  const list = await rewrapVaultKeys(root, active, row.id, row.keys);
  return list.ok ? ok({ ...row, new_keys: list.value }) : list;
}

/** Each sealed text has its own random nonce, so header and nonce tell whether it is the one that was read. */
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
 * Nobody has the text of a token for service bindings or of the row of a person, so the active key signs it, and it does not depend on the
 * old one. Only a row that its hash authenticates is signed: another one would become valid by this. That one keeps its hash, and stays
 * refused.
 */
async function signByActive({ keyring }: Store, row: TokenRow, claims: Claims): Promise<Signature> {
  const signed = await signAgain(keyring, row);
  const authentic = signed.ok && signed.value.hash === row.claims;
  return authentic
    ? { signed_by: keyring.active.id, hash: await hashToken(await signToken(keyring, claims)) }
    : currentSignature(row);
}
