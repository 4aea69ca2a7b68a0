import { addVaultKey, type VaultKeys } from "../../crypto/vault-keys.ts";
import type { Activity } from "../../model/activity.ts";
import type { ContentAddress } from "../../model/file.ts";
import type { Item } from "../../model/item.ts";
import { COUNT_MAX } from "../../model/limits.ts";
import { TIME_END } from "../../model/time.ts";
import { type NamedVault, type Vault, writesOf } from "../../model/vault.ts";
import { type ActivityRow, sealActivity } from "../activity/entry-rows.ts";
import { type BatchOutcome, type BatchResult, type Store, tryBatch } from "../d1/database.ts";
import { type ItemRow, sealItem, type SealedItem } from "../items/items.ts";
import { proofStatement } from "../keys/root-keys.ts";
import { columnsInVault } from "../tables/slices.ts";
import { assignments, insertRow, valuesOf, into } from "../tables/statements.ts";
import { TABLES } from "../tables/tables.ts";
import { type OpenVault, sealVault, vaultRow, type VaultRow } from "../vaults/rows.ts";
import type { RowCache, WrittenRows } from "./cache.ts";
import { recordDeletion } from "./deleted-vaults.ts";
import { fencedEntries, fencedRecords } from "./fence.ts";
import { type IdempotencyRecord, sealRecord } from "./idempotency.ts";
import { type FileChange, fileStatement, type VersionChange, versionStatements } from "./item-rows.ts";
import type { TokenHashes } from "./rows.ts";

/** The effect of a group of writes on a vault. One batch behind the fence writes all of it or nothing. */
export interface Commit {
  readonly vault: string;
  /** The tokens that the snapshot assumed to be in use, with their hashes. */
  readonly tokens: TokenHashes;
  /** The vault in the snapshot. Absent if the vault is new or broken; a broken vault can only be deleted. */
  readonly before: OpenVault | undefined;
  /** The vault after the commit; absent when it is deleted. */
  readonly after: Vault | undefined;
  /** The vault at the moment of its deletion: its counts go into `past_writes`. */
  readonly deleted: Vault | undefined;
  readonly items: readonly ItemChange[];
  /** In the order of the operations, because some of them change rows that earlier operations have written. */
  readonly files: readonly FileChange[];
  /** Contents that no row references after the commit. They are recorded as pending before it. */
  readonly released: readonly ContentAddress[];
  readonly activities: readonly Activity[];
  readonly records: readonly IdempotencyRecord[];
  /** The ids that clients have chosen for new Items: the snapshot assumed that D1 holds nothing of them. */
  readonly chosen: readonly string[];
}

/** The result of one attempt to write a commit. */
export interface CommitAttempt extends BatchResult {
  /** `stale`: the fence refused the batch. `unknown`: D1 gave no answer, so the batch may have taken effect. */
  readonly outcome: BatchOutcome;
  /** By operation id, the sealed text of its log entry in this attempt: it identifies the attempt. */
  readonly entries: ReadonlyMap<string, string>;
}

const SQL = {
  record: `
    INSERT ${into("replays")} VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (vault_id, key) DO UPDATE SET id = excluded.id, sealed = excluded.sealed`,
  addPastWrites: `
    INSERT ${into("past_writes")} SELECT key, value FROM json_each(?1) WHERE true
    ON CONFLICT (action) DO UPDATE SET writes = min(max(past_writes.writes, 0), ${COUNT_MAX}) + excluded.writes`,
  deleteVault: "DELETE FROM vaults WHERE id = ?1",
  /** A damaged vault is read with 0 in place of wrong numbers (vaults/rows.ts), which the fence then finds. */
  zeroWrongNumbers: `
    UPDATE vaults SET content_version = iif(content_version BETWEEN 0 AND ${COUNT_MAX}, content_version, 0),
      attribute_version = iif(attribute_version BETWEEN 0 AND ${COUNT_MAX}, attribute_version, 0),
      updated_at = iif(updated_at BETWEEN 0 AND ${TIME_END - 1}, updated_at, 0)
    WHERE id = ?1`,
  /** Deletes a restore that was abandoned. */
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
  const result = await tryBatch(store.db, statements);
  cache.update(result.outcome === "committed" ? written : undefined);
  return { ...result, entries: new Map(rows.map(({ id, sealed }) => [id, sealed])) };
}

