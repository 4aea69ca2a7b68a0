import { openKeyring } from "../crypto/keyring.ts";
import { parseSettings } from "../settings.ts";
import type { ActivityRow } from "./activity.ts";
import { archiveActivity } from "./activity-archive.ts";
import { insertActivity, isCounted } from "./activity-insert.ts";
import { confirmLevel } from "./room.ts";

/**
 * The consumer of the queue: inserts the rows of a batch. While the database is nearly full, reads and denials go to R2, so
 * that writes have the rest of the space. Throws when storage fails or a setting is malformed: the queue delivers again.
 */
export async function consumeActivity(env: Env, rows: readonly ActivityRow[]): Promise<void> {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  const nearlyFull = await confirmLevel({ db: env.DB, settings: settings.value }, "archive");
  // While D1 does not answer, the last known size counts.
  const archived = !nearlyFull.ok || nearlyFull.value ? rows.filter(isCounted) : [];
  const inserted = archived.length > 0 ? rows.filter((row) => !isCounted(row)) : rows;
  // Before the archive: D1 inserts a row once, however often the queue delivers it.
  if (inserted.length > 0) await insertActivity(env.DB, inserted, settings.value.activityRows);
  if (archived.length === 0) return;
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error(keyring.failure.detail);
  await archiveActivity(env.FILES, keyring.value, archived);
}
