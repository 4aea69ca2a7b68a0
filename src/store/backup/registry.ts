import { BACKUP_FORMAT, type Manifest, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { isInUse } from "../d1/deployment.ts";
import { type ProofRow, proofsStatement } from "../keys/root-keys.ts";
import { SCHEMA } from "../d1/schema.ts";
import { findNewest } from "./begin.ts";
import { recordBackup } from "../health/backup-figures.ts";
import { BROKEN_ROWS_MAX, findBrokenInRegistry } from "./broken.ts";
import { keysOfRows, withKeys } from "./needed-keys.ts";
import type { BackupStore } from "./ports.ts";
import { prune } from "./prune.ts";
import { collectSnapshots } from "./collect.ts";
import { type RegistryReport, reportOf, type Run, type RunningRegistry } from "./registry-state.ts";
import { FIRST_PLACE, type Place, readRegistry } from "./registry-tables.ts";
import { deleteRunning, type Loaded, loadRunning, saveRunning } from "./running.ts";
import { writeManifest, writePart } from "./write.ts";

/**
 * Makes the snapshot of the registry, in steps: finds the newest snapshot of each vault, reads what belongs to no vault, writes the
 * manifest, then deletes snapshots that are too old. The rows of its tables do not depend on one another, so they are not read again.
 */

/** Groups of vaults, or slices of rows, of one step. */
const ACTIONS = 8;

/**
 * In: the run, which makes one registry however often its messages are delivered; absent: vaults that changed more than a day after
 * their snapshot count as behind. Errors: `unavailable`.
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
  for (let action = 0; action < ACTIONS; action++) {
    const next = await advance(store, run ?? { began: now - DAY, until: Infinity }, running);
    if (!next.ok) return next;
    if (next.value === "busy" || next.value === "finished")
      return end(store, loaded.value, reportOf(next.value === "busy" ? "busy" : "done", running));
    running = next.value;
    const { waiting, ...state } = next.value;
    if (waiting) return save(store, loaded.value, state, { ...reportOf("waiting", state), waiting });
    // Stored at once: a deletion of old snapshots that fails must not repeat the registry. One page of folders may take many calls of R2.
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
  const found = { after: "", snapshots: [], rootKeys: [], bytes: 0, behind: 0, broken: 0 };
  return ok({ began, number: number + 1, predecessor: open?.sha256 ?? null, ...found, place: FIRST_PLACE, parts: [] });
}

async function advance(store: BackupStore, run: Run, running: RunningRegistry): Promise<Result<Next | "busy" | "finished">> {
  if (running.after !== null) return collectSnapshots(store, run, running);
  if (running.pruned !== undefined) {
    const pruned = await prune(store, running.pruned);
    return pruned.ok ? ok(pruned.value === undefined ? "finished" : { ...running, pruned: pruned.value }) : pruned;
  }
  return running.place ? readSlice(store, running, running.place) : writeRegistry(store, running);
}

/** The root keys that the database has proofs of, or ROOT_KEYS has: a damaged row may name one that never was. */
async function loadProven({ db, keyring }: BackupStore): Promise<Result<ReadonlySet<string>>> {
  const read = await runBatch<[ProofRow]>(db, proofsStatement(db));
  return read.ok ? ok(new Set([...keyring.keys.keys(), ...read.value[0].map(({ id }) => id)])) : read;
}

async function loadDeployment({ db }: BackupStore): Promise<Result<string>> {
  const read = await runBatch<[{ id: string }]>(db, db.prepare("SELECT id FROM deployment"));
  return read.ok ? ok(read.value[0][0]!.id) : read;
}

async function readSlice(store: BackupStore, running: RunningRegistry, place: Place): Promise<Result<RunningRegistry>> {
  const [deployment, read] = [await loadDeployment(store), await readRegistry(store.db, place)];
  if (!deployment.ok) return deployment;
  if (!read.ok) return read;
  const { rows, next } = read.value;
  if (rows.rows.length === 0) return ok({ ...running, place: next });
  const owner = { deployment: deployment.value, vault: REGISTRY };
  const part = { replaces: [], tables: [rows] };
  const written = await writePart(store.backups, owner, part);
  if (!written.ok) return written;
  const found = await findBrokenInRegistry(store, running.number, part);
  const broken = running.broken + found.length;
  const findings = [...(running.findings ?? []), ...found].slice(0, BROKEN_ROWS_MAX);
  const rootKeys = withKeys(running.rootKeys, keysOfRows(rows));
  return ok({ ...running, broken, findings, rootKeys, place: next, parts: [...running.parts, written.value] });
}

async function writeRegistry(store: BackupStore, running: RunningRegistry): Promise<Result<RunningRegistry | "busy">> {
  const [deployment, proven] = [await loadDeployment(store), await loadProven(store)];
  if (!deployment.ok) return deployment;
  if (!proven.ok) return proven;
  const { number, predecessor, parts, snapshots, findings = [] } = running;
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
