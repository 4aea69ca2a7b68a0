import type { Effect } from "./database.ts";
import type { Call, History, Write } from "./history.ts";
import { type Content, formatContent } from "./requests.ts";
import { readTags, type Tags } from "./tags.ts";
import { type Violation, violation } from "./violations.ts";

/** The reference model: what the Items must be when the writes take effect in the order of D1's transactions. */

/** A state of an Item, from one tick until that of the next state. */
export interface State extends Content {
  readonly tick: number;
  /** Absent while the Item does not exist. */
  readonly version: number | undefined;
  /** The last version, also of a deleted Item. */
  readonly last: number;
  readonly deleted: boolean;
  /** The earlier versions that are kept; of a deleted Item also the last one. */
  readonly kept: ReadonlyMap<number, Content>;
  /** Whether older versions may have been destroyed, because the database had no room at times. */
  readonly lacked: boolean;
}

/** A write that took effect, and the state that it made. */
export interface Applied {
  readonly effect: Effect;
  readonly state: State;
}

/** How many Items a vault has from a tick on, deleted ones too. */
export interface Count {
  readonly tick: number;
  readonly items: number;
}

export interface Reference {
  /** The states of each Item, in order. The first is that before its creation. */
  readonly states: ReadonlyMap<string, readonly State[]>;
  readonly applied: ReadonlyMap<Write, Applied>;
  /** How many Items each vault had, deleted ones too, from one tick until that of the next number. */
  readonly counts: ReadonlyMap<string, readonly Count[]>;
  /** The ids of the operations that took effect. */
  readonly operations: ReadonlyMap<string, Effect>;
  /** The writes of each vault, to the vault itself too, in order. */
  readonly events: ReadonlyMap<string, readonly Effect[]>;
  /** The calls by the ids of their operations. */
  readonly calls: ReadonlyMap<string, Call>;
  /** When each token was revoked. */
  readonly revoked: ReadonlyMap<string, number>;
  readonly tags: Tags;
}

const NOTHING: State = {
  tick: 0,
  version: undefined,
  last: 0,
  values: [],
  files: [],
  archived: false,
  deleted: false,
  kept: new Map(),
  lacked: false,
};

/** `VERSIONS_KEPT` of wrangler.toml. */
const VERSIONS_KEPT = 10;

export const contentOfState = (state: Content): string => formatContent(state);

/** Applies the effects. Out: the model; `violations` gets what contradicts it. */
export function applyEffects(history: History, effects: readonly Effect[], violations: Violation[]): Reference {
  const states = new Map<string, State[]>();
  const applied = new Map<Write, Applied>();
  const counts = new Map<string, Count[]>();
  const operations = new Map<string, Effect>();
  const revoked = new Map<string, number>();
  const events = new Map<string, Effect[]>();
  const calls = new Map<string, Call>();
  const starts = new Map<Write, number>();
  for (const call of history.calls) {
    for (const id of call.operations) calls.set(id, call);
    if (call.write && !starts.has(call.write)) starts.set(call.write, call.start);
  }
  const tags = readTags(history, effects, calls, violations);

  function apply(effect: Effect, write: Write, item: string, actor: string): void {
    const report = (rule: Parameters<typeof violation>[0]) =>
      violations.push(
        violation(rule, `${write.value} (${write.kind}, ${write.spoiled}) at tick ${effect.tick}, version ${effect.version}`),
      );
    const known = states.get(item) ?? [NOTHING];
    states.set(item, known);
    const before = known.at(-1)!;
    const lacked = before.lacked || history.shortages.some(({ tick }, n) => tick < effect.tick && n > 0);
    const state = { ...stateAfter(before, write), tick: effect.tick, lacked };
    known.push(state);
    if (applied.has(write)) report("write took effect twice");
    applied.set(write, { effect, state });
    if (write.spoiled && write.spoiled !== "value that D1 refuses") report("refused write took effect");
    if (effect.tick < starts.get(write)!) report("effect before its request");
    if ((write.item ?? item) !== item || write.vault !== effect.vault) report("effect in another place");
    if (effect.version !== (write.kind === "destroy-version" ? write.version : (state.version ?? null)))
      report("version without its write");
    const exists = before.version !== undefined;
    if (write.kind === "create" && (exists || before.deleted)) report("Item made twice");
    if (write.kind !== "create" && !(OF_DELETED.has(write.kind) ? before.deleted : exists)) report("effect on a missing Item");
    if (write.version !== undefined && !before.kept.has(write.version)) report("effect on a missing version");
    if (write.tag !== undefined && !tags.mayMatch(item, write.tag, before.version, before.tick)) report("If-Match ignored");
    if (write.file && !before.files.includes(write.file.name)) report("effect on a missing File");
    if ((revoked.get(actor) ?? Infinity) < effect.tick) report("effect after the revocation of its token");
  }

  for (const effect of effects) {
    if (effect.kind === "revoked") {
      revoked.set(effect.id, effect.tick);
      continue;
    }
    const written = events.get(effect.vault) ?? [];
    events.set(effect.vault, [...written, effect]);
    if (effect.sequence !== written.length + 1)
      violations.push(
        violation("number of a write is not the next", `${effect.id} has ${effect.sequence} after ${written.length}`),
      );
    if (effect.item === null) continue; // the vault itself, which is made before the clients start
    operations.set(effect.id, effect);
    const call = calls.get(effect.id);
    count(counts, effect, call?.write);
    if (call?.write) apply(effect, call.write, effect.item, effect.actor);
    else violations.push(violation("effect without a request", effect.id));
  }
  return { states, applied, counts, operations, events, calls, revoked, tags };
}

