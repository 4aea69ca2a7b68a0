import { NONCE_PREFIX_BYTES } from "../crypto/seal.ts";
import type { Action } from "../model/activity.ts";
import type { KeyedFile } from "../model/file.ts";
import { parseId } from "../model/ids.ts";
import type { ItemInput } from "../model/item-input.ts";
import { fulfils, isVersion, type Item, type Precondition } from "../model/item.ts";
import { LIMITS } from "../model/limits.ts";
import { editorOf, type Change, type NewContent } from "../model/operation.ts";
import { fail, map, ok, type Result, invalid } from "../model/result.ts";
import { NOTHING_STORED, type StoredFile } from "../model/stored.ts";
import { isNamed, type Vault, type CountChange } from "../model/vault.ts";
import { versionKey } from "../store/commit/snapshot.ts";
import { sealedFileSize } from "../store/items/files.ts";
import { sealedNames, sealedTexts } from "../store/items/items.ts";
import { complete, type Random } from "./complete.ts";
import { type FileRows, measureWrite, putStored, type StoredWrite, addVersion, keepNewest } from "./versions.ts";
import { type ChangeContext, type ChangeResult, type WorkingVault, type Growth, refuseGrowth } from "./working.ts";

/** The steps that the kinds of operations share: find the Item, check it, make the next version, put it into the working copy. */

/** Returns true for an Item that is broken, or whose row is lost. */
export const isBroken = (current: Result<Item>): boolean => !current.ok && current.failure.kind === "integrity";

/**
 * Returns the attributes of the version after a damaged or lost one. Its number may be damaged or lost too; other rows then show it. The row
 * of a File may begin with the following version. An ended row belonged to an earlier version.
 */
export function nextOfBroken({ stored }: WorkingVault, id: string, actor: string, now: number, random: Random) {
  const { current, versions, files, ended } = stored.get(id)!;
  const ofFiles = current ? [] : [...ended.map(({ until }) => until - 1), ...files.map(({ since }) => since - 1)];
  const numbers = [...(current ? [current, ...versions] : versions).map(({ version }) => version), ...ofFiles].filter(isVersion);
  return { version: Math.max(0, ...numbers) + 1, nonce: drawNonce(random), updatedAt: now, lastEditedBy: editorOf(actor) };
}

/** Edits an Item by PUT or PATCH. `next` returns the new content of the Item; `undefined` changes nothing. */
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

/** Archives or unarchives an Item. An Item that already has the state stays unchanged. */
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

/** Edits the Files of an Item. `edit` returns the Item with its new Files. */
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
  return map(put, (result) => ({ ...result, answer: { ...result.answer, file } }));
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

/** Fails with `item_not_found`, `integrity` or `precondition`. */
export function currentItem(working: WorkingVault, id: string, ifMatch: Precondition | undefined): Result<Item> {
  const item = working.items.get(id) ?? fail("item_not_found");
  if (!item.ok || ifMatch === undefined || fulfils(item.value, ifMatch)) return item;
  return fail("precondition");
}

/** Puts a vault whose texts are resealed. Fails with `integrity` if a text is damaged and the change does not replace it. */
export function putVault(working: WorkingVault, action: Action, vault: Vault): Result<ChangeResult> {
  if (!isNamed(vault)) return fail("integrity");
  working.vault = vault;
  return ok({ answer: { vault }, action });
}

/** Puts the next version of an Item into the working copy. */

/** The changes of a write besides the Item. */
interface PutOptions extends FileRows {
  /** The rows of its Files, where they change. */
  readonly files?: readonly StoredFile[];
  readonly counts?: CountChange;
}

/**
 * Puts a completed Item into the working copy. Fails as `completed` did, with 400 if the Item became too large, and with `database_full` or
 * `quota`.
 */
export function putItem(
  working: WorkingVault,
  action: Action,
  completed: Result<Item>,
  context: Pick<ChangeContext, "now" | "growth" | "retention">,
  options: PutOptions = {},
): Result<ChangeResult> {
  if (!completed.ok) return completed;
  const item = completed.value;
  if (sealedTexts(item) + sealedNames(item) > LIMITS.item) return invalid(`the Item is larger than ${LIMITS.item} bytes sealed`);
  return putVersion(working, action, item, context, options);
}

