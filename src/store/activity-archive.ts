import type { Keyring } from "../crypto/keyring.ts";
import { fingerprint, NOWHERE, open, type Place, seal } from "../crypto/seal.ts";
import { timeOf, uuidOf } from "../model/ids.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { ActivityRow } from "./activity.ts";

/**
 * The archive of the activity log: while D1 is nearly full, reads and denials go to R2. Each batch of the queue is one
 * object, `activity/<day>/<id>`. No vault has the id `activity`, so no content has such a key. An
 * object is `{"root_key_id", "sealed"}`; the sealed text is a JSON array of rows, whose origins are sealed as in D1.
 */

const PREFIX = "activity/";

const place = (record: string, key: string): Place => ({ kind: "activityArchive", vault: NOWHERE, record, version: 0, key });

interface Archived {
  readonly root_key_id: string;
  readonly sealed: string;
}

/**
 * Writes a batch of rows, at least one. The key contains a hash of the rows, so the same batch, delivered again, has one object.
 * Throws when R2 fails.
 */
export async function archiveActivity(bucket: R2Bucket, { active }: Keyring, rows: readonly ActivityRow[]): Promise<void> {
  const text = JSON.stringify(rows);
  const id = uuidOf(Uint8Array.fromBase64(await fingerprint(text)));
  const newest = Math.max(...rows.map((row) => timeOf(row.id)));
  const archived: Archived = { root_key_id: active.id, sealed: await seal(active.registry, place(id, active.id), text) };
  await bucket.put(`${PREFIX}${dayOf(newest)}/${id}`, JSON.stringify(archived));
}

/** Opens an object. In: its key and its text. Errors: `misconfigured` (a root key is missing), `integrity`. */
export async function openArchive({ keys }: Keyring, key: string, text: string): Promise<Result<ActivityRow[]>> {
  const { root_key_id, sealed } = JSON.parse(text) as Archived;
  const root = keys.get(root_key_id);
  if (!root) return fail("misconfigured", "a root key is missing");
  const opened = await open(root.registry, place(key.split("/").at(-1)!, root.id), sealed);
  return opened.ok ? ok(JSON.parse(opened.value) as ActivityRow[]) : opened;
}

/**
 * Deletes the objects of the days before that of a time (Unix milliseconds), in slices. The keys are in the order of their
 * days. Throws when R2 fails.
 */
export async function deleteOldArchives(bucket: R2Bucket, before: number): Promise<void> {
  const first = PREFIX + dayOf(before);
  for (;;) {
    const { objects } = await bucket.list({ prefix: PREFIX });
    const old = objects.map(({ key }) => key).filter((key) => key < first);
    if (old.length === 0) return;
    await bucket.delete(old);
  }
}

/** The day (UTC) of a time, as `2026-11-21`. */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
