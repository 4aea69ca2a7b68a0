import { callObject } from "../durable-object-calls.ts";
import { REGISTRY } from "../model/backup.ts";
import type { Finding } from "../model/finding.ts";
import { ADMIN, withoutRequest } from "../model/operation.ts";
import { type RestoreInput, type RestoreRequest, type RestoreResult, stepsDone, stepsOf } from "../model/restore.ts";
import { fail, map, ok, type Result } from "../model/result.ts";
import { createRequestId } from "../request-id.ts";
import { withBuckets } from "../store/backup/load.ts";
import { fault, findingOf } from "../store/checks/fault.ts";
import { countCalls } from "../store/jobs/counted-calls.ts";
import { type Checked, checkRestore, isBehind } from "../store/restore/check.ts";
import { beginItem, checkItem, type ItemRestore, stepItem } from "../store/restore/item.ts";
import type { RestorePorts } from "../store/restore/step.ts";
import { beginVault, type Chosen, openChosen, stepVault, type VaultRestore } from "../store/restore/vault.ts";
import { holdsVault, type JobPorts, type KindOfJob, type Stepped } from "./kind.ts";

/**
 * The job that restores one vault or one of its Items, or the registry and then every vault of that backup (contract 21.20). A
 * step does as much of one phase as its calls allow.
 */

interface RestoreState {
  readonly input: RestoreInput;
  /** The vault or the registry to restore. Absent if the next vault has to be looked up. */
  readonly target?: Pick<RestoreRequest, "vault" | "snapshot" | "named"> | undefined;
  /** The restore of the target, when it has begun. */
  readonly restore?: VaultRestore | ItemRestore | undefined;
  /** The registry, when that is done. */
  readonly registry?: Chosen | undefined;
  /** True if an earlier job has begun with this registry. Vaults that it restored may have been deleted since. */
  readonly goesOn?: boolean | undefined;
  /** Number of the registry's vaults that are done. */
  readonly done: number;
  readonly total: number;
  /** True if the job has changed anything, or the next step may. */
  readonly changes: boolean;
  readonly result: RestoreResult;
}

interface Reached {
  readonly state: RestoreState;
  readonly findings?: readonly Finding[];
}

type Next = Result<Reached>;

export const RESTORE: KindOfJob<RestoreInput, RestoreState> = {
  format: 1,
  seals: true,
  writes: ({ input }) => !input.dryRun,
  holds: ({ vault, dryRun }) => (dryRun ? undefined : holdsVault(vault)),
  isDryRun: ({ dryRun }) => dryRun,
  start: (input) => ({
    input,
    target: { vault: input.vault ?? REGISTRY, snapshot: input.snapshot },
    done: 0,
    total: 0,
    changes: false,
    result: { vaults: 0, items: 0, kept: 0, leftOut: 0 },
  }),
  async step(job, state) {
    const ports = openPorts(job, state.input);
    if (!ports.ok) return ports;
    return map(await advance(ports.value, state), steppedTo);
  },
  skip: (state, { detail, kind }) => (state.target && state.registry ? steppedTo(leaveOut(state, detail ?? kind)) : undefined),
  explain(state, { kind, detail, missingKey }) {
    if ((kind !== "backup_damaged" && kind !== "backup_too_new") || detail === undefined) return [];
    const what = missingKey === undefined ? (detail.startsWith("part ") ? "part_wrong" : "manifest_wrong") : "key_removed";
    const { vault = REGISTRY } = state.target ?? {};
    return [findingOf(fault(what, { vault }, detail))];
  },
  mayStop: ({ input, changes }) => input.dryRun || !changes,
};

/** Fails with `misconfigured` if no backup bucket is bound. */
function openPorts({ store, write, bindings, clock, callsMax }: JobPorts, input: RestoreInput): Result<RestorePorts> {
  const opened = withBuckets(store, bindings);
  if (!opened.ok) return opened;
  const { storage, calls } = countCalls(opened.value);
  const connect = (vault: string) => () => bindings.COORDINATOR.getByName(vault);
  return ok({
    store: storage,
    input,
    isSpent: () => calls() >= callsMax,
    write,
    prepare: (vault, contents) =>
      callObject(connect(vault), "unavailable", (coordinator) => coordinator.prepareRestore(contents)),
    send(vault, change) {
      // The ids give the log its order, if their times do not go back: `store.now`, the beginning of the step, may be earlier than the last id.
      const operation = withoutRequest(ADMIN, { id: createRequestId(clock()), vault, change });
      return callObject(connect(vault), "uncertain", (coordinator) => coordinator.write(operation));
    },
  });
}

/** A job is done when it has no target, and no registry that may have further vaults. */
function steppedTo({ state, findings = [] }: Reached): Stepped<RestoreState> {
  const done = !state.target && !state.registry;
  return { state, progress: progressOf(state), result: { restored: state.result }, findings, done };
}

/** In vaults; for one vault the number of steps, for one Item of phases. */
function progressOf({ input, restore, done, total }: RestoreState): Stepped<RestoreState>["progress"] {
  if (input.vault === undefined) return { done, total };
  if (!restore) return { done: 0, total: 0 };
  if ("position" in restore) return { done: stepsDone(restore.position, restore.parts), total: stepsOf(restore.parts) };
  return { done: ["contents", "write", "done"].indexOf(restore.phase), total: 2 };
}

