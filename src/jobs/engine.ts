import { catchDefect, logFailure, logRefusal } from "../log.ts";
import type { Failure, FailureKind } from "../model/failure.ts";
import { isPassing, STEP_TRIES_MAX } from "../model/job.ts";
import { fail, map, ok, type Result } from "../model/result.ts";
import { MINUTE, SECOND } from "../model/time.ts";
import type { Store } from "../store/d1/database.ts";
import {
  advanceJob,
  beginStep,
  deleteOldJobs,
  endJob,
  findDue,
  type JobRow,
  nextDue,
  recordFailure,
  addFindings,
} from "../store/jobs/job-rows.ts";
import { type JobWrites, requireWrites, voidWrites, type WriteRows, writeStep } from "../store/jobs/step-fence.ts";
import { checkRootKeys } from "../store/keys/root-keys.ts";
import type { AnyKind, JobPorts, Stepped } from "./kind.ts";
import { KINDS } from "./kinds.ts";

/**
 * Runs jobs (docs/design/jobs.md). The alarm of a Durable Object makes one step, keeps its result in the SQLite of the object, and sets the next
 * alarm. A step that does not end, because it throws or its object is killed, is retried. The try is counted and the next alarm set before
 * the step begins.
 */

/** The longest state of a job. It is parsed and written with each step, in the 128 MB of an isolate. */
const STATE_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Returns the milliseconds until the retry of a step. Ten tries take about half an hour. */
export const retryDelay = (tries: number): number => Math.min(5 * SECOND * 2 ** (tries - 1), 10 * MINUTE);

