import { fingerprint } from "../../crypto/seal.ts";
import { timeOf, uuidOf } from "../../model/ids.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { ActivityRow } from "./entries.ts";

/**
 * The archive of the activity log in R2: entries past their retention, and the reads and denials that came while D1 was nearly
 * full. An object is a JSON array of rows as they are in D1, with their origins sealed, so that it can be read after the
 * root key of its time was removed. The objects of a day (UTC) are
 *
 *     log/<day>/<number>        entries that were moved from D1, numbered from 0 on (archiving.ts)
 *     log/<day>/q-<id>          one message of the queue
 *
 * No vault has such an id, so no content has such a key.
 */

export const ARCHIVE = "log/";

const numberedKey = (day: string, number: number): string => `${ARCHIVE}${day}/${String(number).padStart(6, "0")}`;

/** What the keys of the messages of a day begin with: they come after its numbers. */
export const messagesOf = (day: string): string => `${ARCHIVE}${day}/q-`;

/** The day (UTC) of a time, as `2026-11-21`. In: Unix milliseconds. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Archives the rows of a message of the queue, one object for each of their days. The key contains a hash of the rows, so a
 * message that is delivered again has the same objects. Throws when R2 fails.
 */
export async function archiveMessage(bucket: R2Bucket, rows: readonly ActivityRow[]): Promise<void> {
  for (const [day, ofDay] of Map.groupBy(rows, ({ id }) => dayOf(timeOf(id)))) {
    const text = JSON.stringify(ofDay);
    await bucket.put(`${messagesOf(day)}${await hashOf(text)}`, text);
  }
}

/** The rows of a message that are not archived yet. Throws when R2 fails. */
export async function withoutArchived(bucket: R2Bucket, rows: readonly ActivityRow[]): Promise<ActivityRow[]> {
  const left: ActivityRow[] = [];
  for (const [day, ofDay] of Map.groupBy(rows, ({ id }) => dayOf(timeOf(id))))
    if (!(await bucket.head(`${messagesOf(day)}${await hashOf(JSON.stringify(ofDay))}`))) left.push(...ofDay);
  return left;
}

const hashOf = async (text: string): Promise<string> => uuidOf(Uint8Array.fromBase64(await fingerprint(text)));

/**
 * Writes a numbered object, unless it exists. Out: the rows that it has: those of another run when that was first. The rows
 * of a number never change. Throws when R2 fails.
 */
export async function archiveNumbered(
  bucket: R2Bucket,
  day: string,
  number: number,
  rows: readonly ActivityRow[],
): Promise<readonly ActivityRow[]> {
  const written = await bucket.put(numberedKey(day, number), JSON.stringify(rows), {
    onlyIf: new Headers({ "If-None-Match": "*" }),
  });
  return written ? rows : ((await loadNumbered(bucket, day, number)) ?? []);
}

/** Out: `undefined` when there is no such object. Throws when R2 fails. */
export async function loadNumbered(bucket: R2Bucket, day: string, number: number): Promise<ActivityRow[] | undefined> {
  const object = await bucket.get(numberedKey(day, number));
  return object ? ((await object.json()) as ActivityRow[]) : undefined;
}

/** Parses the text of an object. Errors: `integrity`. */
export function parseArchive(text: string): Result<ActivityRow[]> {
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? ok(rows as ActivityRow[]) : fail("integrity");
  } catch {
    return fail("integrity");
  }
}

/** Lists of a run of the cron trigger, of a thousand objects each. */
const LISTS = 5;

/**
 * Deletes the objects of the days before that of a time (Unix milliseconds), some thousands in one run. Out: how many were
 * deleted. The keys are in the order of their days. Throws when R2 fails.
 */
export async function deleteOldArchives(bucket: R2Bucket, before: number): Promise<number> {
  let deleted = 0;
  for (let list = 0; list < LISTS; list++) {
    const { objects } = await bucket.list({ prefix: ARCHIVE });
    const old = objects.map(({ key }) => key).filter((key) => key < ARCHIVE + dayOf(before));
    if (old.length > 0) await bucket.delete(old);
    deleted += old.length;
    if (old.length === 0 || old.length < objects.length) break;
  }
  return deleted;
}
