import type { Keyring } from "../../crypto/keyring.ts";
import {
  BACKUP_FORMAT,
  bytesOfParts,
  type Cell,
  type PartRef,
  REGISTRY,
  type TableRows,
  type VaultBackupRef,
} from "../../model/backup.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { runBatch } from "../d1/database.ts";
import { DEPLOYMENT_LOST, SELECT_DEPLOYMENT } from "../d1/deployment.ts";
import { SCHEMA } from "../d1/schema.ts";
import { recordBackup } from "../health/backup-figures.ts";
import { type ProofRow, proofsStatement } from "../keys/root-keys.ts";
import { tableOf } from "../tables/tables.ts";
import { cutGroups } from "./cut.ts";
import { type BackupStore, findOpen, listBackupNumbers, loadManifest } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import {
  areOfOnePart,
  FIRST_POSITION,
  type Position,
  readRegistry,
  type RegistryRow,
  type RegistrySlice,
} from "./registry-rows.ts";
import { findNewest, loadSharedParts } from "./vault-state.ts";
import { writeManifest, writePart, type Writing } from "./write.ts";

/**
 * Makes the backup of the registry, in steps: reads the rows outside vaults, and writes the manifest. The rows of its tables do not depend on
 * one another, so they are not read again.
 */

/** The state between two steps: plain data, which the job keeps as JSON. */
export interface RegistryBackup {
  readonly number: number;
  /** True if parts of the previous registry are written too. */
  readonly full: boolean;
  /** Start of the backup, in Unix milliseconds. A repeated step writes the same manifest. */
  readonly at: number;
  readonly deployment: string;
  /** The row after which the next part begins. */
  readonly position: Position;
  readonly parts: readonly PartRef[];
  /** The ids of the root keys that its rows of tokens need. */
  readonly rootKeys: readonly string[];
}

/** The backups of vaults that a registry names. */
export interface NamedBackups {
  readonly snapshots: readonly VaultBackupRef[];
  /** The ids of the root keys that they need. */
  readonly rootKeys: readonly string[];
  /** The bytes of their parts. */
  readonly bytes: number;
  /** Number of vaults that have no backup, or an older one than the registry needs. */
  readonly behind: number;
}

/** Fails with `unavailable`, and with `misconfigured` if the database has lost the id of its deployment. */
export async function beginRegistry(store: BackupStore, isFull: boolean): Promise<Result<RegistryBackup>> {
  const { db } = store;
  const newest = await findNewest(store, REGISTRY);
  if (!newest.ok) return newest;
  const read = await runBatch<[{ id: string | null }]>(db, db.prepare(SELECT_DEPLOYMENT));
  if (!read.ok) return read;
  const deployment = read.value[0][0]!.id;
  if (deployment === null) return fail("misconfigured", DEPLOYMENT_LOST);
  const { number, open } = newest.value;
  const begun = { number: number + 1, full: isFull || !open, at: store.now, deployment };
  return ok({ ...begun, position: FIRST_POSITION, parts: [], rootKeys: [] });
}

/** Reads rows and writes their parts, until the step is spent or all rows are read. Fails with `unavailable`. */
export async function readRegistryRows(
  store: BackupStore,
  begun: RegistryBackup,
  isSpent: () => boolean,
): Promise<Result<{ readonly state: RegistryBackup; readonly isRead: boolean }>> {
  const previous = await loadSharedParts(store, { vault: REGISTRY, ...begun });
  if (!previous.ok) return previous;
  const writing: Writing = { store, vault: REGISTRY, deployment: begun.deployment, previous: previous.value };
  let state = begun;
  let waiting: readonly RegistryRow[] = [];
  do {
    const read = await readRegistry(store.db, { ...state.position, key: waiting.at(-1)?.key ?? state.position.key });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok({ state, isRead: true });
    const written = await writeRows(writing, state, slice, [...waiting, ...slice.rows], isSpent);
    if (!written.ok) return written;
    ({ waiting, state } = written.value);
    if (slice.isEnd && waiting.length === 0) state = { ...state, position: { table: state.position.table + 1, key: [] } };
    // A step without progress would be repeated endlessly.
  } while (!isSpent() || state.position === begun.position);
  return ok({ state, isRead: false });
}

/** Writes at least one part of rows whose cuts are known, until the step is spent. Returns the state and the rows without a part. */
async function writeRows(
  writing: Writing,
  begun: RegistryBackup,
  { table, columns, isEnd }: RegistrySlice,
  rows: readonly RegistryRow[],
  isSpent: () => boolean,
): Promise<Result<{ readonly state: RegistryBackup; readonly waiting: readonly RegistryRow[] }>> {
  let [waiting, rootKeys, position] = [rows, begun.rootKeys, begun.position];
  const parts = [...begun.parts];
  for (;;) {
    const isOver = isSpent() && parts.length > begun.parts.length;
    const count = isOver ? undefined : cutGroups(waiting, areOfOnePart(table), isEnd);
    if (count === undefined) return ok({ state: { ...begun, parts, rootKeys, position }, waiting });
    const some = waiting.slice(0, count);
    const part = { tables: [{ table: table.name, columns, rows: some.map(({ cells }) => cells) }] };
    const written = await writePart(writing, part);
    if (!written.ok) return written;
    parts.push(written.value);
    rootKeys = withKeys(rootKeys, keysOfRows(part.tables[0]!));
    position = { table: begun.position.table, key: some.at(-1)!.key };
    waiting = waiting.slice(count);
  }
}

