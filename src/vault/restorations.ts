import { type FilesOfItem, fulfils, type Item, type Precondition } from "../model/item.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { StoredFile } from "../model/stored.ts";
import type { CountChange } from "../model/vault.ts";
import { versionKey } from "../store/commit/snapshot.ts";
import { putVersion } from "./put-item.ts";
import { currentItem, isBroken, nextOfBroken, nextVersion } from "./steps.ts";
import { restoreFiles } from "./versions.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The restoration of versions and of deleted Items. Each makes a new version with an earlier content. */

/**
 * Makes a new version with the content and the Files of an earlier one. Whether the Item is archived is not part of its content.
 * The current version restored is the Item as it is: nothing is written.
 * Errors: `item_not_found`, `version_not_found`, `precondition`, `integrity`; `database_full`, `quota`.
 */
export function restoreVersion(
  working: WorkingVault,
  {
    item: id,
    version,
    ifMatch,
  }: { readonly item: string; readonly version: number; readonly ifMatch?: Precondition | undefined },
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
 * As `restoreVersion`, of an Item whose current version does not open. Errors: `version_not_found`, `integrity`; `database_full`, `quota`.
 */
function restoreOverBroken(working: WorkingVault, id: string, version: number, context: ChangeContext): Result<ChangeResult> {
  const earlier = versionOf(working, id, version);
  if (!earlier.ok) return working.stored.get(id)?.current?.version === version ? fail("integrity") : earlier;
  const { actor, now, random } = context;
  return putRestored(working, earlier.value, nextOfBroken(working, id, actor, now, random), context);
}

/** Restores a deleted Item, with a new version. Errors: `item_not_found`, `integrity`; `database_full`, `quota`. */
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

/** Errors: `version_not_found`, `integrity`. */
function versionOf(working: WorkingVault, id: string, version: number): Result<Item> {
  const isKept = working.stored.get(id)?.versions.some((row) => row.version === version);
  return (isKept && working.versions.get(versionKey(id, version))) || fail("version_not_found");
}

/** In: the version with the content, and the last version. */
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

/** In: the version with the content, and the attributes that the new version has instead of its own. */
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
  return put.ok ? ok({ ...put.value, event: "restored" }) : put;
}

/** The Files of rows. In: the Item that has a row, from which it is known whether it opens. */
function filesOfRows(rows: readonly StoredFile[], ownerOf: (row: StoredFile) => FilesOfItem): FilesOfItem {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const files = sorted.map((row) => ownerOf(row).files.find(({ id }) => id === row.id));
  const brokenFiles = sorted.flatMap(({ id }, index) => (files[index] ? [] : [id]));
  return { files: files.filter((file) => file !== undefined), brokenFiles: brokenFiles.length > 0 ? brokenFiles : undefined };
}
