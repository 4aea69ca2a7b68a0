import { fail, ok, type Result } from "../model/result.ts";
import { SERVICE } from "../model/operation.ts";
import { measureWrite, putStored } from "./put-stored.ts";
import { keepNewest } from "./versions.ts";
import type { ChangeContext, ChangeResult, WorkingVault } from "./working.ts";

/**
 * Destroys what is kept of an Item beyond the settings, at the time of the write: all of a deleted Item past its retention, all of
 * an Item that release 0.2.0 deleted without its versions, else the oldest versions that are too many. An Item of which nothing
 * is due stays as it is: it was restored, or another call came first. Errors: `unauthorized`, for every actor but `SERVICE`.
 */
export function expireItem(
  working: WorkingVault,
  { item: id }: { readonly item: string },
  { actor, now, retention }: ChangeContext,
): Result<ChangeResult> {
  if (actor !== SERVICE) return fail("unauthorized");
  const stored = working.stored.get(id);
  if (!stored) return ok({ answer: {} });
  const { current, deleted, versions } = stored;
  if (!current && (deleted?.at ?? 0) <= now - retention.deletedRetention) {
    putStored(working, measureWrite(working, id, undefined, now, { destroyed: 1 }));
    return ok({ answer: {}, action: "DELETE", item: id, event: "destroyed" });
  }
  const after = keepNewest(stored, retention.versionsKept + (current ? 0 : 1));
  if (after === stored) return ok({ answer: {} });
  putStored(working, measureWrite(working, id, after, now, { destroyed: 1 }));
  const newest = versions[versions.length - after.versions.length - 1]!.version;
  return ok({ answer: {}, action: "DELETE", item: id, version: newest, event: "version_destroyed" });
}
