import { openKeyring } from "../crypto/keyring.ts";
import { parseSettings } from "../settings.ts";
import type { ActivityRow } from "./activity.ts";
import { archiveActivity } from "./activity-archive.ts";
import { insertActivity, isCounted } from "./activity-insert.ts";
import { reachesLevel } from "./database-size.ts";

/**
 * The consumer of the queue: inserts the rows of a batch. While the database is nearly full, reads and denials go to R2, so
 * that writes have the rest of the space. Throws when storage fails or a setting is malformed: the queue delivers again.
 */
export async function consumeActivity(env: Env, rows: readonly ActivityRow[]): Promise<void> {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  const archived = reachesLevel(settings.value, "archive") ? rows.filter(isCounted) : [];
  if (archived.length > 0) {
    const keyring = await openKeyring(env.ROOT_KEYS);
    if (!keyring.ok) throw new Error(keyring.failure.detail);
    await archiveActivity(env.FILES, keyring.value, archived);
  }
  const inserted = archived.length > 0 ? rows.filter((row) => !isCounted(row)) : rows;
  if (inserted.length > 0) await insertActivity(env.DB, inserted, settings.value.activityRows);
}
