import type { ActivityRow } from "./entries.ts";

/** Sends the log entries of reads and denials to the queue, in batches that the requests of an isolate share. */

/** A message of the queue: at most 64 rows, and at most about 80 of the 128 KB that a queue accepts. */
export type ActivityMessage = readonly ActivityRow[];

const BATCH = 64;
/** Characters of sealed text: a row that names 100 Items has 5,500, and every row some 400 others. */
const CHARACTERS = 48_000;
const MILLISECONDS = 200;

const batches = new WeakMap<Queue<ActivityMessage>, ActivityRow[]>();

/**
 * Adds a row to the current batch and resolves when the batch was sent or another request will send it. A full batch is
 * sent at once; else the first request whose wait ends sends it. Throws what the queue throws; the rows of that message
 * are lost.
 */
export async function enqueueActivity(queue: Queue<ActivityMessage>, row: ActivityRow): Promise<void> {
  const rows = batches.get(queue) ?? [];
  batches.set(queue, rows);
  rows.push(row);
  if (rows.length < BATCH && sizeOf(rows) < CHARACTERS) await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
  if (batches.get(queue) !== rows) return; // another request has sent it
  batches.delete(queue);
  await queue.send(rows);
}

const sizeOf = (rows: readonly ActivityRow[]): number => rows.reduce((sum, { sealed }) => sum + sealed.length, 0);
