import type { Item } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";
import { LIMITS } from "../model/limits.ts";
import { type Action, type Answer, type Change, includesVersion, type Precondition } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import { sealedSize } from "../store/items.ts";
import type { Working } from "./apply.ts";
import { complete, type Random } from "./complete.ts";
import { applyPatch } from "./patch.ts";

/** What each kind of operation does to the vault it is for: one function a kind. */

export interface Changed {
  readonly answer: Answer;
  /** Absent when nothing changed. */
  readonly action?: Action;
  readonly item?: string;
  readonly version?: number;
}

/** What the coordinator and its circumstances add to a change. */
interface Given {
  readonly vault: string;
  readonly actor: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
}

type Apply<K extends Change["kind"]> = (working: Working, change: Extract<Change, { kind: K }>, given: Given) => Result<Changed>;

/** Applies a change to the working copy of its vault. What it cannot do leaves the copy as it was. */
export function applyChange(working: Working, change: Change, given: Given): Result<Changed> {
  const apply = changes[change.kind] as Apply<Change["kind"]>;
  return apply(working, change, given);
}

const changes: { readonly [K in Change["kind"]]: Apply<K> } = {
  "create-item": (working, { item: id, input }, { vault, actor, now, random }) => {
    const frame = { id, vault, version: 1, lastEditedBy: actor, createdAt: now, updatedAt: now };
    return store(working, "CREATE", complete(input, frame, [], random), now);
  },

  "replace-item": (working, { item: id, input, ifMatch }, given) => edit(working, given, id, ifMatch, () => ok(input)),

  "patch-item": (working, { item: id, operations, ifMatch }, given) =>
    edit(working, given, id, ifMatch, (item) => (operations.length > 0 ? applyPatch(item, operations) : ok(undefined))),

  "delete-item": (working, { item: id, ifMatch }, { now }) => {
    const current = find(working, id, ifMatch);
    // What does not open can still be thrown away, by whoever does not ask for a version of it.
    const broken = !current.ok && current.failure.kind === "integrity" && ifMatch === undefined;
    if (!current.ok && !broken) return current;
    working.items.delete(id);
    count(working, now, -1);
    return ok({ answer: {}, action: "DELETE", item: id });
  },

  "create-vault": (working, { name, description }, { vault: id, now }) => {
    // The id is derived from the Idempotency-Key: whoever comes back with it after a day, or after the vault's deletion,
    // finds that it was used, but not its answer.
    if (working.vault || working.existed) return fail("idempotency");
    const versions = { attributeVersion: 1, contentVersion: 0, items: 0 };
    return settle(working, "CREATE", { id, name, description, ...versions, createdAt: now, updatedAt: now });
  },

  "update-vault": (working, { name, description }, { now }) => {
    const vault = working.vault!;
    const typed = { name: name ?? vault.name, description: description ?? vault.description };
    const moved = { attributeVersion: vault.attributeVersion + 1, updatedAt: Math.max(now, vault.updatedAt) };
    return settle(working, "UPDATE", { ...vault, ...typed, ...moved });
  },

  "delete-vault": (working) => {
    working.vault = undefined;
    working.items.clear();
    working.replays.clear();
    return ok({ answer: {}, action: "DELETE" });
  },
};

/** The steps of PUT and PATCH: find, check, make the next version, store. */
function edit(
  working: Working,
  { actor, now, random }: Given,
  id: string,
  ifMatch: Precondition | undefined,
  next: (item: Item) => Result<ItemInput | undefined>,
): Result<Changed> {
  const current = find(working, id, ifMatch);
  if (!current.ok) return current;
  const item = current.value;
  const input = next(item);
  if (!input.ok) return input;
  if (!input.value) return ok({ answer: { item } });
  const { vault, createdAt, state } = item;
  const moved = { version: item.version + 1, updatedAt: Math.max(now, item.updatedAt), lastEditedBy: actor };
  return store(working, "UPDATE", complete(input.value, { id, vault, createdAt, state, ...moved }, item.fields, random), now);
}

function find(working: Working, id: string, ifMatch: Precondition | undefined): Result<Item> {
  const item = working.items.get(id) ?? fail("item_not_found");
  if (!item.ok || ifMatch === undefined || includesVersion(ifMatch, item.value.version)) return item;
  return fail("precondition");
}

function store(working: Working, action: Action, made: Result<Item>, now: number): Result<Changed> {
  if (!made.ok) return made;
  const item = made.value;
  if (sealedSize(item) > LIMITS.item) return invalid(`the Item is larger than ${LIMITS.item} bytes sealed`);
  working.items.set(item.id, made);
  count(working, now, action === "CREATE" ? 1 : 0);
  return ok({ answer: { item }, action, item: item.id, version: item.version });
}

/** A write to an Item moves its vault's content version. */
function count(working: Working, now: number, items: number): void {
  const vault = working.vault!;
  const updatedAt = Math.max(now, vault.updatedAt);
  working.vault = { ...vault, contentVersion: vault.contentVersion + 1, items: vault.items + items, updatedAt };
}

function settle(working: Working, action: Action, vault: Vault): Result<Changed> {
  working.vault = vault;
  return ok({ answer: { vault }, action });
}
