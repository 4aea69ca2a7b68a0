import { addVaultKey } from "../../crypto/vault-keys.ts";
import type { Activity } from "../../model/activity.ts";
import type { ContentPlace } from "../../model/file.ts";
import { type Vault, writesOf } from "../../model/vault.ts";
import { type ActivityRow, sealActivity } from "../activity/entries.ts";
import { type BatchOutcome, type Store, tryBatch } from "../d1/database.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { type OpenVault, sealVault, vaultRow } from "../vaults/rows.ts";
import type { RowCache, WrittenRows } from "./cache.ts";
import { recordDeletion } from "./deleted-vaults.ts";
import { fencedEntries, fencedRecords } from "./fence.ts";
import { type IdempotencyRecord, sealRecord } from "./idempotency.ts";
import type { TokenHashes } from "./rows.ts";
import { type FileChange, fileStatement } from "./file-rows.ts";
import { changeItem, type ItemChange } from "./row-changes.ts";
import { insertVault, updateVault, writeKeys } from "./vault-changes.ts";
import { versionStatements } from "./version-rows.ts";

/** The effect of a group of writes on a vault. One batch behind the fence writes all of it or nothing. */
export interface Commit {
  readonly vault: string;
  /** The actors that the snapshot assumed to be authorized, with the hashes of their tokens. */
  readonly actors: TokenHashes;
  /** The vault in the snapshot; absent when it is new, and when it does not open: then it can only be deleted. */
  readonly before: OpenVault | undefined;
  /** The vault after the commit; absent when it is deleted. */
  readonly after: Vault | undefined;
  /** The vault at the moment of its deletion: its counts go into `past_writes`. */
  readonly deleted: Vault | undefined;
  /** By how many bytes the sealed texts of Items and Files grow. */
  readonly sealedGrowth: number;
  readonly items: readonly ItemChange[];
  /** In the order of the operations: some of them change what earlier ones have written. */
  readonly files: readonly FileChange[];
  /** Contents that no row references after the commit. They are recorded as pending before it. */
  readonly released: readonly ContentPlace[];
  readonly activities: readonly Activity[];
  readonly records: readonly IdempotencyRecord[];
  /** The ids that clients have chosen for new Items: the snapshot assumed that D1 holds nothing of them. */
  readonly chosen: readonly string[];
}

/** The result of one attempt to write a commit. */
export interface CommitAttempt {
  /** `stale`: the fence refused the batch. `unknown`: D1 gave no answer, so the batch may have taken effect. */
  readonly outcome: BatchOutcome;
  /** By operation id, the sealed text of its log entry in this attempt: it identifies the attempt. */
  readonly entries: ReadonlyMap<string, string>;
}

const SQL = {
  record: `
    INSERT INTO replays (vault_id, key, id, sealed) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (vault_id, key) DO UPDATE SET id = excluded.id, sealed = excluded.sealed`,
  addPastWrites: `
    INSERT INTO past_writes (action, writes) SELECT key, value FROM json_each(?1) WHERE true
    ON CONFLICT (action) DO UPDATE SET writes = past_writes.writes + excluded.writes`,
  deleteVault: "DELETE FROM vaults WHERE id = ?1",
  /** A restore that was begun and given up. */
  deleteRestore: "DELETE FROM restores WHERE vault_id = ?1",
};

interface Batch {
  readonly statements: D1PreparedStatement[];
  /** The rows after the batch; absent when the vault is deleted. */
  readonly written: WrittenRows | undefined;
}

/** Writes a commit in one D1 call, and updates the cache by the outcome. */
export async function writeCommit(store: Store, cache: RowCache, commit: Commit): Promise<CommitAttempt> {
  if (commit.activities.length === 0) return writeRecords(store, commit);
  const rows = await Promise.all(commit.activities.map((activity) => sealActivity(store, activity)));
  const { statements, written } = await (commit.after
    ? updateBatch(store, commit, rows, commit.after)
    : deleteBatch(store, commit, rows));
  const outcome = await tryBatch(store.db, statements);
  cache.update(outcome === "committed" ? written : undefined);
  return { outcome, entries: new Map(rows.map(({ id, sealed }) => [id, sealed])) };
}

