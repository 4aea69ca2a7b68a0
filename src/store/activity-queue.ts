import type { ActivityRow } from "./activity.ts";

/** The way of reads and denials into the activity log: gathered in the isolate for a moment, then one message for all. */

/** What a message holds: at most 64 rows, some 80 KB of the 128 KB that a queue takes. */
export type ActivityMessage = readonly ActivityRow[];

const MOST = 64;
const MILLISECONDS = 200;

const waiting = new WeakMap<Queue<ActivityMessage>, ActivityRow[]>();

/**
 * Puts a row on its way. Everybody waits a moment, and who comes to the end of it first sends for all; a message that is
 * full goes at once. Throws what the queue throws; the rows of that message are lost then.
 */
export async function enqueueActivity(queue: Queue<ActivityMessage>, row: ActivityRow): Promise<void> {
  const rows = waiting.get(queue) ?? [];
  waiting.set(queue, rows);
  if (rows.push(row) < MOST) await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
  if (waiting.get(queue) !== rows) return; // it was sent meanwhile
  waiting.delete(queue);
  await queue.send(rows);
}
