import { NONCE_PREFIX_BYTES } from "../crypto/seal.ts";
import type { Action } from "../model/activity.ts";
import type { KeyedFile } from "../model/file.ts";
import { fulfils, isVersion, type Item, type Precondition } from "../model/item.ts";
import type { ItemInput } from "../model/item-input.ts";
import { editorOf } from "../model/editor.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { NOTHING_STORED, type StoredFile } from "../model/stored.ts";
import { isNamed, type Vault } from "../model/vault.ts";
import { sealedFileSize } from "../store/items/files.ts";
import { complete, type Random } from "./complete.ts";
import type { FileEdit } from "./file-changes.ts";
import { putItem } from "./put-item.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The steps that the kinds of operations share: find the Item, check it, make the next version, put it into the working copy. */

/** Whether an Item cannot be decrypted, or its row is lost. */
export const isBroken = (current: Result<Item>): boolean => !current.ok && current.failure.kind === "integrity";

/**
 * Returns the attributes of the version that follows a damaged or lost one. Its number may be damaged or lost too: then those of other rows
 * tell it. The row of a File may begin with the version that follows; one that ends belonged to a version before.
 */
export function nextOfBroken({ stored }: WorkingVault, id: string, actor: string, now: number, random: Random) {
  const { current, versions, files, ended } = stored.get(id)!;
  const ofFiles = current ? [] : [...ended.map(({ until }) => until - 1), ...files.map(({ since }) => since - 1)];
  const numbers = [...(current ? [current, ...versions] : versions).map(({ version }) => version), ...ofFiles].filter(isVersion);
  return { version: Math.max(0, ...numbers) + 1, nonce: drawNonce(random), updatedAt: now, lastEditedBy: editorOf(actor) };
}

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
  if (!input.value) return ok({ answer: { item, unchanged: true } });
  const { actor, now, random } = context;
  const { vault, createdAt, state, files, brokenFiles } = item;
  const attributes = { id, vault, createdAt, state, files, brokenFiles, ...nextVersion(item, actor, now, random) };
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
  const { item, id: file, written } = edited.value;
  const { actor, now, random } = context;
  const next = { ...item, ...nextVersion(current.value, actor, now, random) };
  const others = (working.stored.get(id) ?? NOTHING_STORED).files.filter((row) => row.id !== file);
  const files = written ? [...others, storedFile(id, written, next.version)] : others;
  const put = putItem(working, "UPDATE", ok(next), context, { files, written });
  return put.ok ? ok({ ...put.value, answer: { ...put.value.answer, file } }) : put;
}

/** Drawn for each version in each attempt to write it, so that no two texts have the same. */
export const drawNonce = (random: Random): string => random(NONCE_PREFIX_BYTES).toHex();

const storedFile = (item: string, file: KeyedFile, since: number): StoredFile => {
  const { id, generation, size } = file;
  return { id, generation, size, since, bytes: sealedFileSize(item, file) };
};

export const nextVersion = (item: Item, actor: string, now: number, random: Random) => ({
  version: item.version + 1,
  nonce: drawNonce(random),
  updatedAt: Math.max(now, item.updatedAt),
  lastEditedBy: editorOf(actor),
});

/** Errors: `item_not_found`, `integrity`, `precondition`. */
export function currentItem(working: WorkingVault, id: string, ifMatch: Precondition | undefined): Result<Item> {
  const item = working.items.get(id) ?? fail("item_not_found");
  if (!item.ok || ifMatch === undefined || fulfils(item.value, ifMatch)) return item;
  return fail("precondition");
}

/** Puts a vault whose texts are sealed again. Fails with `integrity` if a text is damaged and the change does not replace it. */
export function putVault(working: WorkingVault, action: Action, vault: Vault): Result<ChangeResult> {
  if (!isNamed(vault)) return fail("integrity");
  working.vault = vault;
  return ok({ answer: { vault }, action });
}
