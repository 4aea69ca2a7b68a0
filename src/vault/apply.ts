import type { Activity } from "../model/activity.ts";
import type { ContentPlace } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import { ADMIN, type Answer, type Change, type Operation } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import type { Commit } from "../store/commit.ts";
import type { Replay } from "../store/replays.ts";
import type { FileChange } from "../store/row-changes.ts";
import type { Snapshot } from "../store/snapshot.ts";
import { applyChange } from "./changes.ts";
import type { Random } from "./complete.ts";

/** What the outside world gives to a group of operations. */
export interface Circumstances {
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  /** What operations answered in attempts of unknown outcome, by the sealed text that their entry in the log would have. */
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
  /** The vault as it was when it was deleted. */
  deleted: Vault | undefined;
  /** Whether there ever was such a vault. */
  readonly existed: boolean;
  readonly items: Map<string, Result<Item>>;
  readonly replays: Map<string, Result<Replay>>;
  /** What the store has of the Files of each Item, though the Item may not open. */
  readonly filesOf: Snapshot["filesOf"];
  readonly files: FileChange[];
  /** Contents that no row will hold any more. */
  readonly dropped: ContentPlace[];
}

/** Applies a group of operations to a snapshot of their vault, in order. Nothing here waits, reads a clock or rolls dice. */
export function applyGroup(vault: string, snapshot: Snapshot, operations: readonly Operation[], given: Circumstances): Plan {
  const before = snapshot.opened;
  const working: Working = {
    vault: before?.vault,
    deleted: undefined,
    existed: snapshot.existed,
    items: new Map(snapshot.items),
    replays: new Map(snapshot.replays),
    filesOf: snapshot.filesOf,
    files: [],
    dropped: [],
  };
  const activities: Activity[] = [];
  const replays = new Map<string, Replay>();
  // A caller that lost its connection asks again: then the same operation may wait twice in one group.
  const answered = new Map<string, Result<Answer>>();
  const applyOne = (operation: Operation): Result<Answer> => {
    const { id, actor, origin, change, idempotency } = operation;
    const earlier = answered.get(id) ?? recall(operation, snapshot, given.attempted) ?? admit(operation, snapshot, working);
    if (earlier) return earlier;
    const changed = applyChange(working, change, { vault, actor, now: given.now, random: given.random });
    if (!changed.ok) return changed;
    const { answer, action, item = null, version = null } = changed.value;
    if (!action) return ok(answer);
    activities.push({ id, log: vault, action, result: "SUCCESS", actor, item, version, origin });
    if (idempotency) {
      const replay = { ...idempotency, id, answer };
      replays.set(replay.key, replay);
      working.replays.set(replay.key, ok(replay));
    }
    return ok(answer);
  };
  const answers = operations.map((operation) => {
    const answer = applyOne(operation);
    answered.set(operation.id, answer);
    return answer;
  });
  const after = working.vault;
  // Also nothing to write: a vault that came and went within the group.
  if (activities.length === 0 || (!before && !after)) return { answers, commit: undefined };
  const { files, dropped, deleted } = working;
  const changed = { items: changedItems(snapshot, working), files, dropped, deleted };
  const rests = { actors: [...snapshot.tokens], activities, replays: [...replays.values()] };
  return { answers, commit: { vault, before, after, ...changed, ...rests } };
}

/** Who may not write, what has no vault, and what was asked before: the answer, or `undefined` to go on. */
function admit({ actor, change, idempotency }: Operation, snapshot: Snapshot, working: Working): Result<Answer> | undefined {
  if (actor !== ADMIN && !snapshot.tokens.has(actor)) return fail("unauthorized");
  if (!working.vault && change.kind !== "create-vault") return fail("vault_not_found");
  const replay = idempotency && working.replays.get(idempotency.key);
  if (!replay) return undefined;
  if (!replay.ok) return replay;
  return replay.value.request === idempotency.request ? ok(replay.value.answer) : fail("idempotency");
}

/**
 * The answer of an operation that took effect before: its caller, or this coordinator, lost the first one. That it was
 * tried here does not say that it took effect here: another coordinator may have been asked as well.
 */
function recall(
  { id, change, idempotency }: Operation,
  snapshot: Snapshot,
  attempted: Circumstances["attempted"],
): Result<Answer> | undefined {
  const done = snapshot.done.get(id);
  if (!done) return undefined;
  const answer = attempted.get(done.sealed);
  if (answer) return ok(answer);
  const replay = idempotency && snapshot.replays.get(idempotency.key);
  if (replay?.ok && replay.value.id === id) return ok(replay.value.answer);
  if (done.action === "DELETE") return ok({});
  if (done.item === null) return snapshot.opened ? ok({ vault: snapshot.opened.vault }) : fail("overtaken");
  const item = snapshot.items.get(done.item);
  if (!item?.ok || item.value.version !== done.version) return fail("overtaken");
  return ok({ item: item.value, file: fileOf(change) });
}

/** The id of the File that a change is about. */
function fileOf(change: Change): string | undefined {
  if (!("file" in change)) return undefined;
  return typeof change.file === "string" ? change.file : change.file.id;
}

function changedItems(snapshot: Snapshot, working: Working): Commit["items"] {
  const ids = [...new Set([...snapshot.items.keys(), ...working.items.keys()])];
  return ids
    .filter((id) => snapshot.items.get(id) !== working.items.get(id))
    .map((id) => {
      const before = snapshot.items.get(id);
      return { id, existed: before !== undefined, before: valueOf(before), after: valueOf(working.items.get(id)) };
    });
}

const valueOf = (item: Result<Item> | undefined): Item | undefined => (item?.ok ? item.value : undefined);
