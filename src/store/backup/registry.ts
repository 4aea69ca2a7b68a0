import { BACKUP_FORMAT, type Cell, type Manifest, type PartRef, REGISTRY, type VaultBackupRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { isInUse } from "../d1/deployment.ts";
import { type ProofRow, proofsStatement } from "../keys/root-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { findNewest, type Newest } from "./begin.ts";
import { recordBackup } from "../health/backup-figures.ts";
import { BROKEN_ROWS_MAX, findBrokenInRegistry } from "./broken.ts";
import { keysOfRows, withKeys } from "./needed-keys.ts";
import type { BackupStore } from "./ports.ts";
import { prune } from "./prune.ts";
import { FIRST_POSITION, type Position, readRegistry } from "./registry-tables.ts";
import { deleteRunning, type Loaded, loadRunning, saveRunning } from "./running.ts";
import { writeManifest, writePart } from "./write.ts";
import type { Finding } from "../../model/finding.ts";
import type { OpenManifest } from "./manifest.ts";

/**
 * Makes the backup of the registry, in steps: finds the newest backup of each vault, reads what belongs to no vault, writes the
 * manifest, then deletes backups that are too old. The rows of its tables do not depend on one another, so they are not read again.
 */

/** The answer of a step. */
export interface RegistryReport {
  /**
   * `waiting`: a vault has no backup, or none of this run. `busy`: another driver has continued the registry. `unrestored`: the database
   * was never used, and the bucket has backups of a database that was used. Nothing is written, because these backups have to be restored.
   */
  readonly state: "reading" | "waiting" | "pruning" | "done" | "busy" | "unrestored";
  readonly number: number;
  /** The number of vaults whose backups were found so far. */
  readonly vaults: number;
  /** The number of vaults without a backup of this run for which the registry does not wait any more. */
  readonly behind: number;
  /** Rows of the registry, and of the backups that it names, that did not open when they were read. */
  readonly broken: number;
  /** Those of the registry. */
  readonly findings: readonly Finding[];
  /** The vault for which the registry waits, and whether it has no backup at all. */
  readonly waiting?: { readonly vault: string; readonly missing: boolean };
}

/** The state between two steps: plain data, stored as JSON (running.ts). */
interface RunningRegistry {
  /** When it began: Unix milliseconds. An earlier run is not continued, because its backups may be older ones. */
  readonly began: number;
  readonly number: number;
  readonly predecessor: string | null;
  /** The id of the last vault whose backup was looked up; `null`: those of all vaults were. */
  readonly after: string | null;
  readonly snapshots: readonly VaultBackupRef[];
  /** The ids of the root keys that the backups and the rows of tokens need. */
  readonly rootKeys: readonly string[];
  readonly bytes: number;
  readonly behind: number;
  /** Rows of the registry, and of the backups that it names, that did not open when they were read. */
  readonly broken: number;
  /** Those of the registry. */
  readonly findings: readonly Finding[];
  /** The next rows to read; absent when all rows are read. */
  readonly position: Position | undefined;
  readonly parts: readonly PartRef[];
  /** The last folder whose old backups were deleted; absent before the manifest is written. */
  readonly pruned?: string | undefined;
}

/** A nightly run. */
export interface Run {
  /** When it began: Unix milliseconds. */
  readonly began: number;
  /** Until when it waits for vaults. */
  readonly until: number;
}

/** The most groups of vaults, or slices of rows, of one step. */
const STEP_ACTIONS_MAX = 8;

/** The most vaults of a group. Each takes two calls of R2. */
const VAULTS_MAX = 20;

const NEXT_VAULTS = `SELECT * FROM vaults WHERE id > ?1 ORDER BY id LIMIT ${VAULTS_MAX}`;

/**
 * In: the run, which makes one registry however often its messages are delivered; absent: vaults that changed more than a day after
 * their backup count as behind. Errors: `unavailable`.
 */
export async function registryStep(store: BackupStore, run?: Run): Promise<Result<RegistryReport>> {
  const { backups, keyring, now } = store;
  const loaded = await loadRunning<RunningRegistry>(backups, keyring, REGISTRY);
  if (!loaded.ok) return loaded;
  const { state: earlier } = loaded.value;
  const goesOn = earlier !== undefined && earlier.began >= (run?.began ?? now - DAY);
  const begun = goesOn ? ok(earlier) : await begin(store, run);
  if (!begun.ok) return begun;
  if ("state" in begun.value) return end(store, loaded.value, begun.value);
  let running = begun.value;
  for (let action = 0; action < STEP_ACTIONS_MAX; action++) {
    const next = await advance(store, run ?? { began: now - DAY, until: Infinity }, running);
    if (!next.ok) return next;
    if (next.value === "busy" || next.value === "finished")
      return end(store, loaded.value, reportOf(next.value === "busy" ? "busy" : "done", running));
    running = next.value;
    const { waiting, ...state } = next.value;
    if (waiting) return save(store, loaded.value, state, { ...reportOf("waiting", state), waiting });
    // The state is stored at once, so that a failed deletion of old backups does not repeat the registry. A page of folders may take
    // many calls of R2.
    if (state.pruned !== undefined) break;
  }
  return save(store, loaded.value, running, reportOf(running.pruned === undefined ? "reading" : "pruning", running));
}

type Next = RunningRegistry & Pick<RegistryReport, "waiting">;

/** Out: the state of a new registry, or a report when the run has one. */
async function begin(store: BackupStore, run: Run | undefined): Promise<Result<RunningRegistry | RegistryReport>> {
  const newest = await findNewest(store, REGISTRY);
  if (!newest.ok) return newest;
  const { number, open } = newest.value;
  const used = number === 0 ? ok(true) : await isInUse(store.db);
  if (!used.ok) return used;
  if (!used.value) return ok({ state: "unrestored", number, vaults: 0, behind: 0, broken: 0, findings: [] });
  const { at = 0, snapshots = [], broken: findings = [] } = open?.manifest ?? {};
  if (run && at >= run.began) return ok({ state: "done", number, vaults: snapshots.length, behind: 0, broken: 0, findings });
  const began = Math.max(store.now, run?.began ?? 0);
  const found = { after: "", snapshots: [], rootKeys: [], bytes: 0, behind: 0, broken: 0, findings: [] };
  return ok({ began, number: number + 1, predecessor: open?.sha256 ?? null, ...found, position: FIRST_POSITION, parts: [] });
}

async function advance(store: BackupStore, run: Run, running: RunningRegistry): Promise<Result<Next | "busy" | "finished">> {
  if (running.after !== null) return collectBackups(store, run, running);
  if (running.pruned !== undefined) {
    const pruned = await prune(store, running.pruned);
    return pruned.ok ? ok(pruned.value === undefined ? "finished" : { ...running, pruned: pruned.value }) : pruned;
  }
  return running.position ? readSlice(store, running, running.position) : writeRegistry(store, running);
}

/** The root keys of which the database has proofs, or which ROOT_KEYS has. A damaged row may name a key that never existed. */
async function loadProven({ db, keyring }: BackupStore): Promise<Result<ReadonlySet<string>>> {
  const read = await runBatch<[ProofRow]>(db, proofsStatement(db));
  return read.ok ? ok(new Set([...keyring.keys.keys(), ...read.value[0].map(({ id }) => id)])) : read;
}

async function loadDeployment({ db }: BackupStore): Promise<Result<string>> {
  const read = await runBatch<[{ id: string }]>(db, db.prepare("SELECT id FROM deployment"));
  return read.ok ? ok(read.value[0][0]!.id) : read;
}

async function readSlice(store: BackupStore, running: RunningRegistry, position: Position): Promise<Result<RunningRegistry>> {
  const [deployment, read] = [await loadDeployment(store), await readRegistry(store.db, position)];
  if (!deployment.ok) return deployment;
  if (!read.ok) return read;
  const { rows, next } = read.value;
  if (rows.rows.length === 0) return ok({ ...running, position: next });
  const owner = { deployment: deployment.value, vault: REGISTRY };
  const part = { replaces: [], tables: [rows] };
  const written = await writePart(store.backups, owner, part);
  if (!written.ok) return written;
  const found = await findBrokenInRegistry(store, running.number, part);
  const broken = running.broken + found.length;
  const findings = [...running.findings, ...found].slice(0, BROKEN_ROWS_MAX);
  const rootKeys = withKeys(running.rootKeys, keysOfRows(rows));
  return ok({ ...running, broken, findings, rootKeys, position: next, parts: [...running.parts, written.value] });
}

async function writeRegistry(store: BackupStore, running: RunningRegistry): Promise<Result<RunningRegistry | "busy">> {
  const [deployment, proven] = [await loadDeployment(store), await loadProven(store)];
  if (!deployment.ok) return deployment;
  if (!proven.ok) return proven;
  const { number, predecessor, parts, snapshots, findings } = running;
  const rootKeys = running.rootKeys.filter((id) => proven.value.has(id));
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    deployment: deployment.value,
    vault: REGISTRY,
    number,
    predecessor,
    at: store.now,
    schema: SCHEMA.newest,
    parts,
    base: parts.length,
    snapshots,
    rootKeys,
    ...(findings.length > 0 && { broken: findings }),
  };
  const written = await writeManifest(store.backups, store.keyring, manifest);
  if (!written.ok) return written;
  if (!written.value) return ok("busy");
  const recorded = await recordBackup(store, { ...running, number, vaults: snapshots.length });
  return recorded.ok ? ok({ ...running, pruned: "" }) : recorded;
}

