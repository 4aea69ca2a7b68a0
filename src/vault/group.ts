import type { Failure } from "../model/failure.ts";
import type { Answer, Operation } from "../model/operation.ts";
import { fail, type Result } from "../model/result.ts";
import { type Commit, writeCommit } from "../store/commit.ts";
import type { Store } from "../store/database.ts";
import { readSnapshot, type Wanted } from "../store/snapshot.ts";
import { applyGroup, type Plan } from "./apply.ts";
import type { Random } from "./complete.ts";

/** So often a group is written before its callers are told to come back. */
const WRITES = 5;

/**
 * Carries out a group of operations on one vault: read what they need, apply them, write what they changed.
 * What the fence held back is read and applied anew. After a write of unknown outcome the next read finds the
 * operations in the activity log, or not; either way each takes effect once.
 * In: a store with a fresh clock. Out: an answer an operation, in order.
 */
export async function commitGroup(store: Store, operations: readonly Operation[]): Promise<readonly Result<Answer>[]> {
  const wanted = wantedBy(operations);
  const attempted = new Map<string, Answer>();
  const bytes = new Map(operations.map((operation) => [operation.id, createTape()]));
  // The same time and the same random bytes in each attempt: two attempts on one snapshot answer the same, so it does
  // not matter which of them took effect.
  const given = { now: store.now, random: (id: string) => bytes.get(id)!(), attempted };
  for (let written = 0; ; written++) {
    if (written > 0) await pause(written);
    const last = written === WRITES;
    const snapshot = await readSnapshot(store, wanted);
    if (!snapshot.ok) {
      if (last || snapshot.failure.kind !== "unavailable") return operations.map(() => snapshot);
      continue;
    }
    const plan = applyGroup(wanted.vault, snapshot.value, operations, given);
    if (!plan.commit) return plan.answers;
    if (last) return withhold(plan, plan.commit, operations);
    const outcome = await writeCommit(store, plan.commit);
    if (outcome === "committed") return plan.answers;
    if (outcome === "unknown") remember(plan, plan.commit, operations, attempted);
  }
}

function wantedBy(operations: readonly Operation[]): Wanted {
  const items = operations.flatMap(({ change }) => ("item" in change ? [change.item] : []));
  return {
    vault: operations[0]!.vault,
    tokens: [...new Set(operations.map((operation) => operation.actor))],
    items: [...new Set(items)],
    operations: operations.map((operation) => operation.id),
    replays: operations.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : [])),
  };
}

/** The answers of a plan that was not written: what it would have changed did not happen. */
function withhold(plan: Plan, commit: Commit, operations: readonly Operation[]): readonly Result<Answer>[] {
  const unwritten = new Set(commit.entries.map((entry) => entry.id));
  return plan.answers.map((answer, index) =>
    unwritten.has(operations[index]!.id) ? fail("unavailable" satisfies Failure["kind"]) : answer,
  );
}

function remember(plan: Plan, commit: Commit, operations: readonly Operation[], attempted: Map<string, Answer>): void {
  const written = new Set(commit.entries.map((entry) => entry.id));
  for (const [index, answer] of plan.answers.entries()) {
    const { id } = operations[index]!;
    if (answer.ok && written.has(id)) attempted.set(id, answer.value);
  }
}

/** Random bytes that can be played again: each call of the tape starts it from the beginning. */
function createTape(): () => Random {
  const pieces: Uint8Array[] = [];
  return () => {
    let position = 0;
    return (size) => {
      const piece = pieces[position];
      // Another size is asked for when another state is being written: what follows is then new as well.
      if (piece?.length !== size) pieces.splice(position, Infinity, crypto.getRandomValues(new Uint8Array(size)));
      return pieces[position++]!;
    };
  };
}

/** Two coordinators that held each other back must not meet again: up to 4, 8, 16… milliseconds, at random. */
const pause = (attempt: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** (attempt + 1)));
