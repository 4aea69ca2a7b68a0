import { type FilesOfItem, fulfils, type Item } from "../model/item.ts";
import { type Change, SERVICE } from "../model/operation.ts";
import { fail, map, ok, type Result, invalid } from "../model/result.ts";
import type { StoredFile } from "../model/stored.ts";
import type { CountChange } from "../model/vault.ts";
import { versionKey } from "../store/commit/snapshot.ts";
import { putVersion, currentItem, isBroken, nextOfBroken, nextVersion } from "./items.ts";
import { restoreFiles, measureWrite, putStored, deleteCurrent, dropVersion, keepNewest } from "./versions.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The restoration of versions and of deleted Items. Each makes a new version with an earlier content. */

/**
 * Makes a new version with the content and the Files of an earlier version. The archived state is not part of the content. For the current
 * version nothing is written. Fails with `item_not_found`, `version_not_found`, `precondition`, `integrity`; `database_full`, `quota`.
 */
export function restoreVersion(
  working: WorkingVault,
  { item: id, version, ifMatch }: Extract<Change, { kind: "restore-version" }>,
  context: ChangeContext,
): Result<ChangeResult> {
  const found = currentItem(working, id, undefined);
  if (isBroken(found) && !ifMatch) return restoreOverBroken(working, id, version, context);
  if (!found.ok) return found;
  const current = found.value;
  const earlier = current.version === version ? found : versionOf(working, id, version);
  if (!earlier.ok) return earlier;
  if (ifMatch && !fulfils(current, ifMatch)) return fail("precondition");
  if (earlier === found) return ok({ answer: { item: current, unchanged: true } });
  return restore(working, earlier.value, current, context);
}

/**
 * Restores a version as `restoreVersion` does, for an Item whose current version is broken. Fails with `version_not_found`, `integrity`;
 * `database_full`, `quota`.
 */
function restoreOverBroken(working: WorkingVault, id: string, version: number, context: ChangeContext): Result<ChangeResult> {
  const earlier = versionOf(working, id, version);
  if (!earlier.ok) return working.stored.get(id)?.current?.version === version ? fail("integrity") : earlier;
  const { actor, now, random } = context;
  return putRestored(working, earlier.value, nextOfBroken(working, id, actor, now, random), context);
}

/** Restores a deleted Item with a new version. Fails with `item_not_found`, `integrity`; `database_full`, `quota`. */
export function restoreItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  context: ChangeContext,
): Result<ChangeResult> {
  const deleted = working.stored.get(id)?.deleted;
  if (!deleted) return fail("item_not_found");
  const last = versionOf(working, id, deleted.version);
  return last.ok ? restore(working, last.value, last.value, context, { restored: 1 }) : last;
}

/** Fails with `version_not_found` or `integrity`. */
function versionOf(working: WorkingVault, id: string, version: number): Result<Item> {
  const isKept = working.stored.get(id)?.versions.some((row) => row.version === version);
  return (isKept && working.versions.get(versionKey(id, version))) || fail("version_not_found");
}

/** Restores a version. `content` is the version with the content, `last` is the last version. */
function restore(
  working: WorkingVault,
  content: Item,
  last: Item,
  context: ChangeContext,
  counts: CountChange = {},
): Result<ChangeResult> {
  const { actor, now, random } = context;
  const { createdAt, state } = last;
  return putRestored(working, content, { createdAt, state, ...nextVersion(last, actor, now, random) }, context, counts);
}

/** Puts a restored version. `content` is the version with the content; `attributes` replace some of its attributes. */
function putRestored(
  working: WorkingVault,
  content: Item,
  attributes: Pick<Item, "version"> & Partial<Item>,
  context: ChangeContext,
  counts: CountChange = {},
): Result<ChangeResult> {
  const { id, version } = content;
  const before = working.stored.get(id)!;
  const files = restoreFiles(before, version, attributes.version);
  const current = working.items.get(id);
  // Of a deleted Item its last version is restored, which has the same Files.
  const now = current?.ok ? current.value : ((current && working.filesOfBroken.get(id)) ?? content);
  const item = { ...content, ...attributes, ...filesOfRows(files, (row) => (before.files.includes(row) ? now : content)) };
  const put = putVersion(working, "UPDATE", item, context, { files, counts, restored: version });
  return map(put, (result) => ({ ...result, event: "restored" }));
}

