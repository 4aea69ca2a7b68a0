import type { Activity } from "../model/activity.ts";
import type { Item } from "../model/item.ts";
import { ADMIN, type Answer, type Change, type Operation } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Commit } from "../store/write/commit.ts";
import type { IdempotencyRecord } from "../store/write/idempotency.ts";
import type { Snapshot } from "../store/write/snapshot.ts";
import { applyChange } from "./changes.ts";
import type { Random } from "./complete.ts";
import { copySnapshot, type WorkingVault } from "./working.ts";

/** What a group of operations needs besides the snapshot. */
export interface GroupContext {
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  /** The answers of attempts with an unknown outcome, by the sealed text of the log entry in that attempt. */
  readonly attempted: ReadonlyMap<string, Answer>;
  /** Receives what an operation throws: a defect of the service. */
  readonly onDefect: (error: unknown) => void;
}

export interface Plan {
  /** One answer per operation, in order. They are true once the commit is written. */
  readonly answers: readonly Result<Answer>[];
  /** Absent when there is nothing to write. */
  readonly commit: Commit | undefined;
}

/**
 * Applies a group of operations to a snapshot of their vault, in order. A pure function: it gets time and random bytes.
 * An operation that throws is answered `internal` alone: the others are applied again without it, to a new copy.
 */
export function applyGroup(vault: string, snapshot: Snapshot, operations: readonly Operation[], context: GroupContext): Plan {
  const defective = new Set<string>();
  for (;;) {
    const plan = applyAll(vault, snapshot, operations, context, defective);
    if (plan) return plan;
  }
}

/** Out: the plan; `undefined` when an operation threw, which is then in `defective`. */
function applyAll(
  vault: string,
  snapshot: Snapshot,
  operations: readonly Operation[],
  context: GroupContext,
  defective: Set<string>,
): Plan | undefined {
  const before = snapshot.opened;
  const working = copySnapshot(snapshot);
  const activities: Activity[] = [];
  const records = new Map<string, IdempotencyRecord>();
  // A retry by the caller may put the same operation twice into one group.
  const answered = new Map<string, Result<Answer>>();
  const applyOne = (operation: Operation): Result<Answer> => {
    const { id, actor, origin, change, idempotency } = operation;
    const earlier =
      answered.get(id) ??
      earlierAnswer(operation, snapshot, context.attempted) ??
      answerWithoutApplying(operation, snapshot, working);
    if (earlier) return earlier;
    if (defective.has(id)) return fail("internal");
    const changed = applyChange(working, change, { vault, actor, now: context.now, random: context.random });
    if (!changed.ok) return changed;
    const { answer, action, item = null, version = null } = changed.value;
    if (!action) return ok(answer);
    activities.push({ id, log: vault, action, result: "SUCCESS", actor, item, version, origin });
    if (idempotency) {
      const record = { ...idempotency, id, answer };
      records.set(record.key, record);
      working.records.set(record.key, ok(record));
    }
    return ok(answer);
  };
  const answers: Result<Answer>[] = [];
  for (const operation of operations) {
    try {
      const answer = applyOne(operation);
      answered.set(operation.id, answer);
      answers.push(answer);
    } catch (error) {
      context.onDefect(error);
      defective.add(operation.id);
      return undefined;
    }
  }
  const after = working.vault;
  // A vault that the group both created and deleted leaves nothing to write either.
  if (activities.length === 0 || (!before && !after)) return { answers, commit: undefined };
  const { files, released, deleted } = working;
  const changes = { items: changedItems(snapshot, working), files, released, deleted };
  const assumptions = { actors: [...snapshot.tokens], activities, records: [...records.values()] };
  return { answers, commit: { vault, before, after, ...changes, ...assumptions } };
}

/** The answer to an operation that is refused, or that an idempotency record answers; `undefined` to apply it. */
function answerWithoutApplying(
  { actor, change, idempotency }: Operation,
  snapshot: Snapshot,
  working: WorkingVault,
): Result<Answer> | undefined {
  if (actor !== ADMIN && !snapshot.tokens.has(actor)) return fail("unauthorized");
  if (!working.vault && change.kind !== "create-vault") return fail("vault_not_found");
  const record = idempotency && working.records.get(idempotency.key);
  if (!record) return undefined;
  if (!record.ok) return record;
  return record.value.request === idempotency.request ? ok(record.value.answer) : fail("idempotency");
}

/**
 * The answer of an operation that took effect before: its caller, or this coordinator, lost the first answer. The sealed
 * log entry decides whether an attempt of this coordinator took effect, because another coordinator may have applied the
 * same operation.
 */
function earlierAnswer(
  { id, change, idempotency }: Operation,
  snapshot: Snapshot,
  attempted: GroupContext["attempted"],
): Result<Answer> | undefined {
  const applied = snapshot.applied.get(id);
  if (!applied) return undefined;
  const answer = attempted.get(applied.sealed);
  if (answer) return ok(answer);
  const record = idempotency && snapshot.records.get(idempotency.key);
  if (record?.ok && record.value.id === id) return ok(record.value.answer);
  if (applied.action === "DELETE") return ok({});
  if (applied.item === null) return snapshot.opened ? ok({ vault: snapshot.opened.vault }) : fail("overtaken");
  const item = snapshot.items.get(applied.item);
  if (!item?.ok || item.value.version !== applied.version) return fail("overtaken");
  return ok({ item: item.value, file: fileOf(change) });
}

/** The id of the File that a change writes. */
function fileOf(change: Change): string | undefined {
  if (!("file" in change)) return undefined;
  return typeof change.file === "string" ? change.file : change.file.id;
}

function changedItems(snapshot: Snapshot, working: WorkingVault): Commit["items"] {
  const ids = [...new Set([...snapshot.items.keys(), ...working.items.keys()])];
  return ids
    .filter((id) => snapshot.items.get(id) !== working.items.get(id))
    .map((id) => {
      const before = snapshot.items.get(id);
      return { id, existed: before !== undefined, before: valueOf(before), after: valueOf(working.items.get(id)) };
    });
}

const valueOf = (item: Result<Item> | undefined): Item | undefined => (item?.ok ? item.value : undefined);
