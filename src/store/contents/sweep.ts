import { map, ok, type Result } from "../../model/result.ts";
import { DAY, HOUR } from "../../model/time.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { deleteAll, tryBucket } from "../buckets/calls.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type NamedTable, TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { MISSES_FILES } from "../vaults/counted-rows.ts";
import { type PendingRecord, postponed, type Schedule } from "./pending.ts";

/**
 * The sweep of pending contents. D1 may be an empty or restored database, perhaps only temporarily, so a sweep that finds no row only marks
 * the content. The content is deleted if no sweep during the retention finds a row.
 *
 * A missing row proves nothing in three cases: D1 knows neither the vault nor its deletion; a restore has deleted the vault's
 * row; or the vault counts more Files than it has rows. All records of a sweep belong to one vault.
 */

/** The result of a sweep for a record. */
export interface Swept {
  readonly record: PendingRecord;
  /** The record's new schedule; absent to delete the record. */
  readonly next: Schedule | undefined;
}

const hasRowIn = ({ name }: NamedTable) => `
  OR EXISTS (
    SELECT 1 FROM ${name}
    WHERE vault_id = value ->> 'vault' AND item_id = value ->> 'item' AND id = value ->> 'file' AND generation = value ->> 'generation')`;

const SQL = {
  referenced: `
    SELECT value ->> 'key' AS key FROM json_each(?1)
    WHERE (value ->> 'item' = '' AND EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'vault'))
       ${TABLES_OF_CONTENTS.map(hasRowIn).join(" ")}`,
  /**
   * Until a restore deletes the row of its vault, the restore does not rely on FILES: its last phase copies the contents that FILES lacks.
   */
  known: `
    SELECT 1 WHERE EXISTS (SELECT 1 FROM vaults WHERE id = ?1)
      OR (NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = ?1) AND ${hasDeletion("?1")})`,
};

/** Deletes the objects without a row during the retention. Returns the result of each record. Fails with `unavailable`. */
export async function sweep(store: Store, bucket: Bucket, records: readonly PendingRecord[]): Promise<Result<Swept[]>> {
  const vault = records[0]?.key.split("/")[0] ?? "";
  const keys = records.map(({ key, item }) => {
    const [, file, generation] = key.split("/");
    return { key, item, vault, file, generation };
  });
  const answer = await runBatch<[{ key: string }, unknown]>(
    store.db,
    store.db.prepare(SQL.referenced).bind(JSON.stringify(keys)),
    store.db.prepare(SQL.known).bind(vault),
  );
  if (!answer.ok) return answer;
  const referenced = new Set(answer.value[0].map(({ key }) => key));
  const isKnown = answer.value[1].length > 0;
  const deleted: PendingRecord[] = [];
  const swept = records.map((record): Swept => {
    if (referenced.has(record.key)) return { record, next: nextOfReferenced(record, store.now) };
    if (!isKnown) return { record, next: nextOfUnknown(record, store.now) };
    const next = nextOfMissing(record, store.now, store.settings.fileRetention);
    if (!next) deleted.push(record);
    return { record, next };
  });
  if (deleted.length === 0) return ok(swept);
  const damaged = await missesFiles(store.db, vault);
  if (!damaged.ok) return damaged;
  if (damaged.value) return ok(swept.map(({ record, next }) => ({ record, next: next ?? postponed(record, store.now + DAY) })));
  return map(await tryBucket(() => deleteObjects(bucket, deleted)), () => swept);
}

/** Returns true if rows of a vault's Files are missing. Any of its contents may then belong to a missing row, and be the last copy. */
async function missesFiles(db: D1Database, vault: string): Promise<Result<boolean>> {
  return map(await runBatch<[unknown]>(db, db.prepare(MISSES_FILES).bind(vault)), (read) => read[0].length > 0);
}

/**
 * Returns the next schedule of a content with a row. A record younger than an hour is kept, because the commit that releases the
 * content may still be in flight to D1.
 */
const nextOfReferenced = (record: PendingRecord, now: number): Schedule | undefined =>
  record.missing_since !== null && record.missing_since > now - HOUR ? { ...record, next_sweep: now + HOUR } : undefined;

const nextOfUnknown = (record: PendingRecord, now: number): Schedule => ({
  ...postponed(record, now + DAY),
  missing_since: null,
});

/** Returns the next schedule of a content without a row, or undefined if the object must be deleted. */
function nextOfMissing(record: PendingRecord, now: number, retention: number): Schedule | undefined {
  const missing_since = record.missing_since ?? now;
  const due = Math.max(record.due, missing_since + retention);
  return due <= now ? undefined : { due, missing_since, next_sweep: Math.min(due, now + DAY) };
}

async function deleteObjects(bucket: Bucket, records: readonly PendingRecord[]): Promise<void> {
  await bucket.delete(records.filter(({ item }) => item !== "").map(({ key }) => key));
  for (const { key } of records.filter(({ item }) => item === "")) await deleteAll(bucket, key);
}
