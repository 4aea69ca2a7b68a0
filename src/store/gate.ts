import type { VaultKeys } from "../crypto/vault-keys.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { call, type Store } from "./database.ts";
import { KEY_COLUMNS, openKeys, type KeyRow } from "./vaults.ts";

/** Who reads, and where: every read asks for both in the same D1 call as the data. */
export interface Visit {
  /** The token's id: without its row it is revoked. */
  readonly token: string;
  /** A canonical UUID, or a text that names nothing. */
  readonly vault: string;
}

/** What is joined to the row of the gate: a statement less. Its columns are NULL when it is not there. */
export interface Joined {
  readonly columns: string;
  readonly tables: string;
  readonly values: readonly string[];
}

export const NOTHING: Joined = { columns: "1", tables: "", values: [] };

/** An Item of the vault. In: its id, and the columns that are wanted. */
export const joinedItem = (item: string, columns: string): Joined => ({
  columns,
  tables: "LEFT JOIN items ON items.vault_id = vaults.id AND items.id = ?3",
  values: [item],
});

/** One row, whatever exists: the vault's columns are NULL when it does not. */
const gateWith = ({ columns, tables }: Joined): string => `
  SELECT EXISTS (SELECT 1 FROM tokens WHERE id = ?1) AS token, ${KEY_COLUMNS}, ${columns}
  FROM (SELECT 1) LEFT JOIN vaults ON vaults.id = ?2 ${tables}`;

type GateRow = (KeyRow | { id: null }) & { token: number };

/**
 * Reads rows of a vault behind its gate, in one D1 call.
 * Out: the vault's keys, what was joined to the gate, and the rows of each statement. Errors, in this order: `unauthorized`
 * (revoked), `vault_not_found`, those of unwrapping the keys.
 */
export async function readBehindGate<Row, Rows extends unknown[]>(
  store: Store,
  visit: Visit,
  joined: Joined,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ keys: VaultKeys; joined: Row; rows: { [K in keyof Rows]: Rows[K][] } }>> {
  const gateStatement = store.db.prepare(gateWith(joined)).bind(visit.token, visit.vault, ...joined.values);
  const read = await call<[GateRow & Row, ...Rows]>(store.db, gateStatement, ...statements);
  if (!read.ok) return read;
  const [gates, ...rows] = read.value;
  const [gate] = gates;
  if (!gate?.token) return fail("unauthorized");
  if (gate.id === null) return fail("vault_not_found");
  const keys = await openKeys(store, gate);
  return keys.ok ? ok({ keys: keys.value, joined: gate, rows }) : keys;
}

/**
 * Reads rows that belong to no one vault, in one D1 call, for the holder of a token.
 * Out: the rows of each statement. Errors: `unauthorized` (revoked).
 */
export async function readBehindToken<Rows extends unknown[]>(
  { db }: Store,
  token: string,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  const read = await call<[{ id: string }, ...Rows]>(
    db,
    db.prepare("SELECT id FROM tokens WHERE id = ?1").bind(token),
    ...statements,
  );
  if (!read.ok) return read;
  const [tokens, ...rows] = read.value;
  return tokens.length > 0 ? ok(rows) : fail("unauthorized");
}
