import {
  BACKUP_FORMAT,
  brokenRowsOf,
  bytesOfParts,
  type Manifest,
  NAMED_MAX,
  type PartRef,
  REGISTRY,
  type VaultBackupRef,
} from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { recordBackup } from "../health/backup-figures.ts";
import { type ProofRow, proofsStatement } from "../keys/root-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { findBrokenInRegistry } from "./broken.ts";
import { cutGroups } from "./cut.ts";
import { ensureDeployment } from "./deployment.ts";
import { loadManifest, loadPartsBefore } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import { keysOfRows, withKeys } from "./needed-keys.ts";
import type { BackupStore } from "./ports.ts";
import {
  areOfOnePart,
  FIRST_POSITION,
  type Position,
  readRegistry,
  type RegistryRow,
  type RegistrySlice,
} from "./registry-rows.ts";
import { findNewest } from "./vault-state.ts";
import { type PartWriting, putPart, writeManifest } from "./write.ts";

/**
 * Makes the backup of the registry, in steps: it reads what belongs to no vault, and writes the manifest. The rows of its tables do not
 * depend on one another, so they are not read again.
 */

/** The state between two steps: plain data, which the job keeps as JSON. */
export interface RegistryBackup {
  readonly number: number;
  /** Whether also the parts are written that the registry before has. */
  readonly full: boolean;
  readonly predecessor: string | null;
  readonly deployment: string;
  /** The row after which the next part begins. */
  readonly position: Position;
  readonly parts: readonly PartRef[];
  /** The ids of the root keys that its rows of tokens need. */
  readonly rootKeys: readonly string[];
}

/** What a registry names of the backups of vaults. */
export interface NamedBackups {
  readonly snapshots: readonly VaultBackupRef[];
  /** The ids of the root keys that they need. */
  readonly rootKeys: readonly string[];
  /** The bytes of their parts, and the number of their rows that did not open. */
  readonly bytes: number;
  readonly broken: number;
  /** The number of vaults whose backup is an older one, or that have none. */
  readonly behind: number;
  /** The number of snapshots, also of the registry, of which the bucket had lost objects when the next one began. */
  readonly damaged: number;
}

/** In: whether every part is written. Out: also what the bucket has lost of the registry before: then every part is. Errors: `unavailable`. */
export async function beginRegistry(
  store: BackupStore,
  full: boolean,
): Promise<Result<{ readonly state: RegistryBackup; readonly lost: readonly Finding[] }>> {
  const [newest, deployment] = [await findNewest(store, REGISTRY), await ensureDeployment(store)];
  if (!newest.ok) return newest;
  if (!deployment.ok) return deployment;
  const { number, open, lost } = newest.value;
  const predecessor = open?.sha256 ?? null;
  const begun = { number: number + 1, full: full || lost.length > 0, predecessor, deployment: deployment.value };
  return ok({ state: { ...begun, position: FIRST_POSITION, parts: [], rootKeys: [] }, lost });
}

/** Reads rows and writes their parts, until the step is spent. Out: whether all rows are read. Errors: `unavailable`. */
export async function readRegistryRows(
  store: BackupStore,
  begun: RegistryBackup,
  isSpent: () => boolean,
): Promise<Result<{ readonly state: RegistryBackup; readonly isRead: boolean }>> {
  const previous = begun.full ? ok(new Map()) : await loadPartsBefore(store, { vault: REGISTRY, ...begun });
  if (!previous.ok) return previous;
  const writing: PartWriting = { store, vault: REGISTRY, deployment: begun.deployment, previous: previous.value };
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
    // A step that has reached nothing would be repeated for ever.
  } while (!isSpent() || state.position === begun.position);
  return ok({ state, isRead: false });
}