async function save(
  { backups, keyring }: BackupStore,
  loaded: Loaded<RunningRegistry>,
  running: RunningRegistry,
  answer: RegistryReport,
): Promise<Result<RegistryReport>> {
  const saved = await saveRunning(backups, keyring, REGISTRY, loaded, running);
  return saved.ok ? ok(saved.value ? answer : { ...answer, state: "busy" }) : saved;
}

async function end(store: BackupStore, loaded: Loaded<RunningRegistry>, answer: RegistryReport): Promise<Result<RegistryReport>> {
  const deleted = await deleteRunning(store.backups, REGISTRY, loaded);
  return deleted.ok ? ok(answer) : deleted;
}

const reportOf = (
  state: RegistryReport["state"],
  { number, snapshots, behind, broken, findings }: RunningRegistry,
): RegistryReport => ({
  state,
  number,
  vaults: snapshots.length,
  behind,
  broken,
  findings,
});

type Row = Readonly<Record<string, Cell>>;

/** Adds the newest backups of the next vaults, up to a vault for which the registry waits. Errors: `unavailable`. */
async function collectBackups(store: BackupStore, run: Run, running: RunningRegistry): Promise<Result<Next>> {
  const read = await runBatch<[Row]>(store.db, store.db.prepare(NEXT_VAULTS).bind(running.after));
  if (!read.ok) return read;
  const [rows] = read.value;
  const newest = await Promise.all(rows.map((row) => findNewest(store, idOf(row))));
  let next = running;
  for (const [index, row] of rows.entries()) {
    const found = newest[index]!;
    if (!found.ok) return found;
    const { open } = found.value;
    const behind = isBehind(row, found.value, run);
    if (behind && store.now < run.until) return ok({ ...next, waiting: { vault: idOf(row), missing: !open } });
    next = add(next, idOf(row), open, behind);
  }
  return ok(rows.length < VAULTS_MAX ? { ...next, after: null } : next);
}

const idOf = (row: Row): string => String(row["id"]);

/** Whether a vault has changed and has no backup of the run. */
const isBehind = (row: Row, { open }: Newest, { began }: Run): boolean =>
  !open || (open.manifest.at < began && JSON.stringify(open.manifest.row) !== JSON.stringify(row));

function add(running: RunningRegistry, vault: string, open: OpenManifest | undefined, behind: boolean): RunningRegistry {
  const { manifest } = open ?? {};
  const bytes = manifest?.parts.reduce((sum, part) => sum + part.bytes, 0) ?? 0;
  const newest = open ? [{ vault, number: open.manifest.number, sha256: open.sha256 }] : [];
  const { snapshots, rootKeys } = running;
  return {
    ...running,
    after: vault,
    snapshots: [...snapshots, ...newest],
    rootKeys: open ? withKeys(rootKeys, [open.rootKey, open.manifest.row?.["root_key_id"]]) : rootKeys,
    bytes: running.bytes + bytes,
    behind: running.behind + (behind ? 1 : 0),
    broken: running.broken + (manifest?.broken?.length ?? 0),
  };
}
