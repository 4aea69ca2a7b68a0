import type { ExportPosition } from "../../model/export-position.ts";
import { ok, type Result } from "../../model/result.ts";
import { messagesOf, parseArchive } from "./archive.ts";
import { type ExportSession, type Step, take } from "./export-session.ts";
import type { ActivityRow } from "./entries.ts";

/** What an export of the log reads from the archived messages of the queue. */

/**
 * Shows entries of the messages of a day, in the order of their keys. In: the most calls of the page. Errors: `integrity`. Throws when R2
 * fails.
 */
export async function readMessages(
  session: ExportSession,
  position: ExportPosition,
  room: number,
  calls: number,
): Promise<Result<Step>> {
  const finished: ExportPosition = { ...position, stage: "rows", after: "", index: 0 };
  if (!session.days.includes(position.day)) return ok({ rows: [], next: finished });
  session.calls++;
  const after = position.after === "" ? {} : { startAfter: position.after };
  const { objects, truncated } = await session.bucket.list({ prefix: messagesOf(position.day), ...after });
  const rows: ActivityRow[] = [];
  let next = position;
  for (const { key } of objects) {
    if (rows.length >= room || session.calls >= calls) return ok({ rows, next });
    session.calls++;
    const object = await loadObject(session, key);
    if (!object.ok) return object;
    const taken = take(object.value, next.index, room - rows.length, session.matches);
    rows.push(...taken.rows);
    next = taken.done ? { ...next, after: key, index: 0 } : { ...next, index: taken.index };
    if (!taken.done) return ok({ rows, next });
  }
  return ok({ rows, next: truncated ? next : finished });
}

/** An object that was deleted since it was listed has no rows. */
async function loadObject({ bucket }: ExportSession, key: string): Promise<Result<readonly ActivityRow[]>> {
  const object = await bucket.get(key);
  return object ? parseArchive(await object.text()) : ok([]);
}
