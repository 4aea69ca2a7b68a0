import { ok, type Result } from "../model/result.ts";
import { parseSettings } from "../settings.ts";
import * as pending from "../store/contents/pending.ts";
import type { RestoreContents } from "../store/restore/ports.ts";
import { type AlarmContext, setAlarm } from "./alarm.ts";

/**
 * The coordinator's part of a restore (store/restore/run.ts). Before a step writes or deletes rows of Files, their contents are recorded,
 * as before an upload and as before a commit that releases them, and no object of the vault is deleted for a day: the coordinator may
 * have recorded that the vault was deleted. The cache is empty from then on, because the vault is about to be another one.
 * In: Unix milliseconds. Errors: `misconfigured`.
 */
export async function prepareRestore(
  { storage, env }: AlarmContext,
  { expected, released }: RestoreContents,
  now: number,
): Promise<Result<undefined>> {
  const settings = parseSettings(env);
  if (!settings.ok) return settings;
  for (const place of expected) pending.recordUpload(storage.sql, place, now);
  pending.recordReleased(storage.sql, released.map(pending.pendingContent), now, settings.value.fileRetention);
  pending.postponeDeletions(storage.sql, now);
  await setAlarm(storage);
  return ok(undefined);
}