/** Makes an Item the current version, counts the write, and keeps the version before. Fails with `database_full` or `quota`. */
export function putVersion(
  working: WorkingVault,
  action: Action,
  item: Item,
  context: Pick<ChangeContext, "now" | "growth" | "retention">,
  { files, counts, ...rows }: PutOptions = {},
): Result<ChangeResult> {
  const before = working.stored.get(item.id) ?? NOTHING_STORED;
  const current = { version: item.version, bytes: sealedTexts(item) };
  const after = addVersion(before, current, files ?? before.files, context.retention.versionsKept);
  const fitted = fit(working.vault!, context.growth, after.versions.length, (kept) =>
    measureWrite(working, item.id, keepNewest(after, kept), context.now, counts),
  );
  if (!fitted.ok) return fitted;
  const replaced = working.items.get(item.id);
  if (replaced && before.current) working.versions.set(versionKey(item.id, before.current.version), replaced);
  putStored(working, fitted.value, rows);
  working.items.set(item.id, ok(item));
  return ok({ answer: { item }, action, item: item.id, version: item.version });
}

/**
 * Keeps as many versions as there is room for: the oldest versions of the Item are dropped first (contract 12.6). `versions` is their number.
 * `write` returns the write that leaves a number of them.
 */
function fit(vault: Vault, growth: Growth, versions: number, write: (kept: number) => StoredWrite): Result<StoredWrite> {
  for (let kept = versions; ; kept--) {
    const measured = write(kept);
    const refused = refuseGrowth(growth, vault, measured.vault, measured.grown);
    if (!refused) return ok(measured);
    if (kept === 0) return refused;
  }
}

/**
 * Replaces an Item by PUT. If the client requires no version, an Item that is broken or whose row is lost can be replaced too. Its sealed
 * attributes outside the request then start again: the time of creation, and whether the Item is archived. Its Files are kept (contract
 * 10.27).
 */
export function replaceItem(
  working: WorkingVault,
  { item: id, input, ifMatch }: Extract<Change, { kind: "replace-item" }>,
  context: ChangeContext,
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  if (current.ok || ifMatch || !isBroken(current)) return editItem(working, context, id, ifMatch, () => ok(input));
  const { vault, actor, now, random } = context;
  const files = working.filesOfBroken.get(id) ?? { files: [] };
  const attributes = { id, vault, createdAt: now, ...files, ...nextOfBroken(working, id, actor, now, random) };
  return putItem(working, "UPDATE", complete(input, attributes, undefined, random), context);
}

/** The changes of the Files of an Item: pure functions from an Item to the Item with its new Files. */

interface FileEdit {
  readonly item: Item;
  readonly id: string;
  /** The File that the row gets; absent when it is deleted. */
  readonly written: KeyedFile | undefined;
}

/** Adds a File, and its section if the Item does not declare it. Fails with 400. */
export function addFile(item: Item, file: KeyedFile): Result<FileEdit> {
  if (item.files.length + (item.brokenFiles?.length ?? 0) >= LIMITS.list)
    return invalid(`files: has more than ${LIMITS.list} entries`);
  const { section } = file;
  const known = section === undefined || item.sections.some(({ id }) => id === section);
  if (!known && item.sections.length >= LIMITS.list) return invalid(`sections: has more than ${LIMITS.list} entries`);
  const sections = known ? item.sections : [...item.sections, { id: section, label: "" }];
  return putFile({ ...item, sections }, file);
}

/**
 * Replaces the content of a File. Fails with `file_not_found`, and with `integrity` for a broken File, because its row has the name and the
 * section.
 */
export function replaceContent(item: Item, content: NewContent): Result<FileEdit> {
  const before = item.files.find(({ id }) => id === content.id);
  if (!before) return fail(item.brokenFiles?.includes(content.id) ? "integrity" : "file_not_found");
  return putFile(item, { ...before, ...content });
}

/** Deletes a File, which may be broken. `id` is compared as the row has it too. Fails with `file_not_found`. */
export function deleteFile(item: Item, id: string): Result<FileEdit> {
  const { brokenFiles = [] } = item;
  const broken = brokenFiles.find((one) => one === id || parseId(one) === id);
  const files = item.files.filter((file) => file.id !== id);
  if (broken === undefined && files.length === item.files.length) return fail("file_not_found");
  const others = brokenFiles.filter((one) => one !== broken);
  const left = { ...item, files, brokenFiles: others.length > 0 ? others : undefined };
  return ok({ item: left, id: broken ?? id, written: undefined });
}

function putFile(item: Item, written: KeyedFile): Result<FileEdit> {
  const { key: _key, ...file } = written;
  const files = [...item.files.filter(({ id }) => id !== file.id), file].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return ok({ item: { ...item, files }, id: file.id, written });
}
