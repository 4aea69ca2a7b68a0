import { ok, type Result } from "../model/result.ts";
import { parseSettings } from "../settings.ts";
import * as pending from "../store/contents/pending.ts";
import type { RestoreContents } from "../store/restore/ports.ts";
import { type AlarmContext, setAlarm } from "./alarm.ts";

/**
 * The coordinator's part of a restore (store/restore/run.ts). Before a step writes or deletes rows of Files, their contents are recorded,
 * as before an upload and as before a commit that releases them, and no object of the vault is deleted for a day: the coordinator may have
 * recorded that the vault was deleted. A sweep that is under way ends before. The cache is empty from then on, because the vault is about
 * to be another one. In: the clock, in Unix milliseconds. Errors: `misconfigured`.
 */
export async function prepareRestore(
  { storage, env, sweepTurn }: AlarmContext,
  { expected, released }: RestoreContents,
  clock: () => number,
): Promise<Result<undefined>> {
  const settings = parseSettings(env);
  if (!settings.ok) return settings;
  await sweepTurn(async () => {
    const now = clock();
    for (const place of expected) pending.recordUpload(storage.sql, place, now);
    pending.recordReleased(storage.sql, released.map(pending.pendingContent), now, settings.value.fileRetention);
    pending.postponeDeletions(storage.sql, now);
  });
  await setAlarm(storage);
  return ok(undefined);
}
