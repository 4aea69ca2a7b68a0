import { catchDefect, logFailure } from "../log.ts";
import { bytesOfParts, REGISTRY, rowsOfParts } from "../model/backup.ts";
import type { Finding } from "../model/finding.ts";
import type { BackupInput, BackupResult } from "../model/job.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { type BackupStore, listBackupNumbers, loadNewest, withBuckets } from "../store/backup/load.ts";
import { type Pruning, prune, PRUNING_START } from "../store/backup/prune.ts";
import {
  beginRegistry,
  countVaults,
  listVaultIds,
  type NamedBackups,
  nameBackup,
  NO_BACKUPS,
  readRegistryRows,
  type RegistryBackup,
  writeRegistry,
} from "../store/backup/registry.ts";
import { beginVault, type VaultBackup } from "../store/backup/vault-state.ts";
import { findingsOfBackup, stepVault } from "../store/backup/vault.ts";
import { fault, findingOf } from "../store/checks/fault.ts";
import { isInUse } from "../store/d1/deployment.ts";
import { countCalls } from "../store/jobs/counted-calls.ts";
import { holdsVault, type JobPorts, type KindOfJob, type Stepped } from "./kind.ts";

/**
 * The job that backs up one vault, or all vaults, then the registry, and then deletes old backups (contract 21). A step does as many small
 * parts of the backup as its calls allow.
 */

