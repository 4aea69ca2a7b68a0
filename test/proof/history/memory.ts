import type { Item } from "../../../src/model/item.ts";
import { readItem } from "../../../src/model/item-input.ts";
import type { Answer, Change, Idempotency, Operation } from "../../../src/model/operation.ts";
import { readPatch } from "../../../src/model/patch-input.ts";
import { fail, ok, type Result } from "../../../src/model/result.ts";
import type { Vault } from "../../../src/model/vault.ts";
import type { Commit } from "../../../src/store/commit.ts";
import type { Replay } from "../../../src/store/replays.ts";
import type { OpenVault } from "../../../src/store/vaults.ts";
import type { Done } from "../../../src/store/rows.ts";
import type { Snapshot } from "../../../src/store/snapshot.ts";
import { applyGroup, type Plan } from "../../../src/vault/apply.ts";
import type { Turns } from "./orders.ts";

/** The coordinator's core over a store in memory: the steps of vault/group.ts and the fence of store/fence.ts, without D1. */

export const VAULT = "00000000-0000-4000-8000-000000000001";
export const ITEM = "00000000-0000-4000-8000-000000000002";
const ACTOR = "00000000-0000-4000-8000-000000000003";

/** What a part that is taken out does no more. */
export interface Broken {
  readonly fence?: boolean;
  /** The log of what took effect. */
  readonly log?: boolean;
  /** The fence's look at what took effect before. */
  readonly before?: boolean;
}

export type Store = ReturnType<typeof createStore>;

/** A store with one vault and one Item, whose content is `first`. */
export function createStore(broken: Broken = {}) {
  const times = { createdAt: 0, updatedAt: 0 };
  let vault: Vault = {
    id: VAULT,
    name: "",
    description: "",
    attributeVersion: 1,
    contentVersion: 1,
    items: 1,
    created: 1,
    files: 0,
    fileBytes: 0,
    ...times,
  };
  const whole = { title: "", category: "LOGIN", urls: [], favorite: false, sections: [], fields: [], files: [] } as const;
  const first: Item = { id: ITEM, vault: VAULT, version: 1, tags: ["first"], lastEditedBy: ACTOR, ...whole, ...times };
  const items = new Map([[ITEM, ok(first)]]);
  const replays = new Map<string, Result<Replay>>();
  const done = new Map<string, Done>();
  return {
    read: (): Snapshot => ({
      opened: { vault } as OpenVault,
      existed: true,
      tokens: new Set([ACTOR]),
      items: new Map(items),
      filesOf: new Map(),
      done: new Map(broken.log ? [] : done),
      replays: new Map(replays),
    }),
    /** In: what is to be written, and a number that no other attempt has. */
    write({ before, after, items: changes, activities, replays: answers }: Commit, attempt: number): "committed" | "stale" {
      if (!broken.fence && before!.vault.contentVersion !== vault.contentVersion) return "stale";
      const again = activities.some(({ id }) => done.has(id)) || answers.some(({ key }) => replays.has(key));
      if (!broken.before && again) return "stale";
      vault = after!;
      for (const { id, after: item } of changes) {
        if (item) items.set(id, ok(item));
        else items.delete(id);
      }
      for (const { id, action, item, version } of activities) {
        done.set(id, { id, action, item, version, sealed: sealed(id, attempt) });
      }
      for (const replay of answers) replays.set(replay.key, ok(replay));
      return "committed";
    },
  };
}

/** What stands for the sealed text of an operation's entry in the log. */
const sealed = (id: string, attempt: number) => `${id}, attempt ${attempt}`;

/** Carries out groups as a coordinator does, and remembers as it does. In: how many D1 calls may fail, all coordinators together. */
export function coordinator(store: Store, turns: Turns, faults: { left: number }) {
  let known: Snapshot | undefined;
  /** Whether this call fails: before it has done anything, or after. */
  const drawFault = () => {
    const drawn = faults.left > 0 ? (["none", "before", "after"] as const)[turns.choose(3)]! : "none";
    if (drawn !== "none") faults.left--;
    return drawn;
  };
  return async (group: readonly Operation[]): Promise<readonly Result<Answer>[]> => {
    const attempted = new Map<string, Answer>();
    const given = { now: ++groups, random: (size: number) => new Uint8Array(size), attempted };
    /** Whether the plan was carried out. */
    const write = async (snapshot: Snapshot, { answers }: Plan, commit: Commit): Promise<boolean> => {
      await turns.wait("write");
      const fault = drawFault();
      const attempt = ++attempts;
      const outcome = fault === "before" ? "unknown" : store.write(commit, attempt);
      await turns.wait("answer");
      const done = fault === "none" && outcome === "committed";
      known = done ? advanced(snapshot, commit) : undefined;
      if (done || fault === "none" || outcome === "stale") return done; // a violated constraint is an answer
      for (const [index, answer] of answers.entries()) {
        if (answer.ok) attempted.set(sealed(group[index]!.id, attempt), answer.value);
      }
      return false;
    };
    if (known) {
      const plan = applyGroup(VAULT, known, group, given);
      const proven = plan.commit?.activities.length === group.length;
      if (proven && (await write(known, plan, plan.commit))) return plan.answers;
    }
    for (let writes = 0; writes < 5; writes++) {
      await turns.wait("read");
      const snapshot = store.read();
      known = advanced(snapshot, undefined);
      const plan = applyGroup(VAULT, snapshot, group, given);
      if (!plan.commit || (await write(snapshot, plan, plan.commit))) return plan.answers;
    }
    return group.map(() => fail("uncertain"));
  };
}

/** What is remembered of a snapshot after a commit: not what was done before. */
function advanced(snapshot: Snapshot, commit: Commit | undefined): Snapshot {
  const items = new Map(snapshot.items);
  for (const { id, after } of commit?.items ?? []) {
    if (after) items.set(id, ok(after));
    else items.delete(id);
  }
  const opened = commit ? ({ ...snapshot.opened, vault: commit.after } as OpenVault) : snapshot.opened;
  return { ...snapshot, opened, items, done: new Map(), replays: new Map() };
}

let operations = 0;
/** Each group has a time of its own, so that its answers differ from those of another. */
let groups = 0;
let attempts = 0;

export const operation = (change: Change, idempotency?: Idempotency): Operation => {
  const origin = { userAgent: "", requestIp: "" };
  return { id: `operation ${++operations}`, vault: VAULT, actor: ACTOR, size: 0, origin, change, idempotency };
};

const given = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.failure.kind);
  return result.value;
};

export function changeFor(kind: "put" | "patch" | "delete", value: string, ifMatch?: number): Change {
  const condition = { item: ITEM, ifMatch: ifMatch === undefined ? undefined : [ifMatch] };
  const body = { vault: { id: VAULT }, category: "LOGIN", tags: [value] };
  if (kind === "put") return { kind: "replace-item", ...condition, input: given(readItem(body, VAULT, "replace")) };
  if (kind === "delete") return { kind: "delete-item", ...condition };
  return { kind: "patch-item", ...condition, operations: given(readPatch([{ op: "add", path: "/tags/-", value }])) };
}
