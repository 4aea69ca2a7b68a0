import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { readBatch, type Store } from "../d1/database.ts";
import { KEY_COLUMNS, type KeyRow, NAME_COLUMNS, type NameRow, openKeys, openName } from "./rows.ts";
import { authorizeToken, HASH_OF_TOKEN, holderOf, type TokenIdentity } from "./token-check.ts";

/** Reads that check in the same D1 call that the token was issued, is not revoked, and that the vault exists. */

export interface VaultAccess {
  readonly token: TokenIdentity;
  /** A canonical UUID, or a text that names nothing. */
  readonly vault: string;
  /** The only Items that lists show; absent: all. */
  readonly items?: ReadonlySet<string> | undefined;
}

/** A table that is joined to the row of the vault, which saves a statement. Its columns are NULL when it has no row. */
export interface Joined {
  readonly columns: string;
  readonly tables: string;
  readonly values: readonly (string | number)[];
}

export const NOTHING: Joined = { columns: "1", tables: "", values: [] };

/** Joins columns of an Item of the vault, by its id. */
export const joinedItem = (item: string, columns: string): Joined => ({
  columns,
  tables: "LEFT JOIN items ON items.vault_id = vaults.id AND items.id = ?3",
  values: [item],
});

/** Gives one row in any case: the columns of a vault that does not exist are NULL. */
const authorizing = ({ columns, tables }: Joined): string => `
  SELECT ${HASH_OF_TOKEN} AS token, ${KEY_COLUMNS}, ${NAME_COLUMNS}, ${columns}
  FROM (SELECT 1) LEFT JOIN vaults ON vaults.id = ?2 ${tables}`;

type AuthorizingRow = ((KeyRow & NameRow) | { id: null }) & { token: string | null };

/** The data of a vault that one D1 call has loaded. */
export interface FromVault<Row, Rows extends unknown[]> {
  readonly keys: VaultKeys;
  /** Decrypts the name of the vault. Returns undefined on failure, because the request did not ask for the vault itself. */
  readonly openName: () => Promise<string | undefined>;
  readonly joined: Row;
  readonly rows: { [K in keyof Rows]: Rows[K][] };
}

/**
 * Loads rows of a vault in one D1 call. Returns the vault's keys and name, the joined columns, and the rows of each statement.
 * Refusals are checked in this order: `unauthorized` (revoked), `vault_not_found`, failures of unwrapping the keys.
 */
export async function loadFromVault<Row, Rows extends unknown[]>(
  store: Store,
  access: VaultAccess,
  joined: Joined,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<FromVault<Row, Rows>>> {
  const statement = store.db.prepare(authorizing(joined)).bind(holderOf(access.token), access.vault, ...joined.values);
  const answer = await readBatch<[AuthorizingRow & Row, ...Rows]>(store, statement, ...statements);
  if (!answer.ok) return answer;
  const [[row], ...rows] = answer.value;
  const authorized = authorizeToken(access.token, row!.token);
  if (!authorized.ok) return authorized;
  if (row!.id === null) return fail("vault_not_found");
  const keys = await openKeys(store, row!);
  if (!keys.ok) return keys;
  return ok({ keys: keys.value, openName: () => nameOf(keys.value, row!), joined: row!, rows });
}

async function nameOf(keys: VaultKeys, row: NameRow): Promise<string | undefined> {
  const name = await openName(keys, row);
  return name.ok ? name.value : undefined;
}

/** Loads rows that belong to no single vault, in one D1 call. Returns the rows of each statement. Fails with `unauthorized` (revoked). */
export async function loadForToken<Rows extends unknown[]>(
  store: Store,
  token: TokenIdentity,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<{ [K in keyof Rows]: Rows[K][] }>> {
  const answer = await readBatch<[{ token: string | null }, ...Rows]>(
    store,
    store.db.prepare(`SELECT ${HASH_OF_TOKEN} AS token`).bind(holderOf(token)),
    ...statements,
  );
  if (!answer.ok) return answer;
  const [[row], ...rows] = answer.value;
  return map(authorizeToken(token, row!.token), () => rows);
}