/** Returns the Files of rows. `ownerOf` returns the Item of a row, whose Files show if the row can be decrypted. */
function filesOfRows(rows: readonly StoredFile[], ownerOf: (row: StoredFile) => FilesOfItem): FilesOfItem {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const files = sorted.map((row) => ownerOf(row).files.find(({ id }) => id === row.id));
  const brokenFiles = sorted.flatMap(({ id }, index) => (files[index] ? [] : [id]));
  return { files: files.filter((file) => file !== undefined), brokenFiles: brokenFiles.length > 0 ? brokenFiles : undefined };
}

/** The deletion of Items, and the destruction of their remaining rows. No deletion needs room. */

/**
 * Deletes an Item. It can be restored, unless the retention is 0: then it is destroyed completely. Fails with `item_not_found`, `integrity`
 * or `precondition`.
 */
export function deleteItem(
  working: WorkingVault,
  { item: id, ifMatch }: Extract<Change, { kind: "delete-item" }>,
  { actor, now, retention }: ChangeContext,
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  // A broken Item can be deleted, unless the client requires a version.
  if (!current.ok && (!isBroken(current) || ifMatch)) return current;
  const before = working.stored.get(id)!;
  if (!before.current) return fail("item_not_found"); // its row is lost
  const { deletedRetention, versionsKept } = retention;
  const after = deletedRetention > 0 ? deleteCurrent(before, now, actor, versionsKept) : undefined;
  working.versions.set(versionKey(id, before.current.version), working.items.get(id)!);
  putStored(working, measureWrite(working, id, after, now));
  working.items.delete(id);
  return ok({ answer: {}, action: "DELETE", item: id });
}

/** Destroys a deleted Item with all its versions and contents. Fails with `item_not_found`. */
export function destroyItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  { now }: ChangeContext,
): Result<ChangeResult> {
  if (!working.stored.get(id)?.deleted) return fail("item_not_found");
  putStored(working, measureWrite(working, id, undefined, now, { destroyed: 1 }));
  return ok({ answer: {}, action: "DELETE", item: id, event: "destroyed" });
}

/**
 * Destroys an earlier version. Fails with `item_not_found`, also for a deleted Item, with 400 for the current version, and with
 * `version_not_found`.
 */
export function destroyVersion(
  working: WorkingVault,
  { item: id, version }: { readonly item: string; readonly version: number },
  { now }: ChangeContext,
): Result<ChangeResult> {
  const stored = working.stored.get(id);
  if (!stored?.current) return fail("item_not_found");
  if (version === stored.current.version) return invalid("the current version cannot be destroyed: write another one first");
  if (!stored.versions.some((kept) => kept.version === version)) return fail("version_not_found");
  putStored(working, measureWrite(working, id, dropVersion(stored, version), now, { destroyed: 1 }));
  return ok({ answer: {}, action: "DELETE", item: id, version, event: "version_destroyed" });
}

/**
 * Destroys the rows of an Item beyond the settings: a deleted Item after its retention, and surplus versions. Versions of an Item that
 * neither exists nor is deleted are kept, because its row was lost. The log entry names no version. Fails with `unauthorized` for every actor
 * but `SERVICE`.
 */
export function expireItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  { actor, now, retention: { versionsKept, deletedRetention } }: ChangeContext,
): Result<ChangeResult> {
  if (actor !== SERVICE) return fail("unauthorized");
  const stored = working.stored.get(id);
  if (!stored || !(stored.current ?? stored.deleted)) return ok({ answer: {} });
  const { current, deleted } = stored;
  // A time before the vault's creation is damaged. The row may be the last copy, and is a finding of `verify`.
  const expired = deleted !== undefined && deleted.at >= working.vault!.createdAt && deleted.at + deletedRetention <= now;
  const after = expired ? undefined : keepNewest(stored, versionsKept + Number(current === undefined));
  if (after === stored) return ok({ answer: {} });
  putStored(working, measureWrite(working, id, after, now, { destroyed: 1 }));
  return ok({ answer: {}, action: "DELETE", item: id, event: expired ? "destroyed" : "version_destroyed" });
}
