import type { Action } from "../model/activity.ts";
import { placeOf } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";
import { LIMITS } from "../model/limits.ts";
import { type Answer, includesVersion, type Precondition } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { countWrite, type Vault } from "../model/vault.ts";
import { sealedSize } from "../store/items.ts";
import type { Working } from "./apply.ts";
import { complete, type Random } from "./complete.ts";
import type { FileEdit } from "./file-changes.ts";

/** The steps that the kinds of operations share. Each works on the working copy of the vault. */

export interface Changed {
  readonly answer: Answer;
  /** Absent when nothing changed. */
  readonly action?: Action;
  readonly item?: string;
  readonly version?: number;
}

/** What the coordinator and its circumstances add to a change. */
export interface Given {
  readonly vault: string;
  readonly actor: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
}

/** The steps of PUT and PATCH: find, check, make the next version, store. */
export function edit(
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
  const { vault, createdAt, state, files } = item;
  const moved = nextVersion(item, actor, now);
  return store(working, "UPDATE", complete(input.value, { id, vault, createdAt, state, files, ...moved }, item, random), now);
}

/** The steps of a write to an Item's Files: find, check, make the next version, store. */
export function editFiles(
  working: Working,
  { actor, now }: Given,
  id: string,
  ifMatch: Precondition | undefined,
  make: (item: Item) => Result<FileEdit>,
): Result<Changed> {
  const current = find(working, id, undefined);
  if (!current.ok) return current;
  // Whether the File is there comes before whether the version is the right one.
  const made = make(current.value);
  if (!made.ok) return made;
  if (ifMatch && !includesVersion(ifMatch, current.value.version)) return fail("precondition");
  const { item, change } = made.value;
  const stored = store(working, "UPDATE", ok({ ...item, ...nextVersion(current.value, actor, now) }), now);
  if (!stored.ok) return stored;
  working.files.push(change);
  if (change.before) working.dropped.push(placeOf(item.vault, id, change.before));
  return ok({ ...stored.value, answer: { ...stored.value.answer, file: change.id } });
}

const nextVersion = (item: Item, actor: string, now: number) => ({
  version: item.version + 1,
  updatedAt: Math.max(now, item.updatedAt),
  lastEditedBy: actor,
});

export function find(working: Working, id: string, ifMatch: Precondition | undefined): Result<Item> {
  const item = working.items.get(id) ?? fail("item_not_found");
  if (!item.ok || ifMatch === undefined || includesVersion(ifMatch, item.value.version)) return item;
  return fail("precondition");
}

export function store(working: Working, action: Action, made: Result<Item>, now: number): Result<Changed> {
  if (!made.ok) return made;
  const item = made.value;
  if (sealedSize(item) > LIMITS.item) return invalid(`the Item is larger than ${LIMITS.item} bytes sealed`);
  const before = working.items.get(item.id);
  working.vault = countWrite(working.vault!, now, before?.ok ? before.value : undefined, item);
  working.items.set(item.id, made);
  return ok({ answer: { item }, action, item: item.id, version: item.version });
}

export function settle(working: Working, action: Action, vault: Vault): Result<Changed> {
  working.vault = vault;
  return ok({ answer: { vault }, action });
}
