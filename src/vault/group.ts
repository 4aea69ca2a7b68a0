import type { FailureKind } from "../model/failure.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import type { DatabaseLevel } from "../store/database-size.ts";
import { type BatchOutcome, NO_RETRY } from "../store/database.ts";
import type { Commit, CommitAttempt } from "../store/write/commit.ts";
import type { RowRequest } from "../store/write/rows.ts";
import type { Snapshot } from "../store/write/snapshot.ts";
import { applyGroup, type Plan } from "./apply.ts";
import type { Random } from "./complete.ts";
import { GROWTH } from "./growth.ts";
import { type Answers, answersOf, type Group, partOf, recordAttempt, settle, startGroup } from "./group-state.ts";

/** How often a group is read and written before its callers get a 503. */
const ATTEMPTS = 5;

/** Everything that the commit loop reads and writes. docs/consistency.md lists how each may fail. */
export interface CommitPorts {
  /** A snapshot out of the cache, which may be out of date; `undefined` when a row is missing there. */
  readonly cached: (request: RowRequest) => Promise<Result<Snapshot> | undefined>;
  /** The state of the vault at one moment. Errors: `unavailable`, and those of opening the vault. */
  readonly load: (request: RowRequest) => Promise<Result<Snapshot>>;
  /** Records the contents that the commit releases, durably, before the commit is written. */
  readonly recordReleased: (commit: Commit) => Promise<void>;
  /**
   * Deletes the pending records of the contents whose rows the commit has inserted, and starts the deletion of the rows of a
   * deleted vault. Without it a record stays, and the rows wait for the cron trigger.
   */
  readonly deleteCommitted: (commit: Commit) => Promise<void> | void;
  /** Writes the commit if nothing has changed since its snapshot. */
  readonly write: (commit: Commit) => Promise<CommitAttempt>;
  /** Waits before attempt 1, 2, 3…: exponential backoff with jitter. */
  readonly backOff: (attempt: number) => Promise<void>;
  /** Receives what an operation or a port throws: a defect of the service. */
  readonly onDefect: (error: unknown) => void;
  /** How full the database is now. */
  readonly databaseLevel: () => DatabaseLevel;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
}

/**
 * Carries out a group of operations on one vault: load a snapshot, apply the operations, write one commit. A commit that
 * the fence refuses starts again from a new snapshot. After an attempt of unknown outcome the next snapshot shows which
 * operations are in the log, so each takes effect once. Out: one answer per operation, in order.
 */
export const commitGroup = (ports: CommitPorts, operations: readonly Operation[]): Promise<Answers> =>
  runGroup(ports, startGroup(operations));

async function runGroup(ports: CommitPorts, group: Group): Promise<Answers> {
  const cached = await commitFromCache(ports, group);
  if (cached) return cached;
  for (let attempt = 0; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 0) await ports.backOff(attempt);
    const snapshot = await ports.load(group.request);
    if (!snapshot.ok) {
      const { kind, detail } = snapshot.failure;
      if (detail === NO_RETRY.failure.detail) break; // a retry would fail again, or add to the load
      if (kind !== "unavailable" && !group.uncertain) return answersOf(group, () => snapshot);
      continue;
    }
    const plan = planFor(ports, group, snapshot.value);
    settle(group, snapshot.value, plan.answers);
    if (!plan.commit) return answersOf(group, (index) => plan.answers[index]!);
    if (attempt === ATTEMPTS) break; // the last round only checks whether the previous commit took effect
    const answers = await commitPlan(ports, group, plan, plan.commit);
    if (answers) return answers;
  }
  return unavailable(group);
}

/** Out: the answers; `undefined` when the loop has to start from a snapshot that was loaded. */
async function commitFromCache(ports: CommitPorts, group: Group): Promise<Answers | undefined> {
  const snapshot = await ports.cached(group.request);
  if (!snapshot?.ok) return undefined;
  const plan = planFor(ports, group, snapshot.value);
  // Only a commit proves that the cache is current, so every answer has to depend on the commit.
  const proven = plan.commit?.activities.length === group.operations.length;
  return proven ? commitPlan(ports, group, plan, plan.commit) : undefined;
}

function planFor({ now, random, onDefect, databaseLevel }: CommitPorts, group: Group, snapshot: Snapshot): Plan {
  const { operations, request, attempted, admitted } = group;
  const bound = GROWTH[databaseLevel()];
  const growth = (id: string) => (admitted.has(id) ? "admitted" : bound);
  return applyGroup(request.vault, snapshot, operations, { now, random, attempted, growth, onDefect });
}

/** Writes a commit. Out: the answers; `undefined` when the group has to be applied to a new snapshot. */
async function commitPlan(ports: CommitPorts, group: Group, plan: Plan, commit: Commit): Promise<Answers | undefined> {
  switch (await writeCommit(ports, group, plan, commit)) {
    case "committed":
      await deleteCommitted(ports, commit);
      return answersOf(group, (index) => plan.answers[index]!);
    case "refused":
      return splitGroup(ports, group, "internal");
    case "full":
      return splitGroup(ports, group, "database_full");
    case "unavailable":
      return unavailable(group);
    default: // stale, unknown
      return undefined;
  }
}

/** Out: the outcome. An unknown one is recorded in the group. What throws before D1 is called counts as refused. */
async function writeCommit(ports: CommitPorts, group: Group, plan: Plan, commit: Commit): Promise<BatchOutcome> {
  try {
    await ports.recordReleased(commit);
    const { outcome, entries } = await ports.write(commit);
    if (outcome !== "unknown") return outcome;
    recordAttempt(group, plan.answers, entries);
    return outcome;
  } catch (error) {
    ports.onDefect(error);
    return "refused";
  }
}

/** A record that stays is harmless: the alarm finds the row. So a failure here does not change the answers. */
async function deleteCommitted(ports: CommitPorts, commit: Commit): Promise<void> {
  try {
    await ports.deleteCommitted(commit);
  } catch (error) {
    ports.onDefect(error);
  }
}

/**
 * D1 refuses a row of the group, or has no room for all of its rows: each half is carried out on its own, so that one operation fails alone in the end. A group
 * with an attempt of unknown outcome stays whole: that attempt may still commit what a half would refuse.
 */
async function splitGroup(ports: CommitPorts, group: Group, kind: FailureKind): Promise<Answers> {
  const { operations } = group;
  if (group.uncertain) return unavailable(group);
  if (operations.length === 1) return answersOf(group, () => fail(kind));
  const middle = Math.ceil(operations.length / 2);
  const answers: Result<Answer>[] = [];
  for (const half of [operations.slice(0, middle), operations.slice(middle)]) {
    answers.push(...(await runGroup(ports, partOf(group, half))));
  }
  return answers;
}

const unavailable = (group: Group): Answers => answersOf(group, () => fail(group.uncertain ? "uncertain" : "unavailable"));
