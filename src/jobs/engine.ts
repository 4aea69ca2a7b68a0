import { logFailure } from "../log.ts";
import type { FailureKind } from "../model/failure.ts";
import { isPassing } from "../model/job.ts";
import { fail, type Refusal, type Result } from "../model/result.ts";
import { MINUTE, SECOND } from "../model/time.ts";
import type { Store } from "../store/d1/database.ts";
import {
  addFindings,
  advanceJob,
  beginStep,
  endJob,
  findDue,
  type JobRow,
  nextDue,
  recordFailure,
} from "../store/jobs/job-rows.ts";
import type { AnyKind, JobPorts, Stepped } from "./kind.ts";
import { KINDS } from "./kinds.ts";

/**
 * Runs jobs (decision 0047): the alarm of a Durable Object makes one step, keeps what it reached in the SQLite of the object, and sets
 * the next alarm. A step that does not end, because it throws or its object is killed, is tried again: the try is counted and the next alarm
 * set before the step begins.
 */

/** How often a step is tried before its job fails. */
export const STEP_TRIES_MAX = 10;

/** The longest state of a job. */
const STATE_CHARACTERS_MAX = 1024 * 1024;

/** Milliseconds until a step is tried again. In: how often it was tried. Ten tries take about half an hour. */
export const retryDelay = (tries: number): number => Math.min(5 * SECOND * 2 ** (tries - 1), 10 * MINUTE);

export interface EngineContext {
  readonly storage: DurableObjectStorage;
  /** Opens the store at the present time. Errors: `misconfigured`. */
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
  const refusal = refuseStep(row);
  if (refusal) return endJob(sql, row.id, "failed", clock(), refusal);
  const tries = row.tries + 1;
  beginStep(sql, row.id, clock() + retryDelay(tries));
  await setNextAlarm(storage);
  const stepped = await tryStep(row, context);
  keepOutcome({ sql, row, tries, now: clock() }, stepped);
}

/**
 * Sets the alarm for the step that is due first. The caller writes rows right before it: what a Durable Object writes without waiting in
 * between takes effect together, so that no job is left without an alarm.
 */
export async function setNextAlarm(storage: DurableObjectStorage): Promise<void> {
  const due = nextDue(storage.sql);
  if (due !== undefined) await storage.setAlarm(due);
}

const kindOf = ({ kind }: JobRow): AnyKind | undefined => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined);

/** Why the job fails before its step, if it does. */
function refuseStep(row: JobRow): FailureKind | undefined {
  const kind = kindOf(row);
  if (!kind || row.data_format > kind.format) return "version_skew"; // a later release has created the job
  return row.tries >= STEP_TRIES_MAX ? (row.reason ?? "internal") : undefined;
}

async function tryStep(row: JobRow, { openStore, bindings }: EngineContext): Promise<Result<Stepped<unknown>>> {
  try {
    const store = await openStore();
    if (!store.ok) return store;
    return await kindOf(row)!.step({ store: store.value, job: row.id, bindings }, JSON.parse(row.data));
  } catch (error) {
    logFailure("A step of a job", error);
    return fail("internal");
  }
}

interface Outcome {
  readonly sql: SqlStorage;
  readonly row: JobRow;
  readonly tries: number;
  readonly now: number;
}

function keepOutcome({ sql, row, tries, now }: Outcome, stepped: Result<Stepped<unknown>>): void {
  const { id } = row;
  if (!stepped.ok) return keepFailure({ sql, row, tries, now }, stepped);
  const { state, findings = [], done } = stepped.value;
  const data = JSON.stringify(state);
  if (data.length > STATE_CHARACTERS_MAX) return endJob(sql, id, "failed", now, "internal");
  addFindings(sql, id, findings);
  advanceJob(sql, id, { data, format: kindOf(row)!.format }, stepped.value, now);
  if (done) endJob(sql, id, "done", now);
}

function keepFailure({ sql, row, tries, now }: Outcome, { failure }: Refusal): void {
  if (isPassing(failure) && tries < STEP_TRIES_MAX) recordFailure(sql, row.id, failure.kind);
  else endJob(sql, row.id, "failed", now, failure.kind);
}
