import type { ActivityRow } from "./activity.ts";

/** The way of reads and denials into the activity log: gathered in the isolate for a moment, then one message for all. */

/** What a message holds: at most 64 rows, some 80 KB of the 128 KB that a queue takes. */
export type ActivityMessage = readonly ActivityRow[];

const MOST = 64;
const MILLISECONDS = 200;

const waiting = new WeakMap<Queue<ActivityMessage>, ActivityRow[]>();

/**
 * Puts a row on its way. Whoever comes first waits a moment and sends what has come meanwhile, unless a message is full
 * before. Throws what the queue throws; the rows of that message are lost then.
 */
export async function enqueueActivity(queue: Queue<ActivityMessage>, row: ActivityRow): Promise<void> {
  let rows = waiting.get(queue);
  if (rows) {
    if (rows.push(row) < MOST) return;
  } else {
    waiting.set(queue, (rows = [row]));
    await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
    if (waiting.get(queue) !== rows) return; // whoever filled it has sent it
  }
  waiting.delete(queue);
  await queue.send(rows);
}
