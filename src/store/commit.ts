import { createVaultKeys } from "../crypto/vault-keys.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Activity } from "../model/activity.ts";
import { type Vault, writesOf } from "../model/vault.ts";
import { type ActivityRow, sealActivity } from "./activity.ts";
import { type Attempt, attempt, type Store } from "./database.ts";
import { fencedEntries } from "./fence.ts";
import type { Memory, Written } from "./memory.ts";
import { type Replay, sealReplay } from "./replays.ts";
import { proofStatement } from "./root-keys.ts";
import { changeItem, type FileChange, fileStatement, type ItemChange } from "./row-changes.ts";
import { type OpenVault, sealVault, vaultRow, wrappedKeys } from "./vaults.ts";

/** What a group of writes did to a vault, written by one batch behind the fence: all of it or nothing. */
export interface Commit {
  readonly vault: string;
  /** The tokens that the snapshot took to be in. */
  readonly actors: readonly string[];
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
 * And the entries of the log as this attempt has them, by which it is known again.
 */
export async function writeCommit(
  store: Store,
  memory: Memory,
  commit: Commit,
): Promise<{ outcome: Attempt; entries: readonly ActivityRow[] }> {
  const { activities } = commit;
  const entries = await Promise.all(activities.map((activity) => sealActivity(store.keyring.active, activity)));
  const { statements, written } = await (commit.after
    ? keep(store, commit, entries, commit.after)
    : destroy(store, commit, entries));
  const outcome = await attempt(store.db, statements);
  memory.advance(outcome === "committed" ? written : undefined);
  return { outcome, entries };
}

async function keep(store: Store, commit: Commit, rows: readonly ActivityRow[], after: Vault): Promise<Batch> {
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
  const counted = [row.items, row.created, row.files, row.file_bytes];
  const state = [row.id, row.sealed, row.attribute_version, row.content_version, ...counted, row.updated_at];
  const vault = created
    ? [
        await proofStatement(db, store.keyring.active),
        db.prepare(SQL.insertVault).bind(...state, row.created_at, row.root_key_id, row.data_key_id, row.data_key, row.index_key),
      ]
    : [db.prepare(SQL.updateVault).bind(...state)];
  const entries = fencedEntries(store, before?.vault ?? after, commit, rows);
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
      created: commit.items.filter(({ existed }) => !existed).map(({ id }) => id),
      unknown: [...gone, ...commit.files.map(({ item }) => item)],
    },
  };
}

/** The log stays for its time, and the vault's deletion in it for ever: an id is not given out twice. */
function destroy(store: Store, commit: Commit, rows: readonly ActivityRow[]): Batch {
  const { db } = store;
  const entries = fencedEntries(store, commit.before!.vault, commit, rows);
  const writes = db.prepare(SQL.keepWrites).bind(JSON.stringify(writesOf(commit.deleted!)));
  const deletions = SQL.deleteVault.map((sql) => db.prepare(sql).bind(commit.vault));
  return { statements: [entries, writes, ...deletions], written: undefined };
}
