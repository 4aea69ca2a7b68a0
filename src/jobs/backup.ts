import { catchDefect, logFailure } from "../log.ts";
import { brokenRowsOf, REGISTRY } from "../model/backup.ts";
import type { Finding } from "../model/finding.ts";
import type { BackupInput, BackupResult } from "../model/job.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { ensureDeployment } from "../store/backup/deployment.ts";
import { listBackupNumbers, loadNewest } from "../store/backup/load.ts";
import { countVaults, listVaultIds } from "../store/backup/vault-ids.ts";
import { type BackupStore, withBuckets } from "../store/backup/ports.ts";
import { type Pruning, prune, PRUNING_START } from "../store/backup/prune.ts";
import {
  beginRegistry,
  type NamedBackups,
  nameBackup,
  nameLoss,
  NO_BACKUPS,
  readRegistryRows,
  type RegistryBackup,
  writeRegistry,
} from "../store/backup/registry.ts";
import { findingsOfBackup, sizeOfBackup, stepVault } from "../store/backup/vault.ts";
import { beginVault, type VaultBackup } from "../store/backup/vault-state.ts";
import { isInUse } from "../store/d1/deployment.ts";
import { countCalls } from "../store/jobs/counted-calls.ts";
import { fault, findingOf } from "../store/checks/fault.ts";
import { holdsVault, type JobPorts, type KindOfJob, type Stepped } from "./kind.ts";

/**
 * The job that backs up one vault, or all vaults, then the registry, and then deletes old backups (contract 21, decision 0033). A step is as
 * much of that as its calls allow.
 */

interface BackupState {
  readonly input: BackupInput;
  readonly stage: "vaults" | "registry" | "prune";
  /** True after the first step has counted the work. */
  readonly hasBegun: boolean;
  /** The vaults that come next. */
  readonly queue: readonly string[];
  /** The last vault added to the queue. Empty before the first vault, and during the search for vaults created since. */
  readonly after: string;
  /** The backup of the first vault of the queue, when it has begun. */
  readonly vault?: VaultBackup | undefined;
  /** A vault left out: its newest backup is named instead of one of this job. */
  readonly skipped?: string | undefined;
  /** True if the vault before was left out because D1, R2 or a coordinator did not answer. */
  readonly unavailable?: boolean;
  /** The vaults that are done, and how many there are. */
  readonly done: readonly string[];
  readonly total: number;
  readonly named: NamedBackups;
  readonly registry?: RegistryBackup | undefined;
  readonly pruning: Pruning;
  readonly result: BackupResult;
}

interface Ports {
  readonly store: BackupStore;
  readonly isSpent: () => boolean;
  readonly spaceCommits: (vault: string) => Promise<void>;
}

interface Stage {
  readonly state: BackupState | "done";
  readonly findings?: readonly Finding[] | undefined;
  /** Losses in the bucket from a snapshot that the next stages replace. The step ends, because no later step finds them again. */
  readonly lost?: readonly Finding[] | undefined;
}

type Next = Result<Stage>;

export const BACKUP: KindOfJob<BackupInput, BackupState> = {
  format: 1,
  holds: ({ vault }) => holdsVault(vault),
  isDryRun: ({ dryRun }) => dryRun,
  start: (input) => ({
    input,
    stage: "vaults",
    hasBegun: false,
    queue: input.vault === undefined ? [] : [input.vault],
    after: "",
    done: [],
    total: input.vault === undefined ? 0 : 1,
    named: NO_BACKUPS,
    pruning: PRUNING_START,
    result: { made: 0, unchanged: 0, behind: 0, rows: 0, bytes: 0, contents: 0 },
  }),
  async step({ store, bindings, callsMax }, begun) {
    const opened = withBuckets(store, bindings);
    if (!opened.ok) return opened;
    const { storage, calls } = countCalls(opened.value);
    const ports: Ports = {
      store: storage,
      isSpent: () => calls() >= callsMax,
      spaceCommits: (vault) => spaceCommits(bindings, vault),
    };
    const started = begun.hasBegun ? ok(begun) : await startJob(ports, begun);
    if (!started.ok) return started;
    let state = started.value;
    const findings: Finding[] = [];
    do {
      const next = await tryStage(ports, state);
      // What was done before a failure is kept, so that the next step fails at its beginning, and it is clear where.
      if (!next.ok) return state === begun ? next : ok(reached(state, findings, false));
      const { lost = [] } = next.value;
      findings.push(...(next.value.findings ?? []), ...lost);
      if (next.value.state === "done") return ok(reached(state, findings, true));
      state = next.value.state;
      if (lost.length > 0) break;
    } while (!ports.isSpent());
    return ok(reached(state, findings, false));
  },
  skip(state, failure) {
    const vault = state.skipped ?? state.queue[0];
    if (state.input.vault !== undefined || state.stage !== "vaults" || vault === undefined) return undefined;
    const unavailable = failure.kind === "unavailable";
    // Nothing is wrong with the second vault then, and each other one would fail in the same way.
    if (unavailable && state.unavailable && state.skipped === undefined) return undefined;
    const finding = findingOf(fault("vault_skipped", { vault }, `its backup failed: ${failure.kind}`));
    // If the vault's older backup cannot be looked up either, the vault is not named.
    const skipped = state.skipped === undefined ? vault : undefined;
    const next = endOfVault({ ...state, skipped }, vault, { behind: state.result.behind + (skipped ? 1 : 0) });
    return reached({ ...next, unavailable }, [finding], false);
  },
};

