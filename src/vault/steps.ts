import { NONCE_PREFIX } from "../crypto/seal.ts";
import type { Action } from "../model/activity.ts";
import { placeOf } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";
import { LIMITS } from "../model/limits.ts";
import { fulfils, type Precondition } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { countWrite, type Vault } from "../model/vault.ts";
import { sealedFileSize } from "../store/files.ts";
import { sealedNames, sealedTexts } from "../store/items.ts";
import { complete, type Random } from "./complete.ts";
import type { FileEdit } from "./file-changes.ts";
import { refuseGrowth } from "./growth.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The steps that the kinds of operations share: find, check, make the next version, put. */

/** PUT and PATCH. In: `next` makes the new content of the Item; `undefined` changes nothing. */
export function editItem(
  working: WorkingVault,
  context: ChangeContext,
  id: string,
  ifMatch: Precondition | undefined,
  next: (item: Item) => Result<ItemInput | undefined>,
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  if (!current.ok) return current;
  const item = current.value;
  const input = next(item);
  if (!input.ok) return input;
  if (!input.value) return ok({ answer: { item } });
  const { actor, now, random } = context;
  const { vault, createdAt, state, files } = item;
  const attributes = { id, vault, createdAt, state, files, ...nextVersion(item, actor, now, random) };
  return putItem(working, "UPDATE", complete(input.value, attributes, item, random), context);
}

/** Archives or unarchives an Item. An Item that has the state already stays as it is. */
export function setState(
  working: WorkingVault,
  context: ChangeContext,
  id: string,
  ifMatch: Precondition | undefined,
  state: Item["state"],
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  if (!current.ok) return current;
  if (current.value.state === state) return ok({ answer: { item: current.value, unchanged: true } });
  const { actor, now, random } = context;
  return putItem(working, "UPDATE", ok({ ...current.value, state, ...nextVersion(current.value, actor, now, random) }), context);
}

/** A write to the Files of an Item. In: `edit` makes the Item with its new Files. */
export function editFiles(
  working: WorkingVault,
  context: ChangeContext,
  id: string,
  ifMatch: Precondition | undefined,
  edit: (item: Item) => Result<FileEdit>,
): Result<ChangeResult> {
  const current = currentItem(working, id, undefined);
  if (!current.ok) return current;
  // A File that does not exist is refused before a version that does not match (contract 4).
  const edited = edit(current.value);
  if (!edited.ok) return edited;
  if (ifMatch && !fulfils(current.value, ifMatch)) return fail("precondition");
  const { item, change } = edited.value;
  const { actor, now, random } = context;
  const fileGrowth = sealedFileSize(id, change.after) - sealedFileSize(id, change.before);
  const next = { ...item, ...nextVersion(current.value, actor, now, random) };
  const put = putItem(working, "UPDATE", ok(next), context, fileGrowth);
  if (!put.ok) return put;
  working.files.push(change);
  if (change.before) working.released.push(placeOf(item.vault, id, change.before));
  return ok({ ...put.value, answer: { ...put.value.answer, file: change.id } });
}

/** Drawn for each version in each attempt to write it, so that no two texts have the same. */
export const drawNonce = (random: Random): string => random(NONCE_PREFIX).toHex();

const nextVersion = (item: Item, actor: string, now: number, random: Random) => ({
  version: item.version + 1,
  nonce: drawNonce(random),
  updatedAt: Math.max(now, item.updatedAt),
  lastEditedBy: actor,
});

/** Errors: `item_not_found`, `integrity`, `precondition`. */
export function currentItem(working: WorkingVault, id: string, ifMatch: Precondition | undefined): Result<Item> {
  const item = working.items.get(id) ?? fail("item_not_found");
  if (!item.ok || ifMatch === undefined || fulfils(item.value, ifMatch)) return item;
  return fail("precondition");
}

/**
 * Puts an Item into the working copy and counts the write. In: by how many bytes the rows of its Files grow.
 * Errors: those of `completed`; 400 when the Item became too large; `database_full`, `quota`.
 */
export function putItem(
  working: WorkingVault,
  action: Action,
  completed: Result<Item>,
  { now, growth }: Pick<ChangeContext, "now" | "growth">,
  fileGrowth = 0,
): Result<ChangeResult> {
  if (!completed.ok) return completed;
  const item = completed.value;
  const current = working.items.get(item.id);
  const before = current?.ok ? current.value : undefined;
  const texts = sealedTexts(item);
  if (exceedsLimit(texts + sealedNames(item), before)) return invalid(`the Item is larger than ${LIMITS.item} bytes sealed`);
  const stored = working.stored.get(item.id) ?? { texts: 0, files: 0 };
  const grown = texts - stored.texts + fileGrowth;
  const vault = countWrite(working.vault!, now, before, item, grown);
  const refused = refuseGrowth(growth, working.vault!, vault, grown);
  if (refused) return refused;
  working.vault = vault;
  working.sealedGrowth += grown;
  working.stored.set(item.id, { texts, files: stored.files + fileGrowth });
  working.items.set(item.id, completed);
  return ok({ answer: { item }, action, item: item.id, version: item.version });
}

/**
 * Whether an Item is too large. One that already was may stay as large (contract 12.5): release 0.1.0 did not count the names of
 * Files, and without this they could not be deleted one by one.
 */
function exceedsLimit(size: number, before: Item | undefined): boolean {
  return size > LIMITS.item && (before === undefined || size > sealedTexts(before) + sealedNames(before));
}

export function putVault(working: WorkingVault, action: Action, vault: Vault): Result<ChangeResult> {
  working.vault = vault;
  return ok({ answer: { vault }, action });
}