export interface EngineContext {
  readonly storage: DurableObjectStorage;
  /** Opens the store at the present time. Fails with `misconfigured`. */
  readonly openStore: () => Promise<Result<Store>>;
  readonly bindings: JobPorts["bindings"];
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Carries out the step that has been due for the longest time, if there is one. */
export async function runStep(context: EngineContext): Promise<void> {
  const { storage, clock } = context;
  const { sql } = storage;
  const row = findDue(sql, clock());
  if (!row) return;
  const kind = kindOf(row);
  // A later release has created the job.
  if (!kind || row.data_format > kind.format) return endJob(sql, row.id, "failed", clock(), "version_skew");
  const tries = row.tries + 1;
  beginStep(sql, row.id, clock() + retryDelay(tries));
  await setNextAlarm(storage);
  const made = tries > STEP_TRIES_MAX ? fail(row.reason ?? "internal") : await tryStep(row, context);
  if (!made.ok) logRefusal(made, { job: row.id, operation: row.kind });
  const reason = keepOutcome({ sql, row, tries, now: clock() }, made);
  if (reason === undefined) return;
  await voidLateWrites(row, context);
  endJob(sql, row.id, "failed", clock(), reason);
}

/**
 * Voids late writes of a job. For example, a failed restore must not remove a vault's row later. If D1 fails, a late write stays possible.
 */
async function voidLateWrites(row: JobRow, { openStore }: EngineContext): Promise<void> {
  const writes = askKind(row, ({ writes: mayWrite }, state) => mayWrite?.(state) ?? false, true);
  if (!writes) return;
  try {
    const store = await openStore();
    if (store.ok) await voidWrites(store.value.db, writesOf(row));
  } catch (error) {
    logFailure("The last write of a job", error);
  }
}

const writesOf = (row: JobRow): JobWrites => ({ job: row.id, createdAt: row.created_at, writes: row.writes });

/**
 * Sets the alarm for the first due step. The caller writes rows immediately before, without an `await` in between. The writes of a
 * Durable Object then take effect together, so that no job is left without an alarm.
 */
export async function setNextAlarm(storage: DurableObjectStorage): Promise<void> {
  const due = nextDue(storage.sql);
  if (due !== undefined) await storage.setAlarm(due);
}

/** Returns undefined for a kind of a later release. */
export const kindOf = ({ kind }: Pick<JobRow, "kind">): AnyKind | undefined =>
  Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;

/** Returns true if a job may be stopped. A job with a damaged state may: nothing else ends it before its last try. */
export const mayStop = (row: JobRow): boolean =>
  kindOf(row) === undefined || askKind(row, (kind, state) => kind.mayStop?.(state) ?? true, true);

/** Asks a kind about the state of its job. Returns `otherwise` if the state is damaged. */
function askKind<T>(row: JobRow, ask: (kind: AnyKind, state: unknown) => T, otherwise: T): T {
  try {
    return ask(kindOf(row)!, JSON.parse(row.data));
  } catch (error) {
    logFailure("A look at the state of a job", error);
    return otherwise;
  }
}

/** A step that has not failed, and whether it has written D1. */
interface Done {
  readonly stepped: Stepped<unknown>;
  readonly hasWritten: boolean;
}

const tryStep = (row: JobRow, { openStore, ...ports }: EngineContext): Promise<Result<Done>> =>
  catchDefect("A step of a job", async () => {
    const store = await openStore();
    return store.ok ? makeStep(row, store.value, ports) : store;
  });

/** Makes a step. Fails as `requireWrites` and the step do, and with `misconfigured` if the kind seals and the root keys are wrong. */
async function makeStep(
  row: JobRow,
  store: Store,
  { bindings, clock }: Pick<JobPorts, "bindings" | "clock">,
): Promise<Result<Done>> {
  const { seals, step } = kindOf(row)!;
  const written = writesOf(row);
  const rootKeys = seals ? await checkRootKeys(store.db, store.keyring) : ok(undefined);
  if (!rootKeys.ok) return rootKeys;
  let hasWritten = false;
  const write: WriteRows = async (statements) => {
    const outcome = await writeStep(store.db, { ...written, hasWritten }, statements);
    hasWritten ||= outcome.ok;
    return outcome;
  };
  const callsMax = Math.max(1, Math.floor(store.settings.stepCalls / 2 ** row.tries));
  const stepped = await step({ store, write, bindings, clock, callsMax }, JSON.parse(row.data));
  if (!stepped.ok) return stepped;
  // The writes of a step are fenced. A step that only reads may have seen a database before its restore.
  return map(hasWritten ? ok(undefined) : await requireWrites(store.db, written), () => ({ stepped: stepped.value, hasWritten }));
}

interface Outcome {
  readonly sql: SqlStorage;
  readonly row: JobRow;
  readonly tries: number;
  readonly now: number;
}

/** Returns the failure that ends the job, or undefined if the job continues or is done. */
function keepOutcome(outcome: Outcome, made: Result<Done>): FailureKind | undefined {
  const { sql, row, tries } = outcome;
  // A state that is too long stays too long in every retry.
  if (made.ok) return keepStep(outcome, made.value) ? undefined : giveUp(outcome, { kind: "internal" });
  if (!isPassing(made.failure) || tries >= STEP_TRIES_MAX) return giveUp(outcome, made.failure);
  recordFailure(sql, row.id, made.failure.kind);
  return undefined;
}

/** Failures of the deployment, which leave no vault out: nothing is wrong with the vault then. */
const OF_DEPLOYMENT: ReadonlySet<FailureKind> = new Set(["database_restored", "misconfigured"]);

/** Continues without the failed part, if the kind can. A job with a damaged state ends. Returns as `keepOutcome` does. */
function giveUp(outcome: Outcome, failure: Failure): FailureKind | undefined {
  const { sql, row } = outcome;
  const { skip, explain } = kindOf(row)!;
  try {
    const stepped = OF_DEPLOYMENT.has(failure.kind) ? undefined : skip?.(JSON.parse(row.data), failure);
    if (stepped && keepStep(outcome, { stepped, hasWritten: false })) return undefined;
    addFindings(sql, row.id, explain?.(JSON.parse(row.data), failure) ?? []);
  } catch (error) {
    logFailure("The end of a job", error);
    return "internal";
  }
  return failure.kind;
}

/** Returns true if the state was short enough to be kept. */
function keepStep({ sql, row, now }: Outcome, { stepped, hasWritten }: Done): boolean {
  const { id } = row;
  const { state, findings = [], done } = stepped;
  const data = JSON.stringify(state);
  if (data.length > STATE_CHARACTERS_MAX) return false;
  const writes = row.writes + (hasWritten ? 1 : 0);
  if (!advanceJob(sql, row, { ...stepped, data, format: kindOf(row)!.format, writes }, now)) return true;
  addFindings(sql, id, findings);
  if (!done) return true;
  endJob(sql, id, "done", now);
  deleteOldJobs(sql, now);
  return true;
}