/**
 * Writes the idempotency records of operations that changed nothing. It changes no row that the cache may have. The answers hold even when
 * D1 has no room for the records, because the operations changed nothing (contract 10.12).
 */
async function writeRecords(store: Store, commit: Commit): Promise<CommitAttempt> {
  const { keys, vault } = commit.before!;
  const seal = async (record: IdempotencyRecord) => ({
    key: record.key,
    id: record.id,
    sealed: await sealRecord(keys, commit.vault, record),
  });
  const rows = await Promise.all(commit.records.map(seal));
  const result = await tryBatch(store.db, [fencedRecords(store, vault, commit, rows)]);
  return { ...(result.outcome === "full" ? { outcome: "committed" } : result), entries: new Map() };
}

async function updateBatch(store: Store, commit: Commit, rows: readonly ActivityRow[], after: Vault): Promise<Batch> {
  const { db } = store;
  const { before } = commit;
  const hasNewKey = before?.vault.dataKeyId !== after.dataKeyId;
  const { keys, wrapped } = before && !hasNewKey ? before : await addVaultKey(store.keyring, after.id, after.dataKeyId, before);
  const unchanged = before?.vault.attributeVersion === after.attributeVersion;
  // A change of the version shows both texts (vault/items.ts).
  const texts = unchanged ? before.row : await sealVault(keys, after as NamedVault);
  const row = vaultRow(after, texts, wrapped);
  const keptMax = Math.max(0, ...commit.items.map(countKept));
  const sealedGrowth = after.sealedBytes - (before?.vault.sealedBytes ?? 0);
  const update = () => [updateVault(db, row, sealedGrowth, keptMax), ...(hasNewKey ? [writeKeys(db, row)] : [])];
  const vault = before ? update() : [await proofStatement(db, store.keyring.active), insertVault(db, row, keptMax)];
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

/** Returns the number of earlier versions that an Item keeps, including the last version of a deleted Item. */
const countKept = ({ stored: { after } }: ItemChange): number =>
  after ? after.versions.length - Number(after.current === undefined) : 0;

/**
 * Deletes the vault's row with its keys; deleted-vaults.ts deletes its other rows later. The log entries are kept for the retention. The
 * record of the deletion is kept permanently, so that no id is issued twice.
 */
function deleteBatch(store: Store, commit: Commit, rows: readonly ActivityRow[]): Batch {
  const { db } = store;
  const entries = fencedEntries(store, commit.before?.vault ?? commit.deleted!, commit, rows);
  const writes = db.prepare(SQL.addPastWrites).bind(JSON.stringify(writesOf(commit.deleted!)));
  const rowsOf = [SQL.deleteVault, SQL.deleteRestore].map((sql) => db.prepare(sql).bind(commit.vault));
  const deletion = [recordDeletion(db, commit.vault, store.now), ...rowsOf];
  const readable = commit.before ? [] : [db.prepare(SQL.zeroWrongNumbers).bind(commit.vault)];
  return { statements: [...readable, entries, writes, ...deletion], written: undefined };
}

interface ItemChange extends VersionChange {
  /** The Item before. Absent if it did not exist or could not be decrypted. */
  readonly before: Item | undefined;
  /** The Item after; absent when it is deleted. */
  readonly after: Item | undefined;
}

const ITEM_COLUMNS = columnsInVault(TABLES.items) as (keyof SealedItem)[];
const INDEX_COLUMNS = Object.keys(TABLES.items.derived) as (keyof SealedItem)[];
/** The columns that each write of an Item changes. */
const VERSION_COLUMNS = ITEM_COLUMNS.filter((column) => column !== "id" && !INDEX_COLUMNS.includes(column));

const ITEM_SQL = {
  insertItem: insertRow("items", ["vault_id", ...ITEM_COLUMNS]),
  updateItem: `UPDATE items SET ${assignments(VERSION_COLUMNS, 3)} WHERE vault_id = ?1 AND id = ?2`,
  // A separate statement, because SET of an indexed column writes the index even if the value does not change.
  renameItem: `UPDATE items SET ${assignments([...VERSION_COLUMNS, ...INDEX_COLUMNS], 3)} WHERE vault_id = ?1 AND id = ?2`,
  deleteItem: "DELETE FROM items WHERE vault_id = ?1 AND id = ?2",
};

/** The statements that write a row, and the row that they write. */
interface RowChange {
  readonly statements: readonly D1PreparedStatement[];
  /** Absent when the Item is deleted, or only its earlier versions change. */
  readonly row: ItemRow | undefined;
}

/** Writes the row of an Item, or deletes it. */
async function changeItem(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  { id, before, after, stored }: ItemChange,
): Promise<RowChange> {
  const inVault = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(vault, id, ...values);
  const existed = stored.before?.current !== undefined;
  if (!stored.after?.current) return { statements: existed ? [inVault(ITEM_SQL.deleteItem)] : [], row: undefined };
  if (!after || after === before) return { statements: [], row: undefined };
  const sealed = await sealItem(keys, after);
  const { title_index: _title, folded_index: _folded, ...row } = sealed;
  if (!existed) return { statements: [db.prepare(ITEM_SQL.insertItem).bind(vault, ...valuesOf(sealed, ITEM_COLUMNS))], row };
  const version = valuesOf(sealed, VERSION_COLUMNS);
  if (before?.title === after.title) return { statements: [inVault(ITEM_SQL.updateItem, ...version)], row };
  return { statements: [inVault(ITEM_SQL.renameItem, ...version, ...valuesOf(sealed, INDEX_COLUMNS))], row };
}

const VAULT_COLUMNS = Object.keys(TABLES.vaults.columns).filter((column) => column !== "versions_kept") as (keyof VaultRow)[];

/** The columns of a vault that a commit does not change, or changes relative to their value in D1. */
const UNSET: ReadonlySet<keyof VaultRow> = new Set(["id", "created_at", "root_key_id", "keys", "sealed_bytes"]);
const STATE_COLUMNS = VAULT_COLUMNS.filter((column) => !UNSET.has(column));

const VAULT_SQL = {
  insertVault: insertRow("vaults", [...VAULT_COLUMNS, "versions_kept"]),
  // Neither the sealed bytes nor `versions_kept` are part of the fence: other statements may have changed them since the row was
  // read (repairs.ts, due-items.ts).
  updateVault: `
    UPDATE vaults SET sealed_bytes = max(sealed_bytes + ?2, 0), versions_kept = max(versions_kept, ?3), ${assignments(STATE_COLUMNS, 4)}
    WHERE id = ?1`,
  writeKeys: "UPDATE vaults SET root_key_id = ?2, keys = ?3 WHERE id = ?1",
};

/** Returns the statement that inserts the row of a new vault. `keptMax` is the most earlier versions that one of its Items keeps. */
const insertVault = (db: D1Database, row: VaultRow, keptMax: number): D1PreparedStatement =>
  db.prepare(VAULT_SQL.insertVault).bind(...valuesOf(row, VAULT_COLUMNS), keptMax);

/**
 * Returns the statement that updates the row of a vault. `sealedGrowth` is the change in bytes of its sealed texts. `keptMax` is the
 * highest number of earlier versions that one of the written Items keeps.
 */
const updateVault = (db: D1Database, row: VaultRow, sealedGrowth: number, keptMax: number): D1PreparedStatement =>
  db.prepare(VAULT_SQL.updateVault).bind(row.id, sealedGrowth, keptMax, ...valuesOf(row, STATE_COLUMNS));

/**
 * Returns the statement that writes the key list of a vault with a new key, in a commit that increments `attribute_version`. `row` is the row
 * after the commit.
 */
const writeKeys = (db: D1Database, row: VaultRow): D1PreparedStatement =>
  db.prepare(VAULT_SQL.writeKeys).bind(row.id, row.root_key_id, row.keys);