/** Returns the ids of some vaults except those in `done`. Fails with `unavailable`. */
export const listVaultIds = async (db: D1Database, done: readonly string[], limit: number): Promise<Result<string[]>> =>
  map(await runBatch<[{ id: string }]>(db, db.prepare(SQL.vaults).bind(JSON.stringify(done), limit)), ([rows]) =>
    rows.map(({ id }) => id),
  );

/** Fails with `unavailable`. */
export const countVaults = async (db: D1Database): Promise<Result<number>> =>
  map(await runBatch<[{ vaults: number }]>(db, db.prepare(SQL.count)), ([[row]]) => row!.vaults);

const SQL = {
  vaults: "SELECT id FROM vaults WHERE id NOT IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT ?2",
  count: "SELECT count(*) AS vaults FROM vaults",
  /** The existing vaults of a list. ?1: their ids as a JSON array. */
  existing: "SELECT id FROM vaults WHERE id IN (SELECT value FROM json_each(?1))",
};

/**
 * Writes the manifest of the registry, and records its figures for /health. A vault that was since deleted is not named. Returns false if the
 * bucket has another manifest of its number. Fails with `unavailable`.
 */
export async function writeRegistry(store: BackupStore, state: RegistryBackup, named: NamedBackups): Promise<Result<boolean>> {
  const { db } = store;
  const ids = named.snapshots.map(({ vault }) => vault);
  const read = await runBatch<[ProofRow, { id: string }]>(
    db,
    proofsStatement(db),
    db.prepare(SQL.existing).bind(JSON.stringify(ids)),
  );
  if (!read.ok) return read;
  const [proofs, existing] = read.value;
  // A damaged row may name a root key that never existed.
  const proven = new Set([...store.keyring.keys.keys(), ...proofs.map(({ id }) => id)]);
  const isThere = new Set(existing.map(({ id }) => id));
  const { number, at, deployment, parts } = state;
  const snapshots = named.snapshots.filter(({ vault }) => isThere.has(vault)).toSorted((a, b) => (a.vault < b.vault ? -1 : 1));
  const written = await writeManifest(store, {
    format: BACKUP_FORMAT,
    deployment,
    vault: REGISTRY,
    number,
    at,
    schema: SCHEMA.newest,
    parts,
    snapshots,
    rootKeys: withKeys(named.rootKeys, state.rootKeys).filter((id) => proven.has(id)),
  });
  if (!written.ok) return written;
  if (!written.value) return ok(false);
  const recorded = await recordBackup({ ...store, now: at }, { ...named, number, vaults: snapshots.length });
  return recorded.ok ? ok(true) : recorded;
}

export const NO_BACKUPS: NamedBackups = { snapshots: [], rootKeys: [], bytes: 0, behind: 0 };

/** Adds the backup of a vault to those that the registry names. `open` is absent if the vault has none. */
export function nameBackup(named: NamedBackups, open: OpenManifest | undefined, isBehind: boolean): NamedBackups {
  const behind = named.behind + (isBehind ? 1 : 0);
  if (!open) return { ...named, behind };
  const { manifest, sha256, rootKey } = open;
  const { vault, number, parts, row } = manifest;
  return {
    snapshots: [...named.snapshots, { vault, number, sha256 }],
    rootKeys: withKeys(named.rootKeys, [rootKey, row?.["root_key_id"]]),
    bytes: named.bytes + bytesOfParts(parts),
    behind,
  };
}

/** Adds ids of root keys to a list. Omits values that are no ids. */
const withKeys = (known: readonly string[], ids: readonly (Cell | undefined)[]): readonly string[] => [
  ...new Set([...known, ...ids.filter((id) => typeof id === "string")]),
];

/**
 * Returns the ids of root keys in the rows of a table. Entries of the log need no root key: without it only their origins are lost, as in the database
 * (contract 20.6).
 */
function keysOfRows({ table, columns, rows }: TableRows): readonly (Cell | undefined)[] {
  const column = tableOf(table)?.countedByRootKey ? columns.indexOf("root_key_id") : -1;
  return column < 0 ? [] : rows.map((row) => row[column]);
}

/** Returns the ids of the root keys that a registry and its backups need (contract 20.2). */
export const keysOfRegistry = ({ manifest, rootKey }: OpenManifest): readonly string[] =>
  withKeys(manifest.rootKeys ?? [], [rootKey]);

/** Returns the ids that the newest authentic backup needs. Empty without such a backup, and without a bucket. Fails with `unavailable`. */
export async function loadNeededKeys(backups: Bucket | undefined, keyring: Keyring): Promise<Result<ReadonlySet<string>>> {
  if (!backups) return ok(new Set());
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const found = await findOpen(numbers.value, (number) => loadManifest(backups, keyring, { vault: REGISTRY, number }));
  return found.ok ? ok(new Set(found.value.newest ? keysOfRegistry(found.value.newest) : [])) : found;
}
