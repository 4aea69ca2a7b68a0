import type { VaultKeys, WrappedKeys } from "../crypto/vault-keys.ts";
import { createVaultKeys } from "../crypto/vault-keys.ts";
import type { Item } from "../model/item.ts";
import type { Action } from "../model/operation.ts";
import type { Vault } from "../model/vault.ts";
import { type Attempt, attempt, type Store } from "./database.ts";
import { sealItem } from "./items.ts";
import { type Replay, sealReplay } from "./replays.ts";
import { proofStatement } from "./root-keys.ts";
import type { OpenVault } from "./vaults.ts";
import { sealVault } from "./vaults.ts";

/**
 * What a group of writes did to a vault, written by one batch: all of it or nothing.
 *
 * The fence: the first statement inserts the activity rows with `vault_id` looked up by the versions that the snapshot
 * had. When another coordinator has committed since, that look-up gives NULL, the NOT NULL column refuses it, and D1
 * rolls the batch back. Every commit moves one of the two versions, so of all commits on one snapshot one succeeds.
 */
export interface Commit {
  readonly vault: string;
  /** The vault as the snapshot had it; absent when it is new. */
  readonly before: OpenVault | undefined;
  /** The vault as it is to be; absent when it is to go, with all its rows. */
  readonly after: Vault | undefined;
  readonly items: readonly ItemChange[];
  readonly entries: readonly Entry[];
  readonly replays: readonly Replay[];
}

export interface ItemChange {
  readonly id: string;
  /** Whether it has a row. */
  readonly existed: boolean;
  /** As it was; absent when it did not exist, or did not open. */
  readonly before: Item | undefined;
  /** As it is to be; absent when it is to go. */
  readonly after: Item | undefined;
}

/** One row of the activity log. */
export interface Entry {
  /** The operation's id. */
  readonly id: string;
  readonly action: Action;
  readonly actor: string;
  readonly item: string | null;
  readonly version: number | null;
}

const SQL = {
  entries: `
    INSERT INTO activity (vault_id, id, action, actor, item_id, version)
    SELECT (SELECT id FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3),
           value ->> 'id', value ->> 'action', value ->> 'actor', value ->> 'item', value ->> 'version'
    FROM json_each(?4)`,
  insertVault: `
    INSERT INTO vaults (id, sealed, attribute_version, content_version, items, updated_at,
                        created_at, root_key_id, data_key_id, data_key, index_key)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
  // A NULL leaves the sealed attributes as they are.
  updateVault: `
    UPDATE vaults SET sealed = coalesce(?2, sealed), attribute_version = ?3, content_version = ?4, items = ?5, updated_at = ?6
    WHERE id = ?1`,
  insertItem: "INSERT INTO items (vault_id, id, version, overview, details, title_index) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
  updateItem: "UPDATE items SET version = ?3, overview = ?4, details = ?5 WHERE vault_id = ?1 AND id = ?2",
  // Apart, because naming an indexed column writes its index even when the value stays.
  renameItem: "UPDATE items SET version = ?3, overview = ?4, details = ?5, title_index = ?6 WHERE vault_id = ?1 AND id = ?2",
  deleteItem: "DELETE FROM items WHERE vault_id = ?1 AND id = ?2",
  replay: `
    INSERT INTO replays (vault_id, key, id, sealed) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (vault_id, key) DO UPDATE SET id = excluded.id, sealed = excluded.sealed`,
  deleteVault: ["items", "replays"]
    .map((table) => `DELETE FROM ${table} WHERE vault_id = ?1`)
    .concat("DELETE FROM vaults WHERE id = ?1"),
  deleteHistory: "DELETE FROM activity WHERE vault_id = ?1 AND id NOT IN (SELECT value ->> 'id' FROM json_each(?2))",
};

/**
 * Writes a commit.
 * Out: `committed`; `stale`: the fence held it back, nothing happened; `unknown`: D1 gave no answer, it may have happened.
 */
export async function writeCommit(store: Store, commit: Commit): Promise<Attempt> {
  const statements = commit.after ? await keep(store, commit, commit.after) : destroy(store, commit);
  return attempt(store.db, statements);
}

async function keep(store: Store, commit: Commit, after: Vault): Promise<D1PreparedStatement[]> {
  const { db } = store;
  const { before } = commit;
  const created = before ? undefined : await createVaultKeys(store.keyring, commit.vault);
  const keys = before?.keys ?? created!.keys;
  const resealed = before?.vault.attributeVersion === after.attributeVersion ? null : await sealVault(keys, after);
  const state = [after.id, resealed, after.attributeVersion, after.contentVersion, after.items, after.updatedAt];
  const vault = created
    ? [
        await proofStatement(db, store.keyring.active),
        db.prepare(SQL.insertVault).bind(...state, after.createdAt, ...columns(created.wrapped)),
      ]
    : [db.prepare(SQL.updateVault).bind(...state)];
  const entries = fencedEntries(db, commit, before?.vault ?? after);
  const items = await Promise.all(commit.items.map((change) => itemStatement(db, commit.vault, keys, change)));
  const replays = await Promise.all(
    commit.replays.map(async (replay) =>
      db.prepare(SQL.replay).bind(commit.vault, replay.key, replay.id, await sealReplay(keys, commit.vault, replay)),
    ),
  );
  // The fence looks at the versions before they move; a new vault's row has to be there first.
  return [...(created ? [...vault, entries] : [entries, ...vault]), ...items, ...replays];
}

function destroy({ db }: Store, commit: Commit): D1PreparedStatement[] {
  const rows = SQL.deleteVault.map((sql) => db.prepare(sql).bind(commit.vault));
  const history = db.prepare(SQL.deleteHistory).bind(commit.vault, JSON.stringify(commit.entries));
  return [fencedEntries(db, commit, commit.before!.vault), ...rows, history];
}

const fencedEntries = (db: D1Database, commit: Commit, fence: Vault) =>
  db.prepare(SQL.entries).bind(commit.vault, fence.contentVersion, fence.attributeVersion, JSON.stringify(commit.entries));

const columns = (keys: WrappedKeys) => [keys.rootKeyId, keys.dataKeyId, keys.dataKey, keys.indexKey];

async function itemStatement(db: D1Database, vault: string, keys: VaultKeys, change: ItemChange): Promise<D1PreparedStatement> {
  const { existed, before, after } = change;
  if (!after) return db.prepare(SQL.deleteItem).bind(vault, change.id);
  const { id, version, overview, details, title_index } = await sealItem(keys, after);
  const texts = [vault, id, version, overview, details];
  if (!existed) return db.prepare(SQL.insertItem).bind(...texts, title_index);
  if (before?.title === after.title) return db.prepare(SQL.updateItem).bind(...texts);
  return db.prepare(SQL.renameItem).bind(...texts, title_index);
}