async function advance(ports: RestorePorts, state: RestoreState): Promise<Next> {
  const { input, target, restore, registry } = state;
  if (!target) return nextVault(ports, state, registry!);
  if (!restore) {
    const request: RestoreRequest = { ...target, overwrite: input.overwrite };
    return input.item === undefined ? begin(ports, state, request) : beginOfItem(ports, state, request, input.item);
  }
  const stepped = "position" in restore ? await stepVault(ports, restore) : await stepItem(ports, restore);
  if (!stepped.ok) return stepped;
  const { restore: reached, findings } = stepped.value;
  const phase = "position" in reached ? reached.position.phase : reached.phase;
  const next = { ...state, restore: reached, changes: state.changes || phase !== "contents" };
  return ok({ state: phase === "done" ? endOfTarget(next, reached) : next, findings });
}

/** Returns the state after the target. A job for one vault or Item is then done. */
function endOfTarget(state: RestoreState, restore: VaultRestore | ItemRestore): RestoreState {
  const { input, done, result } = state;
  const next = { ...state, target: undefined };
  if (!("position" in restore)) return { ...next, result: { ...result, items: 1 } };
  const { vault, number, sha256 } = restore;
  if (vault === REGISTRY) return { ...next, restore: undefined, registry: { vault, number, sha256 } };
  const counted = { ...next, result: { ...result, vaults: result.vaults + 1, items: result.items + restore.items } };
  // The progress of a job for one vault is that of its restore.
  return input.vault === undefined ? { ...counted, restore: undefined, done: done + 1 } : counted;
}

/** Begins the restore of a target. Fails as `checkRestore` does, or with `database_full`, before anything changes. */
async function begin({ store }: RestorePorts, state: RestoreState, request: RestoreRequest): Promise<Next> {
  const { input, registry } = state;
  const { vault } = request;
  const checked = await checkRestore(store, request);
  const isKept = checked.ok ? isAsRestored(state, checked.value) : checked.failure.kind === "backup_newer";
  if (registry && isKept) return ok({ state: keepVault(state) });
  if (!checked.ok) return checked;
  const { existing, room } = checked.value;
  if (!room && registry) return ok(leaveOut(state, "the database has no room for its rows"));
  if (!room && !input.dryRun) return fail("database_full");
  const result: RestoreResult = {
    ...state.result,
    ...(!registry && aboutOf(checked.value)),
    ...(!registry && input.dryRun && { room }),
    ...(input.vault !== undefined && { existing }),
  };
  const total = vault === REGISTRY ? (checked.value.manifest.snapshots ?? []).length : state.total;
  const goesOn = vault === REGISTRY ? checked.value.known.begun?.manifest === checked.value.sha256 : state.goesOn;
  return ok({ state: { ...state, restore: beginVault(checked.value), total, goesOn, result } });
}

/**
 * Returns true if a vault of the registry was restored and is unchanged, or was deleted since. A mark shows that another restore of the vault
 * has not ended: the log that it wrote may contain an earlier deletion.
 */
function isAsRestored({ goesOn }: RestoreState, { existing, known, row }: Checked): boolean {
  if (existing === "deleted") return goesOn === true && !known.begun;
  return existing === "older" && !isBehind(known, row!);
}

/** Returns the attributes of the chosen backup. */
const aboutOf = ({ manifest, skipped }: Pick<Checked, "manifest" | "skipped">): Partial<RestoreResult> => ({
  snapshot: manifest.number,
  takenAt: manifest.at,
  deployment: manifest.deployment,
  ...(manifest.vault === REGISTRY && { skipped: skipped ?? [] }),
});

async function beginOfItem({ store }: RestorePorts, state: RestoreState, request: RestoreRequest, item: string): Promise<Next> {
  const checked = await checkItem(store, request, item);
  if (!checked.ok) return checked;
  const result = { ...state.result, ...aboutOf(checked.value), existing: checked.value.existing };
  return ok({ state: { ...state, restore: beginItem(checked.value), result } });
}

async function nextVault({ store }: RestorePorts, state: RestoreState, registry: Chosen): Promise<Next> {
  const open = await openChosen(store, registry);
  if (!open.ok) return open;
  const next = open.value.manifest.snapshots?.[state.done];
  const after = next ? { target: { vault: next.vault, snapshot: next.number, named: next.sha256 } } : { registry: undefined };
  return ok({ state: { ...state, ...after } });
}

const keepVault = (state: RestoreState): RestoreState => ({
  ...state,
  target: undefined,
  done: state.done + 1,
  result: { ...state.result, kept: state.result.kept + 1 },
});

/** Continues with the next vault, and names this one. */
const leaveOut = (state: RestoreState, why: string): Reached => ({
  state: {
    ...state,
    target: undefined,
    restore: undefined,
    done: state.done + 1,
    result: { ...state.result, leftOut: state.result.leftOut + 1 },
  },
  findings: [findingOf(fault("vault_skipped", { vault: state.target!.vault }, `it was not restored: ${why}`))],
});
