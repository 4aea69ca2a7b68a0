import type { Effect } from "./database.ts";
import type { Call, History, Write } from "./history.ts";
import { formatContent } from "./requests.ts";
import { type Violation, violation } from "./violations.ts";

/** The reference model: what the Items must be when the writes take effect in the order of D1's transactions. */

/** A state of an Item, from one tick until that of the next state. */
export interface State {
  readonly tick: number;
  /** Absent while the Item does not exist. */
  readonly version: number | undefined;
  readonly values: readonly string[];
  /** The names of its Files. */
  readonly files: readonly string[];
}

/** A write that took effect, and the state that it made. */
export interface Applied {
  readonly effect: Effect;
  readonly state: State;
}

/** How many Items a vault has from a tick on. */
export interface Count {
  readonly tick: number;
  readonly items: number;
}

export interface Reference {
  /** The states of each Item, in order. The first is that before its creation. */
  readonly states: ReadonlyMap<string, readonly State[]>;
  readonly applied: ReadonlyMap<Write, Applied>;
  /** How many Items each vault had, from one tick until that of the next number. */
  readonly counts: ReadonlyMap<string, readonly Count[]>;
  /** The ids of the operations that took effect. */
  readonly operations: ReadonlyMap<string, Effect>;
  /** The calls by the ids of their operations. */
  readonly calls: ReadonlyMap<string, Call>;
  /** When each token was revoked. */
  readonly revoked: ReadonlyMap<string, number>;
  /** The version that the `If-Match` of a write to an Item names; `undefined` when no answer has shown it. */
  readonly versionOf: (item: string, tag: string) => number | undefined;
}

const NOTHING: State = { tick: 0, version: undefined, values: [], files: [] };

export const contentOfState = ({ values, files }: State): string => formatContent(values, files);

/** Applies the effects. Out: the model; `violations` gets what contradicts it. */
export function applyEffects(history: History, effects: readonly Effect[], violations: Violation[]): Reference {
  const states = new Map<string, State[]>();
  const applied = new Map<Write, Applied>();
  const counts = new Map<string, Count[]>();
  const operations = new Map<string, Effect>();
  const revoked = new Map<string, number>();
  const calls = new Map<string, Call>();
  const starts = new Map<Write, number>();
  for (const call of history.calls) {
    for (const id of call.operations) calls.set(id, call);
    if (call.write && !starts.has(call.write)) starts.set(call.write, call.start);
  }
  const versions = versionsByTag(history, violations);
  const versionOf = (item: string, tag: string) => versions.get(`${item} ${tag}`);

  function apply(effect: Effect, write: Write, item: string, actor: string): void {
    const report = (rule: Parameters<typeof violation>[0]) =>
      violations.push(
        violation(rule, `${write.value} (${write.kind}, ${write.spoiled}) at tick ${effect.tick}, version ${effect.version}`),
      );
    const known = states.get(item) ?? [NOTHING];
    states.set(item, known);
    const before = known.at(-1)!;
    const state = stateAfter(before, write, effect.tick);
    known.push(state);
    if (applied.has(write)) report("write took effect twice");
    applied.set(write, { effect, state });
    if (write.spoiled && write.spoiled !== "value that D1 refuses") report("refused write took effect");
    if (effect.tick < starts.get(write)!) report("effect before its request");
    if ((write.item ?? item) !== item || write.vault !== effect.vault) report("effect in another place");
    if (effect.version !== (state.version ?? null)) report("version without its write");
    if ((write.kind === "create") !== (before.version === undefined)) report("effect on a missing Item");
    if (write.tag !== undefined && versionOf(item, write.tag) !== before.version) report("If-Match ignored");
    if (write.file && !before.files.includes(write.file.name)) report("effect on a missing File");
    if ((revoked.get(actor) ?? Infinity) < effect.tick) report("effect after the revocation of its token");
  }

  for (const effect of effects) {
    if (effect.kind === "revoked") {
      revoked.set(effect.id, effect.tick);
      continue;
    }
    if (effect.item === null) continue; // the vault itself, which is made before the clients start
    operations.set(effect.id, effect);
    count(counts, effect);
    const call = calls.get(effect.id);
    if (call?.write) apply(effect, call.write, effect.item, effect.actor);
    else violations.push(violation("effect without a request", effect.id));
  }
  return { states, applied, counts, operations, calls, revoked, versionOf };
}

const CHANGES: Readonly<Record<Effect["action"], number>> = { CREATE: 1, UPDATE: 0, DELETE: -1 };

function count(counts: Map<string, Count[]>, { vault, tick, action }: Effect): void {
  const known = counts.get(vault) ?? [{ tick: 0, items: 0 }];
  counts.set(vault, known);
  known.push({ tick, items: known.at(-1)!.items + CHANGES[action] });
}

function stateAfter({ version = 0, values, files }: State, { kind, value, file }: Write, tick: number): State {
  const next = { tick, version: version + 1, values, files };
  switch (kind) {
    case "create":
    case "put":
      return { ...next, values: [value] };
    case "patch":
      return { ...next, values: [...values, value] };
    case "add-file":
      return { ...next, files: [...files, value] };
    case "delete-file":
      return { ...next, files: files.filter((name) => name !== file!.name) };
    default:
      return { ...NOTHING, tick };
  }
}

/** The versions that the entity tags in the answers stand for, by Item and tag. */
function versionsByTag({ calls }: History, violations: Violation[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { reply } of calls) {
    if (!reply?.tag || reply.body?.version === undefined) continue;
    const { id, version } = reply.body as { id: string; version: number };
    const name = `${id} ${reply.tag}`;
    if ((versions.get(name) ?? version) !== version) violations.push(violation("one entity tag of two versions", name));
    versions.set(name, version);
  }
  return versions;
}
