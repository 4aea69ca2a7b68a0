import { createVaultKeys, type WrappedKeys } from "../crypto/vault-keys.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Activity } from "../model/activity.ts";
import { type Vault, writesOf } from "../model/vault.ts";
import { ACTIVITY, sealActivity } from "./activity.ts";
import { type Attempt, attempt, type Store } from "./database.ts";
import { type Replay, sealReplay } from "./replays.ts";
import { proofStatement } from "./root-keys.ts";
import { type FileChange, fileStatement, type ItemChange, itemStatements } from "./row-changes.ts";
import { type OpenVault, sealVault } from "./vaults.ts";

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
  /** The vault as it was when it went: what it counted is kept. */
  readonly deleted: Vault | undefined;
  readonly items: readonly ItemChange[];
  readonly files: readonly FileChange[];
  /** Contents that no row holds any more: to be watched before the rows go. */
  readonly dropped: readonly ContentPlace[];
  readonly activities: readonly Activity[];
  readonly replays: readonly Replay[];
}

const SQL = {
  entries: `
    INSERT INTO activity (${ACTIVITY.columns})
    SELECT (SELECT id FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3), ${ACTIVITY.values}
    FROM json_each(?4)`,
  insertVault: `
    INSERT INTO vaults (id, sealed, attribute_version, content_version, items, created, files, file_bytes, updated_at,
                        created_at, root_key_id, data_key_id, data_key, index_key)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`,
  // A NULL leaves the sealed attributes as they are.
  updateVault: `
    UPDATE vaults SET sealed = coalesce(?2, sealed), attribute_version = ?3, content_version = ?4, items = ?5, created = ?6,
      files = ?7, file_bytes = ?8, updated_at = ?9
    WHERE id = ?1`,
  replay: `
    INSERT INTO replays (vault_id, key, id, sealed) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (vault_id, key) DO UPDATE SET id = excluded.id, sealed = excluded.sealed`,
  keepWrites: `
    INSERT INTO past_writes (action, writes) SELECT key, value FROM json_each(?1) WHERE true
    ON CONFLICT (action) DO UPDATE SET writes = past_writes.writes + excluded.writes`,
  deleteVault: ["items", "files", "replays"]
    .map((table) => `DELETE FROM ${table} WHERE vault_id = ?1`)
    .concat("DELETE FROM vaults WHERE id = ?1"),
};

/**
 * Writes a commit.
 * Out: `committed`; `stale`: the fence held it back, nothing happened; `unknown`: D1 gave no answer, it may have happened.
 */
export async function writeCommit(store: Store, commit: Commit): Promise<Attempt> {
  const statements = commit.after ? await keep(store, commit, commit.after) : await destroy(store, commit);
  return attempt(store.db, statements);
}

async function keep(store: Store, commit: Commit, after: Vault): Promise<D1PreparedStatement[]> {
  const { db } = store;
  const { before } = commit;
  const created = before ? undefined : await createVaultKeys(store.keyring, commit.vault);
  const keys = before?.keys ?? created!.keys;
  const resealed = before?.vault.attributeVersion === after.attributeVersion ? null : await sealVault(keys, after);
  const counted = [after.items, after.created, after.files, after.fileBytes];
  const state = [after.id, resealed, after.attributeVersion, after.contentVersion, ...counted, after.updatedAt];
  const vault = created
    ? [
        await proofStatement(db, store.keyring.active),
        db.prepare(SQL.insertVault).bind(...state, after.createdAt, ...columns(created.wrapped)),
      ]
    : [db.prepare(SQL.updateVault).bind(...state)];
  const entries = await fencedEntries(store, commit, before?.vault ?? after);
  const files = await Promise.all(commit.files.map((change) => fileStatement(db, commit.vault, keys, change)));
  const items = await Promise.all(commit.items.map((change) => itemStatements(db, commit.vault, keys, change)));
  const replays = await Promise.all(
    commit.replays.map(async (replay) =>
      db.prepare(SQL.replay).bind(commit.vault, replay.key, replay.id, await sealReplay(keys, commit.vault, replay)),
    ),
  );
  // The fence looks at the versions before they move; a new vault's row has to be there first. An Item that goes takes
  // its Files along, those that the same commit gave it too.
  return [...(created ? [...vault, entries] : [entries, ...vault]), ...files, ...items.flat(), ...replays];
}

/** The log stays for its time, and the vault's deletion in it for ever: an id is not given out twice. */
async function destroy(store: Store, commit: Commit): Promise<D1PreparedStatement[]> {
  const { db } = store;
  const rows = SQL.deleteVault.map((sql) => db.prepare(sql).bind(commit.vault));
  const writes = db.prepare(SQL.keepWrites).bind(JSON.stringify(writesOf(commit.deleted!)));
  return [await fencedEntries(store, commit, commit.before!.vault), writes, ...rows];
}

async function fencedEntries({ db, keyring }: Store, commit: Commit, fence: Vault): Promise<D1PreparedStatement> {
  const rows = await Promise.all(commit.activities.map((activity) => sealActivity(keyring.active, activity)));
  return db.prepare(SQL.entries).bind(commit.vault, fence.contentVersion, fence.attributeVersion, JSON.stringify(rows));
}

const columns = (keys: WrappedKeys) => [keys.rootKeyId, keys.dataKeyId, keys.dataKey, keys.indexKey];
