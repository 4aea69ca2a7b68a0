import { ok, type Result } from "../../model/result.ts";
import { DAY, HOUR } from "../../model/time.ts";
import { runBatch, type Store } from "../database.ts";
import { type PendingRecord, postponed, type Schedule, UNKNOWN_ITEM } from "./pending.ts";

/**
 * The sweep of pending contents. D1 may be a database that was restored, perhaps only for a while, or an empty one. So a
 * sweep that finds no row marks the content, and the content is deleted when every sweep during the retention found none.
 * A D1 that knows neither the vault nor its deletion proves nothing.
 */

/** What a sweep makes of a record. */
export interface Swept {
  readonly record: PendingRecord;
  /** The record's new schedule; absent to delete the record. */
  readonly next: Schedule | undefined;
}

const SQL = {
  referenced: `
    SELECT value ->> 'key' AS key FROM json_each(?1)
    WHERE (value ->> 'item' = '' AND EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'vault'))
       OR EXISTS (
         SELECT 1 FROM files
         WHERE vault_id = value ->> 'vault' AND item_id = value ->> 'item' AND id = value ->> 'file'
           AND generation = value ->> 'generation')
       OR EXISTS (
         SELECT 1 FROM file_versions
         WHERE vault_id = value ->> 'vault' AND item_id = value ->> 'item' AND id = value ->> 'file'
           AND generation = value ->> 'generation')
       OR (value ->> 'item' = '${UNKNOWN_ITEM}' AND EXISTS (
         SELECT 1 FROM (
           SELECT id, generation FROM files WHERE vault_id = value ->> 'vault'
           UNION ALL SELECT id, generation FROM file_versions WHERE vault_id = value ->> 'vault')
         WHERE id = value ->> 'file' AND generation = value ->> 'generation'))`,
  known: `
    SELECT value AS vault FROM json_each(?1)
    WHERE EXISTS (SELECT 1 FROM vaults WHERE id = value)
       OR EXISTS (
         SELECT 1 FROM activity
         WHERE vault_id = value AND action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS')`,
};

/**
 * Deletes the objects that have had no row for the retention. Out: what becomes of each record.
 * Errors: `unavailable`, when D1 does not answer. Throws what R2 throws.
 */
export async function sweep(store: Store, bucket: R2Bucket, records: readonly PendingRecord[]): Promise<Result<Swept[]>> {
  const keys = records.map(({ key, item }) => {
    const [vault, file, generation] = key.split("/");
    return { key, item, vault: vault!, file, generation };
  });
  const answer = await runBatch<[{ key: string }, { vault: string }]>(
    store.db,
    store.db.prepare(SQL.referenced).bind(JSON.stringify(keys)),
    store.db.prepare(SQL.known).bind(JSON.stringify([...new Set(keys.map(({ vault }) => vault))])),
  );
  if (!answer.ok) return answer;
  const referenced = new Set(answer.value[0].map(({ key }) => key));
  const known = new Set(answer.value[1].map(({ vault }) => vault));
  const deleted: PendingRecord[] = [];
  const swept = records.map((record, index): Swept => {
    if (referenced.has(record.key)) return { record, next: nextOfReferenced(record, store.now) };
    if (!known.has(keys[index]!.vault)) return { record, next: nextOfUnknown(record, store.now) };
    const next = nextOfMissing(record, store.now, store.settings.fileRetention);
    if (!next) deleted.push(record);
    return { record, next };
  });
  await deleteObjects(bucket, deleted);
  return ok(swept);
}

/** A record that is younger than an hour may belong to a commit that is on its way to D1: the record stays. */
const nextOfReferenced = (record: PendingRecord, now: number): Schedule | undefined =>
  record.missing_since !== null && record.missing_since > now - HOUR ? { ...record, next_sweep: now + HOUR } : undefined;

const nextOfUnknown = (record: PendingRecord, now: number): Schedule => ({
  ...postponed(record, now + DAY),
  missing_since: null,
});

/** Out: `undefined` to delete the object. */
function nextOfMissing(record: PendingRecord, now: number, retention: number): Schedule | undefined {
  const missing_since = record.missing_since ?? now;
  const due = Math.max(record.due, missing_since + retention);
  return due <= now ? undefined : { due, missing_since, next_sweep: Math.min(due, now + DAY) };
}

async function deleteObjects(bucket: R2Bucket, records: readonly PendingRecord[]): Promise<void> {
  const contents = records.filter(({ item }) => item !== "").map(({ key }) => key);
  if (contents.length > 0) await bucket.delete(contents);
  for (const { key } of records.filter(({ item }) => item === "")) await deleteAll(bucket, key);
}

async function deleteAll(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