/** Writes at least one part of rows whose cuts are known, until the step is spent. Returns the state and the rows without a part. */
async function writeRows(
  writing: PartWriting,
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
    const put = await putPart(writing, part);
    if (!put.ok) return put;
    const isKnown = writing.previous.has(put.value.sha256);
    const broken = isKnown ? [] : (await findBrokenInRegistry(writing.store, begun.number, part)).slice(0, NAMED_MAX);
    parts.push(broken.length > 0 ? { ...put.value, broken } : put.value);
    rootKeys = withKeys(rootKeys, keysOfRows(part.tables[0]!));
    position = { table: begun.position.table, key: some.at(-1)!.key };
    waiting = waiting.slice(count);
  }
}

const SQL = {
  /** Which vaults of a list exist. ?1: their ids as a JSON array. */
  existing: "SELECT id FROM vaults WHERE id IN (SELECT value FROM json_each(?1))",
};

/**
 * Writes the manifest of the registry, and records its figures for /health. A vault that was deleted meanwhile is not named. Out: as
 * `writeManifest`. Errors: `unavailable`.
 */
export async function writeRegistry(
  store: BackupStore,
  state: RegistryBackup,
  named: NamedBackups,
): Promise<Result<OpenManifest | undefined>> {
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
  const { number, predecessor, deployment, parts } = state;
  const snapshots = named.snapshots.filter(({ vault }) => isThere.has(vault)).toSorted((a, b) => (a.vault < b.vault ? -1 : 1));
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    deployment,
    vault: REGISTRY,
    number,
    predecessor,
    at: store.now,
    schema: SCHEMA.newest,
    parts,
    snapshots,
    rootKeys: withKeys(named.rootKeys, state.rootKeys).filter((id) => proven.has(id)),
  };
  const put = await writeManifest(store, manifest);
  if (!put.ok) return put;
  // A step that is repeated has written another time before.
  const written = put.value ? put : await findWritten(store, manifest);
  if (!written.ok || !written.value) return written;
  const broken = named.broken + brokenRowsOf(manifest).length;
  const { at } = written.value.manifest;
  const recorded = await recordBackup({ ...store, now: at }, { ...named, broken, number, vaults: snapshots.length });
  return recorded.ok ? written : recorded;
}

/** The registry of this number, if it names the same backups and follows the same registry. Errors: `unavailable`. */
async function findWritten(
  { backups, keyring }: BackupStore,
  { vault, number, predecessor, snapshots }: Manifest,
): Promise<Result<OpenManifest | undefined>> {
  const open = await loadManifest(backups, keyring, { vault, number });
  if (!open.ok) return open.failure.kind === "unavailable" ? open : ok(undefined);
  const { manifest } = open.value;
  const isTheSame = manifest.predecessor === predecessor && JSON.stringify(manifest.snapshots) === JSON.stringify(snapshots);
  return ok(isTheSame ? open.value : undefined);
}

/** Adds the backup of a vault to those that the registry names. In: absent when the vault has none. */
export function nameBackup(named: NamedBackups, open: OpenManifest | undefined, isBehind: boolean): NamedBackups {
  const behind = named.behind + (isBehind ? 1 : 0);
  if (!open) return { ...named, behind };
  const { manifest, sha256, rootKey } = open;
  const { vault, number, parts, row } = manifest;
  return {
    ...named,
    snapshots: [...named.snapshots, { vault, number, sha256 }],
    rootKeys: withKeys(named.rootKeys, [rootKey, row?.["root_key_id"]]),
    bytes: named.bytes + bytesOfParts(parts),
    broken: named.broken + brokenRowsOf(manifest).length,
    behind,
  };
}

export const NO_BACKUPS: NamedBackups = { snapshots: [], rootKeys: [], bytes: 0, broken: 0, behind: 0, damaged: 0 };

/** In: what the bucket has lost of one snapshot. */
export const nameLoss = (named: NamedBackups, lost: readonly Finding[]): NamedBackups =>
  lost.length === 0 ? named : { ...named, damaged: named.damaged + 1 };
