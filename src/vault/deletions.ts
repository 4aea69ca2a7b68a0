import { SERVICE } from "../model/operation.ts";
import type { Precondition } from "../model/item.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import type { StoredItem } from "../model/stored.ts";
import { versionKey } from "../store/commit/snapshot.ts";
import { measureWrite, putStored } from "./put-stored.ts";
import { currentItem } from "./steps.ts";
import { deleteCurrent, dropVersion, keepNewest } from "./versions.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/** The deletion of Items, and the destruction of what is kept of them. None of these needs room. */

/**
 * Deletes an Item. It can be restored, unless the retention is 0: then all of it is destroyed.
 * Errors: `item_not_found`, `integrity`, `precondition`.
 */
export function deleteItem(
  working: WorkingVault,
  { item: id, ifMatch }: { readonly item: string; readonly ifMatch?: Precondition | undefined },
  { actor, now, retention }: ChangeContext,
): Result<ChangeResult> {
  const current = currentItem(working, id, ifMatch);
  // An Item that does not open can be deleted, unless the client requires a version of it.
  const broken = !current.ok && current.failure.kind === "integrity" && ifMatch === undefined;
  if (!current.ok && !broken) return current;
  const before = working.stored.get(id)!;
  if (!before.current) return fail("item_not_found"); // its row is lost
  const { deletedRetention, versionsKept } = retention;
  const after = deletedRetention > 0 ? deleteCurrent(before, now, actor, versionsKept) : undefined;
  working.versions.set(versionKey(id, before.current.version), working.items.get(id)!);
  putStored(working, measureWrite(working, id, after, now));
  working.items.delete(id);
  return ok({ answer: {}, action: "DELETE", item: id });
}

/** Destroys a deleted Item with all its versions and contents. Errors: `item_not_found`. */
export function destroyItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  { now }: ChangeContext,
): Result<ChangeResult> {
  if (!working.stored.get(id)?.deleted) return fail("item_not_found");
  putStored(working, measureWrite(working, id, undefined, now, { destroyed: 1 }));
  return ok({ answer: {}, action: "DELETE", item: id, event: "destroyed" });
}

/** Destroys an earlier version. Errors: `item_not_found`, also of a deleted Item; 400 for the current version; `version_not_found`. */
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
 * Destroys what an Item keeps beyond the settings: a deleted Item after its retention, and surplus versions. The versions of an Item that
 * neither exists nor is deleted are kept, because its row was lost. The entry in the log names no version. Errors: `unauthorized`, for
 * every actor but `SERVICE`.
 */
export function expireItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  { actor, now, retention: { versionsKept, deletedRetention } }: ChangeContext,
): Result<ChangeResult> {
  if (actor !== SERVICE) return fail("unauthorized");
  const stored = working.stored.get(id);
  if (!stored || !exists(stored)) return ok({ answer: {} });
  const { current, deleted } = stored;
  // A time before the vault's creation is damaged. The row may be the last copy, and is a finding of `verify`.
  const expired = deleted !== undefined && deleted.at >= working.vault!.createdAt && deleted.at + deletedRetention <= now;
  const after = expired ? undefined : keepNewest(stored, versionsKept + Number(current === undefined));
  if (after === stored) return ok({ answer: {} });
  putStored(working, measureWrite(working, id, after, now, { destroyed: 1 }));
  const versions = stored.versions.length - (after?.versions.length ?? 0);
  const counts = deleted !== undefined && expired ? { items: 1, versions: 0 } : { items: 0, versions };
  return ok({ answer: { expired: counts }, action: "DELETE", item: id, event: expired ? "destroyed" : "version_destroyed" });
}

/** Whether the Item exists or is deleted. */
const exists = ({ current, deleted }: StoredItem): boolean => current !== undefined || deleted !== undefined;
