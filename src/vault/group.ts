import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import type { Commit, CommitAttempt } from "../store/write/commit.ts";
import type { RowRequest } from "../store/write/rows.ts";
import type { Snapshot } from "../store/write/snapshot.ts";
import { applyGroup, type Plan } from "./apply.ts";
import type { Random } from "./complete.ts";

/** How often a group is read and written before its callers get a 503. */
const ATTEMPTS = 5;

/** Everything that the commit loop reads and writes. docs/consistency.md states what each may do wrong. */
export interface CommitPorts {
  /** A snapshot out of the cache, which may be out of date; `undefined` when a row is missing there. */
  readonly cached: (request: RowRequest) => Promise<Result<Snapshot> | undefined>;
  /** The state of the vault at one moment. Errors: `unavailable`, and those of opening the vault. */
  readonly load: (request: RowRequest) => Promise<Result<Snapshot>>;
  /** Records the contents that the commit releases, durably, before the commit is written. */
  readonly recordReleased: (commit: Commit) => Promise<void>;
  /** Deletes the pending records of the contents whose rows the commit has inserted. A record that stays does no harm. */
  readonly deleteCommitted: (commit: Commit) => Promise<void> | void;
  /** Writes the commit if nothing has changed since its snapshot. */
  readonly write: (commit: Commit) => Promise<CommitAttempt>;
  /** Waits before attempt 1, 2, 3…: exponential backoff with jitter. */
  readonly backOff: (attempt: number) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
}

/** A group on its way through the loop. */
interface Group {
  readonly operations: readonly Operation[];
  readonly request: RowRequest;
  /** The answers of attempts with an unknown outcome: see GroupContext. */
  readonly attempted: Map<string, Answer>;
  /** The answers of operations that a snapshot found in the log. They stay true, whatever becomes of the others. */
  readonly settled: Map<string, Result<Answer>>;
  /** Whether an attempt had an unknown outcome. */
  uncertain: boolean;
}

/**
 * Carries out a group of operations on one vault: load a snapshot, apply the operations, write one commit. A commit that
 * the fence refuses starts again from a new snapshot. After an attempt of unknown outcome the next snapshot shows which
 * operations are in the log, so each takes effect once. Out: one answer per operation, in order.
 */
export async function commitGroup(ports: CommitPorts, operations: readonly Operation[]): Promise<readonly Result<Answer>[]> {
  const request = requestFor(operations);
  const group: Group = { operations, request, attempted: new Map(), settled: new Map(), uncertain: false };
  const cached = await commitFromCache(ports, group);
  if (cached) return cached;
  for (let attempt = 0; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 0) await ports.backOff(attempt);
    const snapshot = await ports.load(request);
    if (!snapshot.ok) {
      if (snapshot.failure.kind !== "unavailable" && !group.uncertain) return answersOf(group, () => snapshot);
      continue;
    }
    const plan = planFor(ports, group, snapshot.value);
    settle(group, snapshot.value, plan);
    const last = attempt === ATTEMPTS; // it only looks whether the attempt before it took effect
    const done = !plan.commit || (!last && (await write(ports, group, plan, plan.commit)));
    if (done) return answersOf(group, (index) => plan.answers[index]!);
  }
  return answersOf(group, () => fail(group.uncertain ? "uncertain" : "unavailable"));
}

/** Out: the answers; `undefined` when the loop has to start from a snapshot that was loaded. */
async function commitFromCache(ports: CommitPorts, group: Group): Promise<readonly Result<Answer>[] | undefined> {
  const snapshot = await ports.cached(group.request);
  if (!snapshot?.ok) return undefined;
  const plan = planFor(ports, group, snapshot.value);
  // Only a commit proves that the cache is current, so every answer has to depend on the commit.
  if (plan.commit?.activities.length !== group.operations.length) return undefined;
  return (await write(ports, group, plan, plan.commit)) ? plan.answers : undefined;
}

const planFor = ({ now, random }: CommitPorts, { operations, request, attempted }: Group, snapshot: Snapshot): Plan =>
  applyGroup(request.vault, snapshot, operations, { now, random, attempted });

/** Writes a commit. Out: whether it took effect. An unknown outcome is recorded in the group. */
async function write(ports: CommitPorts, group: Group, plan: Plan, commit: Commit): Promise<boolean> {
  await ports.recordReleased(commit);
  const { outcome, entries } = await ports.write(commit);
  if (outcome === "unknown") {
    group.uncertain = true;
    for (const [index, { id }] of group.operations.entries()) {
      const [answer, entry] = [plan.answers[index]!, entries.get(id)];
      if (answer.ok && entry !== undefined) group.attempted.set(entry, answer.value);
    }
  }
  if (outcome === "committed") await ports.deleteCommitted(commit);
  return outcome === "committed";
}

/** Keeps the answers of the operations that the snapshot found in the log. */
function settle({ operations, settled }: Group, snapshot: Snapshot, plan: Plan): void {
  for (const [index, { id }] of operations.entries()) {
    if (snapshot.applied.has(id) && !settled.has(id)) settled.set(id, plan.answers[index]!);
  }
}

const answersOf = ({ operations, settled }: Group, others: (index: number) => Result<Answer>): Result<Answer>[] =>
  operations.map(({ id }, index) => settled.get(id) ?? others(index));

function requestFor(operations: readonly Operation[]): RowRequest {
  const items = new Set<string>();
  const created: string[] = [];
  for (const { change } of operations) {
    if (change.kind === "create-item") created.push(change.item);
    else if ("item" in change) items.add(change.item);
  }
  return {
    vault: operations[0]!.vault,
    tokens: [...new Set(operations.map(({ actor }) => actor))],
    items: [...items],
    created,
    operations: operations.map(({ id }) => id),
    records: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}
