import { logFailure } from "../../log.ts";
import type { ExportPosition } from "../../model/export-position.ts";
import { ok, type Result } from "../../model/result.ts";
import { ARCHIVE, messagesOf, openArchive, SEALED_ARCHIVE, sealedBatchesOf } from "./archive.ts";
import { type ExportSession, type Step, take } from "./export-session.ts";
import type { ActivityRow } from "./entries.ts";

/** What an export of the log reads from the archived messages of the queue, and from the batches of release 0.2.0. */

const PLACES = {
  messages: { archive: ARCHIVE, prefix: messagesOf },
  sealed: { archive: SEALED_ARCHIVE, prefix: sealedBatchesOf },
};

/**
 * Shows entries of the objects of a stage, in the order of their keys. In: the stage that follows; the most calls of the page. Errors:
 * `integrity`. Throws when R2 fails.
 */
export async function readObjects(
  session: ExportSession,
  position: ExportPosition,
  room: number,
  following: ExportPosition["stage"],
  calls: number,
): Promise<Result<Step>> {
  const { archive, prefix } = PLACES[position.stage as keyof typeof PLACES];
  const finished = { ...position, stage: following, after: "", index: 0 };
  if (!session.days.get(archive)?.includes(position.day)) return ok({ rows: [], next: finished });
  session.calls++;
  const after = position.after === "" ? {} : { startAfter: position.after };
  const { objects, truncated } = await session.bucket.list({ prefix: prefix(position.day), ...after });
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

/** An object that was deleted since it was listed has no rows, and neither has one whose root key was removed. */
async function loadObject({ bucket, store }: ExportSession, key: string): Promise<Result<readonly ActivityRow[]>> {
  const object = await bucket.get(key);
  if (!object) return ok([]);
  const opened = await openArchive(store.keyring, key, await object.text());
  if (opened.ok || opened.failure.kind !== "misconfigured") return opened;
  logFailure("An archived batch of release 0.2.0 whose root key is missing", undefined);
  return ok([]);
}
