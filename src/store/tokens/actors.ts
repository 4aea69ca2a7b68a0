import type { Claims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { map, type Result } from "../../model/result.ts";
import { readBatch, type Store } from "../d1/database.ts";
import { loadVersions } from "../items/versions.ts";
import { loadFromVault, NOTHING, type VaultAccess } from "../vaults/authorized.ts";
import type { TokenRow } from "./token-rows.ts";
import { type EndedRow, listTokens } from "./tokens.ts";

/** The names of the actors who wrote in a vault (contract 24.13). */

/** Writes that are searched for actors. */
const WRITES_MAX = 2_000;
/** Rows of tokens have up to 7 KiB each. */
const ACTORS_MAX = 200;

const SQL = {
  /** ?2: the Items in the scope of the token, or NULL. The filter does not search further writes. */
  writers: `
    SELECT actor FROM (
      SELECT actor, item_id, sequence FROM activity
      WHERE vault_id = ?1 AND sequence >= 0 ORDER BY sequence DESC LIMIT ${WRITES_MAX})
    WHERE ?2 IS NULL OR item_id IN (SELECT value FROM json_each(?2))
    GROUP BY actor ORDER BY max(sequence) DESC LIMIT ${ACTORS_MAX}`,
  live: "SELECT * FROM tokens WHERE id IN (SELECT value FROM json_each(?1))",
  ended: "SELECT * FROM ended_tokens WHERE id IN (SELECT value FROM json_each(?1))",
};

export interface ActorName {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the names of the actors of the last writes to a vault or, with `item`, of the newest versions of an Item. The last writer comes first.
 * An actor without a row that can be decrypted is left out. Takes two D1 calls. Refusals are checked in this order: `unauthorized` (revoked),
 * `vault_not_found`, `item_not_found`.
 */
export async function loadActorNames(store: Store, access: VaultAccess, item?: string): Promise<Result<ActorName[]>> {
  const ids = await (item === undefined ? loadWriters(store, access) : loadEditors(store, access, item));
  if (!ids.ok) return ids;
  const list = JSON.stringify(ids.value);
  const read = await readBatch<[TokenRow, EndedRow]>(
    store,
    store.db.prepare(SQL.live).bind(list),
    store.db.prepare(SQL.ended).bind(list),
  );
  const tokens = read.ok ? await listTokens(store, read.value.flat()) : read;
  return map(tokens, (listed) => {
    const names = new Map(listed.flatMap((token) => ("broken" in token ? [] : [[token.id, displayNameOf(token)] as const])));
    return ids.value.flatMap((id) => (names.has(id) ? { id, name: names.get(id)! } : []));
  });
}

async function loadWriters(store: Store, access: VaultAccess): Promise<Result<string[]>> {
  const items = access.items ? JSON.stringify([...access.items]) : null;
  const statement = store.db.prepare(SQL.writers).bind(access.vault, items);
  const read = await loadFromVault<unknown, [{ actor: string }]>(store, access, NOTHING, statement);
  return map(read, ({ rows: [writers] }) => writers.map(({ actor }) => actor));
}

async function loadEditors(store: Store, access: VaultAccess, item: string): Promise<Result<string[]>> {
  const page = await loadVersions(store, access, item, undefined, LIMITS.versionsPage);
  return map(page, ({ versions }) => [
    ...new Set(versions.flatMap(({ summary }) => ("broken" in summary ? [] : summary.lastEditedBy))),
  ]);
}

/** The name of a person, and of the token of a person's login, is an email. Others see only its local part. */
const displayNameOf = ({ name, kind, login }: Claims): string => (kind === "person" || login ? name.split("@", 1)[0]! : name);