/**
 * Writes the records of operations that changed nothing. No row changes that the cache may have. The operations did nothing, so the
 * answers are true without the records too, for which D1 may have no room (contract 10.12).
 */
async function writeRecords(store: Store, commit: Commit): Promise<CommitAttempt> {
  const { keys, vault } = commit.before!;
  const seal = async (record: IdempotencyRecord) => ({
    key: record.key,
    id: record.id,
    sealed: await sealRecord(keys, commit.vault, record),
  });
  const rows = await Promise.all(commit.records.map(seal));
  const outcome = await tryBatch(store.db, [fencedRecords(store, vault, commit, rows)]);
  return { outcome: outcome === "full" ? "committed" : outcome, entries: new Map() };
}

async function updateBatch(store: Store, commit: Commit, rows: readonly ActivityRow[], after: Vault): Promise<Batch> {
  const { db } = store;
  const { before } = commit;
  const hasNewKey = before?.vault.dataKeyId !== after.dataKeyId;
  const { keys, wrapped } = before && !hasNewKey ? before : await addVaultKey(store.keyring, after.id, after.dataKeyId, before);
  const unchanged = before?.vault.attributeVersion === after.attributeVersion;
  const texts = unchanged ? before.row : await sealVault(keys, after);
  const row = vaultRow(after, texts, wrapped, hasNewKey ? null : before.row.resealed);
  const kept = Math.max(0, ...commit.items.map(countKept));
  const update = () => [updateVault(db, row, commit.sealedGrowth, kept), ...(hasNewKey ? [writeKeys(db, row)] : [])];
  const vault = before
    ? update()
    : [await proofStatement(db, store.keyring.active), insertVault(db, row, commit.sealedGrowth, kept)];
  const entries = fencedEntries(store, before?.vault ?? after, commit, rows);
  const files = await Promise.all(commit.files.map((change) => fileStatement(db, commit.vault, keys, change)));
  const items = await Promise.all(commit.items.map((change) => changeItem(db, commit.vault, keys, change)));
  const versionRows = await versionStatements(db, commit.vault, keys, commit.items);
  const records = await Promise.all(
    commit.records.map(async (record) =>
      db.prepare(SQL.record).bind(commit.vault, record.key, record.id, await sealRecord(keys, commit.vault, record)),
    ),
  );
  // The fence reads the versions before the UPDATE changes them; the row of a new vault has to exist before the fence.
  // A version moves before its row in `items` changes. Rows of Files and versions are deleted after all other changes.
  const fenced = before ? [entries, ...vault] : [...vault, entries];
  const { first, last } = versionRows;
  return {
    statements: [...fenced, ...files, ...first, ...items.flatMap(({ statements }) => statements), ...last, ...records],
    written: {
      vault: row,
      items: items.flatMap((item) => item.row ?? []),
      kept: new Map(commit.items.flatMap(({ id, stored }) => (stored.after ? [[id, stored.after] as const] : []))),
      created: commit.items.filter(({ stored }) => !stored.before).map(({ id }) => id),
      unknown: [
        ...commit.items.filter((_, index) => !items[index]!.row).map(({ id }) => id),
        ...commit.files.map(({ item }) => item),
      ],
    },
  };
}

/** How many earlier versions an Item keeps; a deleted Item has its last version among them. */
const countKept = ({ stored: { after } }: ItemChange): number =>
  after ? after.versions.length - Number(after.current === undefined) : 0;

/**
 * Deletes the vault's row, with its keys; deleted-vaults.ts deletes its other rows afterwards.
 * The log entries stay for the retention, and the entry of the vault's deletion for ever: no id is issued twice.
 */
function deleteBatch(store: Store, commit: Commit, rows: readonly ActivityRow[]): Batch {
  const { db } = store;
  const entries = fencedEntries(store, commit.before?.vault ?? commit.deleted!, commit, rows);
  const writes = db.prepare(SQL.addPastWrites).bind(JSON.stringify(writesOf(commit.deleted!)));
  const rowsOf = [SQL.deleteVault, SQL.deleteRestore].map((sql) => db.prepare(sql).bind(commit.vault));
  const deletion = [recordDeletion(db, commit.vault, store.now), ...rowsOf];
  return { statements: [entries, writes, ...deletion], written: undefined };
}
