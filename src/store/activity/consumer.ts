import { parseSettings } from "../../settings.ts";
import { archiveMessage, withoutArchived } from "./archive.ts";
import { insertActivity, isCounted } from "./insert.ts";
import type { ActivityMessage } from "./queue.ts";
import type { ActivityRow } from "./entries.ts";
import { runBatch } from "../d1/database.ts";
import { confirmLevel } from "../health/room.ts";

/** A message as the queue delivers it. */
export interface Delivery {
  readonly body: ActivityMessage;
  /** 1 when it is delivered for the first time. */
  readonly attempts: number;
}

/**
 * The consumer of the queue: inserts the rows of a batch. While the database is nearly full, reads and denials go to the archive in
 * R2, so that writes have the rest of the space. A row that an earlier delivery has brought to the other place stays there. Throws
 * when storage fails or a setting is malformed: the queue delivers again.
 */
export async function consumeActivity(env: Env, messages: readonly Delivery[]): Promise<void> {
  const settings = parseSettings(env);
  if (!settings.ok) throw new Error(settings.failure.detail);
  const nearlyFull = await confirmLevel({ db: env.DB, settings: settings.value }, "archive");
  // While D1 does not answer, the last known size counts.
  const archives = !nearlyFull.ok || nearlyFull.value;
  const inserted: ActivityRow[] = [];
  for (const message of messages) inserted.push(...(archives ? message.body.filter(isWrite) : await notArchived(env, message)));
  // Before the archive: D1 inserts a row once, however often the queue delivers it.
  if (inserted.length > 0) await insertActivity(env.DB, inserted, settings.value.activityRows);
  if (!archives) return;
  for (const message of messages) {
    const rows = message.body.filter(isCounted);
    if (rows.length > 0 && !(await wasInserted(env.DB, message.attempts, rows))) await archiveMessage(env.FILES, rows);
  }
}

const isWrite = (row: ActivityRow): boolean => !isCounted(row);

async function notArchived({ FILES }: Env, { body, attempts }: Delivery): Promise<readonly ActivityRow[]> {
  if (attempts < 2) return body;
  return [...body.filter(isWrite), ...(await withoutArchived(FILES, body.filter(isCounted)))];
}

const INSERTED = `
  SELECT 1 FROM json_each(?1)
  WHERE EXISTS (SELECT 1 FROM activity WHERE vault_id = value ->> 'log' AND id = value ->> 'id') LIMIT 1`;

/** Whether an earlier delivery has inserted the rows of a message. D1 inserts them together. Throws when D1 fails. */
async function wasInserted(db: D1Database, attempts: number, rows: readonly ActivityRow[]): Promise<boolean> {
  if (attempts < 2) return false;
  const found = await runBatch<[unknown]>(db, db.prepare(INSERTED).bind(JSON.stringify(rows)));
  if (!found.ok) throw new Error("the log could not be read");
  return found.value[0].length > 0;
}