interface BackupState {
  readonly input: BackupInput;
  readonly stage: "begin" | "vaults" | "registry" | "prune" | "done";
  /** The vaults that come next. */
  readonly queue: readonly string[];
  /** The backup of the first vault of the queue, when it has begun. */
  readonly vault?: VaultBackup | undefined;
  /** A vault that was left out: the registry names its newest backup in place of one of this job. */
  readonly skipped?: string | undefined;
  /** True if the vault before was left out because D1, R2 or a coordinator did not answer. */
  readonly unavailable?: boolean;
  /** The finished vaults, and the number of all vaults. */
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

type Next = Result<{ readonly state: BackupState; readonly findings?: readonly Finding[] }>;

export const BACKUP: KindOfJob<BackupInput, BackupState> = {
  format: 1,
  holds: ({ vault }) => holdsVault(vault),
  start: (input) => ({
    input,
    stage: "begin",
    queue: input.vault === undefined ? [] : [input.vault],
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
    let state = begun;
    const findings: Finding[] = [];
    do {
      const { stage } = state;
      if (stage === "done") break;
      // An exception in a stage is a failure of its vault.
      const next = await catchDefect("A part of a backup", () => STAGES[stage](ports, state));
      // Work done before a failure is kept, so that the next step fails at its beginning and the failed part is known.
      if (!next.ok) return state === begun ? next : ok(steppedTo(state, findings));
      findings.push(...(next.value.findings ?? []));
      state = next.value.state;
    } while (!ports.isSpent());
    return ok(steppedTo(state, findings));
  },
  skip(state, failure) {
    const vault = state.skipped ?? state.queue[0];
    if (state.input.vault !== undefined || state.stage !== "vaults" || vault === undefined) return undefined;
    const unavailable = failure.kind === "unavailable";
    // Then nothing is wrong with the second vault, and every other vault would fail in the same way.
    if (unavailable && state.unavailable && state.skipped === undefined) return undefined;
    const finding = findingOf(fault("vault_skipped", { vault }, `its backup failed: ${failure.kind}`));
    // A vault whose older backup cannot be looked up either is not named.
    const next =
      state.skipped === undefined
        ? { ...endOfVault(state, { behind: state.result.behind + 1 }), skipped: vault }
        : { ...state, skipped: undefined };
    return steppedTo({ ...next, unavailable }, [finding]);
  },
};

const steppedTo = (state: BackupState, findings: readonly Finding[]): Stepped<BackupState> => ({
  state,
  progress: { done: state.done.length, total: Math.max(state.total, state.done.length) },
  result: { backup: state.result },
  findings,
  done: state.stage === "done",
});

async function spaceCommits({ COORDINATOR }: JobPorts["bindings"], vault: string): Promise<void> {
  try {
    await COORDINATOR.getByName(vault).spaceCommits();
  } catch (error) {
    logFailure("A call of a coordinator", error);
  }
}

/** The stages. Each call does a small part of a backup. */
const STAGES: Readonly<Record<Exclude<BackupState["stage"], "done">, (ports: Ports, state: BackupState) => Promise<Next>>> = {
  begin: beginJob,
  vaults: backUpVaults,
  registry: backUpRegistry,
  async prune({ store, isSpent }, state) {
    const pruned = await prune(store, state.pruning, isSpent);
    if (!pruned.ok) return pruned;
    return ok({ state: pruned.value ? { ...state, pruning: pruned.value } : { ...state, stage: "done" } });
  },
};

/**
 * A database that was never used has nothing to back up: a backup of it would take the number of another one that is restored into it. Fails
 * with `not_restored` if the bucket has backups, which have to be restored first.
 */
async function beginJob({ store }: Ports, state: BackupState): Promise<Next> {
  if (state.input.vault !== undefined) return ok({ state: { ...state, stage: "vaults" } });
  const numbers = await listBackupNumbers(store.backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const used = await isInUse(store.db);
  if (!used.ok) return used;
  if (!used.value) return numbers.value.length > 0 ? fail("not_restored") : ok({ state: { ...state, stage: "done" } });
  const counted = await countVaults(store.db);
  return counted.ok ? ok({ state: { ...state, stage: "vaults", total: counted.value } }) : counted;
}

/** Vaults added to the queue at once. */
const QUEUE_MAX = 100;

async function backUpVaults(ports: Ports, state: BackupState): Promise<Next> {
  const { input, queue, done, skipped } = state;
  if (skipped !== undefined) return nameOlder(ports, state, skipped);
  const [vault] = queue;
  if (vault !== undefined) return state.vault ? continueVault(ports, state, state.vault) : startVault(ports, state, vault);
  if (input.vault !== undefined) return ok({ state: { ...state, stage: "done" } });
  // Includes vaults that were created since the job began.
  const ids = await listVaultIds(ports.store.db, done, QUEUE_MAX);
  if (!ids.ok) return ids;
  if (ids.value.length > 0) return ok({ state: { ...state, queue: ids.value } });
  return ok({ state: { ...state, stage: "registry" } });
}

/** Returns the state after the first vault of the queue. */
const endOfVault = (state: BackupState, counted: Partial<BackupResult>): BackupState => ({
  ...state,
  queue: state.queue.slice(1),
  vault: undefined,
  unavailable: false,
  done: [...state.done, ...state.queue.slice(0, 1)],
  result: { ...state.result, ...counted },
});

/** Continues after a vault that was deleted. Fails with `vault_not_found` if the job is of this vault. */
const afterDeleted = (state: BackupState): Next =>
  state.input.vault === undefined ? ok({ state: endOfVault(state, {}) }) : fail("vault_not_found", state.input.vault);

async function startVault({ store }: Ports, state: BackupState, vault: string): Promise<Next> {
  const { input, result } = state;
  const begun = await beginVault(store, vault, input.full);
  if (!begun.ok) return begun;
  const beginning = begun.value;
  if (beginning === "deleted") return afterDeleted(state);
  if ("unchanged" in beginning) {
    const named = nameBackup(state.named, beginning.unchanged, false);
    return ok({ state: endOfVault({ ...state, named }, { unchanged: result.unchanged + 1 }) });
  }
  return ok({ state: { ...state, vault: beginning } });
}

async function continueVault(ports: Ports, state: BackupState, begun: VaultBackup): Promise<Next> {
  const { input, result } = state;
  const stepped = await stepVault(ports, begun);
  if (!stepped.ok) return stepped;
  const reached = stepped.value;
  if (reached === "deleted") return afterDeleted(state);
  if (reached === "overtaken") return ok({ state: { ...state, vault: undefined } });
  if ("stage" in reached) return ok({ state: { ...state, vault: reached } });
  const { open, copied } = reached;
  const { number, parts } = open.manifest;
  const made: Partial<BackupResult> = {
    made: result.made + 1,
    rows: result.rows + rowsOfParts(parts),
    bytes: result.bytes + bytesOfParts(parts),
    contents: result.contents + copied,
    ...(input.vault !== undefined && { snapshot: number }),
  };
  const named = nameBackup(state.named, open, false);
  return ok({ state: endOfVault({ ...state, named }, made), findings: findingsOfBackup(open.manifest) });
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
    return begun.ok ? ok({ state: { ...state, registry: begun.value } }) : begun;
  }
  const read = await readRegistryRows(store, state.registry, isSpent);
  if (!read.ok) return read;
  const { state: registry, isRead } = read.value;
  if (!isRead) return ok({ state: { ...state, registry } });
  const written = await writeRegistry(store, registry, state.named);
  if (!written.ok) return written;
  // The bucket has a registry with this number from another job: this registry follows it.
  if (!written.value) return ok({ state: { ...state, registry: undefined } });
  const result = { ...state.result, snapshot: registry.number };
  return ok({ state: { ...state, result, stage: "prune", named: NO_BACKUPS, registry: undefined } });
}