/** The writes to deleted Items. */
export const OF_DELETED: ReadonlySet<string> = new Set(["restore-item", "destroy-item"]);

function count(counts: Map<string, Count[]>, { vault, tick }: Effect, write: Write | undefined): void {
  const known = counts.get(vault) ?? [{ tick: 0, items: 0 }];
  counts.set(vault, known);
  const change = { create: 1, "destroy-item": -1 }[write?.kind as string] ?? 0;
  known.push({ tick, items: known.at(-1)!.items + change });
}

/** The newest versions. */
const newest = (kept: ReadonlyMap<number, Content>, most: number): ReadonlyMap<number, Content> =>
  new Map([...kept].toSorted(([a], [b]) => a - b).slice(-most));

/** The state after a write, as the contract says; an Item that does not suit is reported elsewhere. */
function stateAfter(before: State, { kind, value, version, file }: Write): State {
  const { last, values, files, archived, kept } = before;
  const content: Content = { values, files, archived };
  const next = (changed: Partial<Content>): State => {
    const earlier = last > 0 ? newest(new Map([...kept, [last, content]]), VERSIONS_KEPT) : kept;
    return { ...before, ...content, ...changed, version: last + 1, last: last + 1, deleted: false, kept: earlier };
  };
  switch (kind) {
    case "create":
    case "put":
      return next({ values: [value] });
    case "patch":
      return next({ values: [...values, value] });
    case "add-file":
      return next({ files: [...files, value] });
    case "delete-file":
      return next({ files: files.filter((name) => name !== file!.name) });
    case "archive":
    case "unarchive":
      return next({ archived: kind === "archive" });
    case "restore-version":
      return next({ ...kept.get(version!), archived });
    case "restore-item":
      return next({});
    case "destroy-version":
      return { ...before, kept: new Map([...kept].filter(([number]) => number !== version)) };
    case "delete":
      return {
        ...before,
        version: undefined,
        deleted: true,
        kept: newest(new Map([...kept, [last, content]]), VERSIONS_KEPT + 1),
      };
    default:
      return NOTHING; // a deleted Item that is destroyed
  }
}

/** Whether a write leaves an Item in this state as it is: it has no effect, and no number. */
export const changesNothing = ({ version, archived }: State, { kind, version: source }: Write): boolean =>
  version !== undefined &&
  ((kind === "archive" && archived) || (kind === "unarchive" && !archived) || (kind === "restore-version" && version === source));