const reached = (state: BackupState, findings: readonly Finding[], done: boolean): Stepped<BackupState> => ({
  state,
  progress: { done: state.done.length, total: Math.max(state.total, state.done.length) },
  result: { backup: state.result },
  findings,
  done,
});

async function spaceCommits({ COORDINATOR }: JobPorts["bindings"], vault: string): Promise<void> {
  try {
    await COORDINATOR.getByName(vault).spaceCommits();
  } catch (error) {
    logFailure("A call of a coordinator", error);
  }
}

/** Fails with `not_restored` if the database was never used and the bucket has backups, which have to be restored first. */
async function startJob({ store }: Ports, state: BackupState): Promise<Result<BackupState>> {
  if (state.input.vault !== undefined) return beginNamed(store, { ...state, hasBegun: true });
  const numbers = await listBackupNumbers(store.backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const used = numbers.value.length === 0 ? ok(true) : await isInUse(store.db);
  if (!used.ok) return used;
  if (!used.value) return fail("not_restored");
  const total = await countVaults(store.db);
  return total.ok ? beginNamed(store, { ...state, hasBegun: true, total: total.value }) : total;
}

/** Begins once the deployment has its id. A dry run writes no id. Fails as `ensureDeployment`. */
async function beginNamed(store: BackupStore, state: BackupState): Promise<Result<BackupState>> {
  const ensured = state.input.dryRun ? ok("") : await ensureDeployment(store);
  return ensured.ok ? ok(state) : ensured;
}

/** Carries out the smallest part of the job. What a part throws is a failure of its vault. */
const tryStage = (ports: Ports, state: BackupState): Promise<Next> =>
  catchDefect("A part of a backup", () => STAGES[state.stage](ports, state));

const STAGES: Readonly<Record<BackupState["stage"], (ports: Ports, state: BackupState) => Promise<Next>>> = {
  vaults: backUpVaults,
  registry: backUpRegistry,
  async prune({ store, isSpent }, state) {
    const pruned = await prune(store, state.pruning, isSpent);
    if (!pruned.ok) return pruned;
    return ok({ state: pruned.value ? { ...state, pruning: pruned.value } : "done" });
  },
};

/** Vaults added to the queue at once. */
const QUEUE_MAX = 100;

async function backUpVaults(ports: Ports, state: BackupState): Promise<Next> {
  const { input, queue, after, done, skipped } = state;
  if (skipped !== undefined) return nameOlder(ports, state, skipped);
  const [vault] = queue;
  if (vault !== undefined) return state.vault ? continueVault(ports, state, state.vault) : startVault(ports, state, vault);
  if (input.vault !== undefined) return ok({ state: "done" });
  const ids = await listVaultIds(ports.store.db, { after, without: done, limit: QUEUE_MAX });
  if (!ids.ok) return ids;
  if (ids.value.length > 0) return ok({ state: { ...state, queue: ids.value, after: ids.value.at(-1)! } });
  // Vaults created since the start may have lower ids.
  if (after !== "") return ok({ state: { ...state, after: "" } });
  return ok({ state: input.dryRun ? "done" : { ...state, stage: "registry" } });
}

/** Returns the state after the first vault of the queue. */
const endOfVault = (state: BackupState, vault: string, counted: Partial<BackupResult>): BackupState => ({
  ...state,
  queue: state.queue.filter((one) => one !== vault),
  vault: undefined,
  unavailable: false,
  done: state.done.includes(vault) ? state.done : [...state.done, vault],
  result: { ...state.result, ...counted },
});

async function startVault({ store }: Ports, state: BackupState, vault: string): Promise<Next> {
  const { input, result, named } = state;
  const begun = await beginVault(store, vault, input.full);
  if (!begun.ok) return begun;
  const beginning = begun.value;
  if (beginning.kind === "deleted")
    return input.vault === undefined ? ok({ state: endOfVault(state, vault, {}) }) : fail("vault_not_found", vault);
  if (beginning.kind === "unchanged") {
    const { open } = beginning;
    const next = endOfVault({ ...state, named: nameBackup(named, open, false) }, vault, {
      unchanged: result.unchanged + 1,
    });
    return ok({ state: next, findings: findingsOfBackup(open.manifest) });
  }
  const { lost } = beginning;
  const begunState = { ...state, named: nameLoss(named, lost) };
  if (!input.dryRun) return ok({ state: { ...begunState, vault: beginning.state }, lost });
  const planned = {
    made: result.made + 1,
    rows: result.rows + Number(beginning.row["items"]),
    bytes: result.bytes + Number(beginning.row["sealed_bytes"]),
  };
  return ok({ state: endOfVault(begunState, vault, planned), lost });
}

async function continueVault(ports: Ports, state: BackupState, begun: VaultBackup): Promise<Next> {
  const { input, result, named } = state;
  const outcome = await stepVault(ports, begun);
  if (!outcome.ok) return outcome;
  const { vault } = begun;
  if (outcome.value.kind === "running") return ok({ state: { ...state, vault: outcome.value.state } });
  if (outcome.value.kind === "deleted")
    return input.vault === undefined ? ok({ state: endOfVault(state, vault, {}) }) : fail("vault_not_found", vault);
  // A repeated step finds its own snapshot, which has the state of the vault or a state that it follows.
  if (outcome.value.kind === "overtaken") return ok({ state: { ...state, vault: undefined } });
  const { open, copied } = outcome.value;
  const { rows, bytes } = sizeOfBackup(open.manifest);
  const made: Partial<BackupResult> = {
    made: result.made + 1,
    rows: result.rows + rows,
    bytes: result.bytes + bytes,
    contents: result.contents + copied,
    ...(input.vault !== undefined && { snapshot: open.manifest.number }),
  };
  return ok({
    state: endOfVault({ ...state, named: nameBackup(named, open, false) }, vault, made),
    findings: findingsOfBackup(open.manifest),
  });
}

/** Names the newest backup of a vault that was left out. */
async function nameOlder({ store }: Ports, state: BackupState, vault: string): Promise<Next> {
  const newest = await loadNewest(store.backups, store.keyring, vault);
  if (!newest.ok && newest.failure.kind === "unavailable") return newest;
  const open = newest.ok ? newest.value : undefined;
  return ok({ state: { ...state, skipped: undefined, named: nameBackup(state.named, open, true) } });
}

async function backUpRegistry({ store, isSpent }: Ports, state: BackupState): Promise<Next> {
  if (!state.registry) {
    const begun = await beginRegistry(store, state.input.full);
    if (!begun.ok) return begun;
    const { state: registry, lost } = begun.value;
    return ok({ state: { ...state, registry, named: nameLoss(state.named, lost) }, lost });
  }
  const read = await readRegistryRows(store, state.registry, isSpent);
  if (!read.ok) return read;
  const { state: registry, isRead } = read.value;
  if (!isRead) return ok({ state: { ...state, registry } });
  const written = await writeRegistry(store, registry, state.named);
  if (!written.ok) return written;
  // The bucket has a registry of this number that is not of this job: this one follows it.
  if (!written.value) return ok({ state: { ...state, registry: undefined } });
  const { manifest } = written.value;
  const result = { ...state.result, snapshot: manifest.number };
  const next: BackupState = { ...state, result, stage: "prune", named: NO_BACKUPS, registry: undefined };
  return ok({ state: next, findings: brokenRowsOf(manifest) });
}
