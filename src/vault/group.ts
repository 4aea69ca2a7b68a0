import type { FailureKind } from "../model/failure.ts";
import type { Answer, Change, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import type { ActivityRow } from "../store/activity.ts";
import { type Commit, writeCommit } from "../store/commit.ts";
import type { Attempt, Store } from "../store/database.ts";
import type { Memory } from "../store/memory.ts";
import type { Wanted } from "../store/rows.ts";
import { readSnapshot, recallSnapshot, type Snapshot } from "../store/snapshot.ts";
import { applyGroup, type Plan } from "./apply.ts";
import type { Random } from "./complete.ts";

/** So often a group is read and written before its callers are told to come back. */
const WRITES = 5;

/**
 * Carries out a group of operations on one vault: recall or read what they need, apply them, write what they changed.
 * What the fence held back is read and applied anew. After a write of unknown outcome the next read finds the
 * operations in the activity log, or not; either way each takes effect once.
 * In: a store with a fresh clock; what the coordinator remembers; `watch`, which notes the contents that a commit will leave behind. Out: an answer an operation, in order.
 */
export async function commitGroup(
  store: Store,
  memory: Memory,
  operations: readonly Operation[],
  watch: (commit: Commit) => Promise<void>,
): Promise<readonly Result<Answer>[]> {
  const wanted = wantedBy(operations);
  const attempted = new Map<string, Answer>();
  const given = { now: store.now, random, attempted };
  const planOn = (snapshot: Snapshot) => applyGroup(wanted.vault, snapshot, operations, given);
  let lost = "unavailable" as FailureKind;
  const write = async (plan: Plan, commit: Commit): Promise<Attempt> => {
    await watch(commit);
    const { outcome, entries } = await writeCommit(store, memory, commit);
    if (outcome === "unknown") {
      remember(plan, entries, operations, attempted);
      lost = "uncertain";
    }
    return outcome;
  };
  const recalled = await recallSnapshot(store, memory, wanted);
  if (recalled?.ok) {
    const plan = planOn(recalled.value);
    // A memory proves nothing, a commit that rests on it does: so all the answers have to rest on the commit.
    const proven = plan.commit?.activities.length === operations.length;
    if (proven && (await write(plan, plan.commit)) === "committed") return plan.answers;
  }
  /** The answers of operations that a snapshot found in the log: they stay true, whatever becomes of the rest. */
  const settled = new Map<string, Result<Answer>>();
  const answersOr = (others: (index: number) => Result<Answer>) =>
    operations.map(({ id }, index) => settled.get(id) ?? others(index));
  for (let written = 0; ; written++) {
    if (written > 0) await pause(written);
    const snapshot = await readSnapshot(store, memory, wanted);
    if (snapshot.ok) {
      const plan = planOn(snapshot.value);
      for (const [index, { id }] of operations.entries()) {
        if (snapshot.value.done.has(id) && !settled.has(id)) settled.set(id, plan.answers[index]!);
      }
      const done = !plan.commit || (written < WRITES && (await write(plan, plan.commit)) === "committed");
      if (done) return answersOr((index) => plan.answers[index]!);
    } else if (snapshot.failure.kind !== "unavailable" && lost !== "uncertain") return answersOr(() => snapshot);
    if (written === WRITES) return answersOr(() => fail(lost));
  }
}

function wantedBy(operations: readonly Operation[]): Wanted {
  const itemsOf = (wanted: (change: Change) => boolean) =>
    operations.flatMap(({ change }) => ("item" in change && wanted(change) ? [change.item] : []));
  return {
    vault: operations[0]!.vault,
    tokens: [...new Set(operations.map((operation) => operation.actor))],
    items: [...new Set(itemsOf(({ kind }) => kind !== "create-item"))],
    created: itemsOf(({ kind }) => kind === "create-item"),
    operations: operations.map((operation) => operation.id),
    replays: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}

/** Notes what the operations will have answered, should this attempt have taken effect. */
function remember(
  { answers }: Plan,
  entries: readonly ActivityRow[],
  operations: readonly Operation[],
  attempted: Map<string, Answer>,
): void {
  const sealed = new Map(entries.map((entry) => [entry.id, entry.sealed]));
  for (const [index, answer] of answers.entries()) {
    const entry = sealed.get(operations[index]!.id);
    if (answer.ok && entry !== undefined) attempted.set(entry, answer.value);
  }
}

const random: Random = (size) => crypto.getRandomValues(new Uint8Array(size));

/** Two coordinators that held each other back must not meet again: up to 4, 8, 16… milliseconds, at random. */
const pause = (attempt: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** (attempt + 1)));
