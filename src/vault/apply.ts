import type { Item } from "../model/item.ts";
import { type Action, ADMIN, type Answer, type Operation } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { Commit, Entry } from "../store/commit.ts";
import type { Replay } from "../store/replays.ts";
import type { Done, Snapshot } from "../store/snapshot.ts";
import { applyChange, type Changed } from "./changes.ts";
import type { Random } from "./complete.ts";

/** What the outside world gives to a group of operations. */
export interface Circumstances {
  /** Unix milliseconds. */
  readonly now: number;
  /** The random bytes of an operation: the same ones each time it is applied. */
  readonly random: (operation: string) => Random;
  /** What operations will have answered if the attempt of unknown outcome that applied them took effect. */
  readonly attempted: ReadonlyMap<string, Answer>;
}

export interface Plan {
  /** One an operation, in order; true once the commit is written. */
  readonly answers: readonly Result<Answer>[];
  /** Absent when nothing is to be written. */
  readonly commit: Commit | undefined;
}

/** What the operations of a group see and change, one after the other. */
export interface Working {
  vault: Vault | undefined;
  /** Whether there ever was such a vault. */
  readonly existed: boolean;
  readonly items: Map<string, Result<Item>>;
  readonly replays: Map<string, Result<Replay>>;
}

/** Applies a group of operations to a snapshot of their vault, in order. Nothing here waits, reads a clock or rolls dice. */
export function applyGroup(vault: string, snapshot: Snapshot, operations: readonly Operation[], given: Circumstances): Plan {
  const before = snapshot.opened;
  const working: Working = {
    vault: before?.vault,
    existed: snapshot.existed,
    items: new Map(snapshot.items),
    replays: new Map(snapshot.replays),
  };
  const entries: Entry[] = [];
  const replays = new Map<string, Replay>();
  const answers = operations.map((operation): Result<Answer> => {
    const done = snapshot.done.get(operation.id);
    if (done) return recall(operation, done, working, given);
    const earlier = admit(operation, snapshot, working);
    if (earlier) return earlier;
    const { id, actor, change } = operation;
    const changed = applyChange(working, change, { vault, actor, now: given.now, random: given.random(id) });
    if (!changed.ok) return changed;
    const { answer, action } = changed.value;
    if (action) {
      entries.push(entryOf(operation, action, changed.value));
      if (operation.idempotency) {
        const replay = { ...operation.idempotency, id: operation.id, answer };
        replays.set(replay.key, replay);
        working.replays.set(replay.key, ok(replay));
      }
    }
    return ok(answer);
  });
  if (entries.length === 0) return { answers, commit: undefined };
  return {
    answers,
    commit: {
      vault,
      before,
      after: working.vault,
      items: changedItems(snapshot, working),
      entries,
      replays: [...replays.values()],
    },
  };
}

/** Who may not write, what has no vault, and what was asked before: the answer, or `undefined` to go on. */
function admit(operation: Operation, snapshot: Snapshot, working: Working): Result<Answer> | undefined {
  const { actor, change, idempotency } = operation;
  if (actor !== ADMIN && !snapshot.tokens.has(actor)) return fail("unauthorized");
  if (!working.vault && change.kind !== "create-vault") return fail("vault_not_found");
  const replay = idempotency && working.replays.get(idempotency.key);
  if (!replay) return undefined;
  if (!replay.ok) return replay;
  return replay.value.request === idempotency.request ? ok(replay.value.answer) : fail("idempotency");
}

/** The answer of an operation that took effect before: its caller lost the first one. */
function recall(operation: Operation, done: Done, working: Working, given: Circumstances): Result<Answer> {
  const attempted = given.attempted.get(operation.id);
  if (attempted) return ok(attempted);
  const replay = operation.idempotency && working.replays.get(operation.idempotency.key);
  if (replay?.ok && replay.value.id === operation.id) return ok(replay.value.answer);
  if (done.action === "DELETE") return ok({});
  if (done.item === null) return working.vault ? ok({ vault: working.vault }) : fail("overtaken");
  const item = working.items.get(done.item);
  return item?.ok && item.value.version === done.version ? ok({ item: item.value }) : fail("overtaken");
}

function entryOf({ id, actor }: Operation, action: Action, { item, version }: Changed): Entry {
  return { id, action, actor, item: item ?? null, version: version ?? null };
}

function changedItems(snapshot: Snapshot, working: Working): Commit["items"] {
  const ids = new Set([...snapshot.items.keys(), ...working.items.keys()]);
  return [...ids]
    .map((id) => ({ id, before: valueIn(snapshot.items, id), after: valueIn(working.items, id) }))
    .filter(({ before, after }) => before !== after);
}

function valueIn(items: ReadonlyMap<string, Result<Item>>, id: string): Item | undefined {
  const item = items.get(id);
  return item?.ok ? item.value : undefined;
}
