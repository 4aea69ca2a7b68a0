import { createVaultKeys } from "../crypto/vault-keys.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Activity } from "../model/activity.ts";
import { ADMIN } from "../model/operation.ts";
import { type Vault, writesOf } from "../model/vault.ts";
import { ACTIVITY, sealActivity } from "./activity.ts";
import { type Attempt, attempt, type Store } from "./database.ts";
import type { Memory, Written } from "./memory.ts";
import { oldestReplay, type Replay, sealReplay } from "./replays.ts";
import { proofStatement } from "./root-keys.ts";
import { changeItem, type FileChange, fileStatement, type ItemChange } from "./row-changes.ts";
import { type OpenVault, sealVault, vaultRow, wrappedKeys } from "./vaults.ts";

/**
 * What a group of writes did to a vault, written by one batch: all of it or nothing.
 *
 * The fence: the first statement inserts the activity rows with `vault_id` looked up by the versions that the snapshot
 * had. When another coordinator has committed since, that look-up gives NULL, the NOT NULL column refuses it, and D1
 * rolls the batch back. Every commit moves one of the two versions, so of all commits on one snapshot one succeeds. (The
 * time is there for a restored database, which repeats versions.)
 * It looks too whether the tokens are still in and the Idempotency-Keys still unused, and the key of the log refuses an
 * operation that took effect before: a snapshot out of memory takes all that for granted.
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
    SELECT (
      SELECT id FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4
        AND NOT EXISTS (SELECT 1 FROM json_each(?6) AS actor WHERE NOT EXISTS (SELECT 1 FROM tokens WHERE id = actor.value))
        AND NOT EXISTS (SELECT 1 FROM json_each(?7) AS asked JOIN replays AS r ON r.vault_id = ?1 AND r.key = asked.value
                        WHERE r.id >= ?8)
    ), ${ACTIVITY.values}
    FROM json_each(?5)`,
  insertVault: `
    INSERT INTO vaults (id, sealed, attribute_version, content_version, items, created, files, file_bytes, updated_at,
                        created_at, root_key_id, data_key_id, data_key, index_key)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`,
  updateVault: `
    UPDATE vaults SET sealed = ?2, attribute_version = ?3, content_version = ?4, items = ?5, created = ?6,
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

/** The batch of a commit, and what it does to the rows; nothing, when they are gone. */
interface Batch {
  readonly statements: D1PreparedStatement[];
  readonly written: Written | undefined;
}

/**
 * Writes a commit; the memory learns what became of it.
 * Out: `committed`; `stale`: the fence held it back, nothing happened; `unknown`: D1 gave no answer, it may have happened.
 */
export async function writeCommit(store: Store, memory: Memory, commit: Commit): Promise<Attempt> {
  const { statements, written } = commit.after ? await keep(store, commit, commit.after) : await destroy(store, commit);
  const outcome = await attempt(store.db, statements);
  memory.advance(outcome === "committed" ? written : undefined);
  return outcome;
}

async function keep(store: Store, commit: Commit, after: Vault): Promise<Batch> {
  const { db } = store;
  const { before } = commit;
  const created = before ? undefined : await createVaultKeys(store.keyring, commit.vault);
  const keys = before?.keys ?? created!.keys;
  const same = before?.vault.attributeVersion === after.attributeVersion;
  const row = vaultRow(
    after,
    same ? before.row.sealed : await sealVault(keys, after),
    before ? wrappedKeys(before.row) : created!.wrapped,
  );
  const state = [row.id, row.sealed, row.attribute_version, row.content_version, row.items, row.created];
  state.push(row.files, row.file_bytes, row.updated_at);
  const vault = created
    ? [
        await proofStatement(db, store.keyring.active),
        db.prepare(SQL.insertVault).bind(...state, row.created_at, row.root_key_id, row.data_key_id, row.data_key, row.index_key),
      ]
    : [db.prepare(SQL.updateVault).bind(...state)];
  const entries = await fencedEntries(store, commit, before?.vault ?? after);
  const files = await Promise.all(commit.files.map((change) => fileStatement(db, commit.vault, keys, change)));
  const items = await Promise.all(commit.items.map((change) => changeItem(db, commit.vault, keys, change)));
  const replays = await Promise.all(
    commit.replays.map(async (replay) =>
      db.prepare(SQL.replay).bind(commit.vault, replay.key, replay.id, await sealReplay(keys, commit.vault, replay)),
    ),
  );
  // The fence looks at the versions before they move; a new vault's row has to be there first. An Item that goes takes
  // its Files along, those that the same commit gave it too.
  const fenced = created ? [...vault, entries] : [entries, ...vault];
  const gone = commit.items.filter((change) => !change.after).map(({ id }) => id);
  return {
    statements: [...fenced, ...files, ...items.flatMap(({ statements }) => statements), ...replays],
    written: {
      vault: row,
      items: items.flatMap((item) => item.row ?? []),
      unknown: [...gone, ...commit.files.map(({ item }) => item)],
    },
  };
}

/** The log stays for its time, and the vault's deletion in it for ever: an id is not given out twice. */
async function destroy(store: Store, commit: Commit): Promise<Batch> {
  const { db } = store;
  const rows = SQL.deleteVault.map((sql) => db.prepare(sql).bind(commit.vault));
  const writes = db.prepare(SQL.keepWrites).bind(JSON.stringify(writesOf(commit.deleted!)));
  return { statements: [await fencedEntries(store, commit, commit.before!.vault), writes, ...rows], written: undefined };
}

async function fencedEntries({ db, keyring, now }: Store, commit: Commit, fence: Vault): Promise<D1PreparedStatement> {
  const { vault, activities, replays } = commit;
  const rows = await Promise.all(activities.map((activity) => sealActivity(keyring.active, activity)));
  const actors = new Set(activities.map(({ actor }) => actor).filter((actor) => actor !== ADMIN));
  const lists = [rows, [...actors], replays.map(({ key }) => key)].map((list) => JSON.stringify(list));
  const state = [fence.contentVersion, fence.attributeVersion, fence.updatedAt];
  return db.prepare(SQL.entries).bind(vault, ...state, ...lists, oldestReplay(now));
}
