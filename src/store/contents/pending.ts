import type { ContentPlace } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../database.ts";
import { contentKey } from "./place.ts";

/**
 * Pending contents: objects of R2 that may have no row in D1. The coordinator records a content in its own storage before
 * the upload begins, and before a commit deletes the row that references it. When the record is due, the alarm deletes
 * the object unless a row of D1 references it. So an object is created before its row and deleted after it, and an
 * interruption between the two leaves a record.
 */

export interface Pending {
  /** A key of R2; with an empty `item` the prefix of all keys of a deleted vault. */
  readonly key: string;
  readonly item: string;
}

export const pendingContent = (place: ContentPlace): Pending => ({ key: contentKey(place), item: place.item });

export const pendingVault = (vault: string): Pending => ({ key: `${vault}/`, item: "" });

/** Adds records that are due at a time (Unix milliseconds), or later if they were due later before. */
export function recordPending(sql: SqlStorage, contents: readonly Pending[], due: number): void {
  for (const { key, item } of contents) {
    sql.exec(
      "INSERT INTO watched (key, item, due) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET due = max(due, excluded.due)",
      key,
      item,
      due,
    );
    if (item === "") sql.exec("UPDATE watched SET due = max(due, ?2) WHERE substr(key, 1, length(?1)) = ?1", key, due);
  }
}

/** A record as it was read. A record of the same key with another `due` was written meanwhile. */
export interface Due extends Pending {
  readonly due: number;
}

/** At most 100 of the records that are due. */
export const listDue = (sql: SqlStorage, now: number): Due[] =>
  sql
    .exec<{ key: string; item: string; due: number }>(
      "SELECT key, item, due FROM watched WHERE due <= ?1 ORDER BY due LIMIT 100",
      now,
    )
    .toArray();

export function deleteRecords(sql: SqlStorage, records: readonly Due[]): void {
  for (const { key, due } of records) sql.exec("DELETE FROM watched WHERE key = ?1 AND due = ?2", key, due);
}

export function postponeRecords(sql: SqlStorage, records: readonly Due[], until: number): void {
  for (const { key, due } of records) sql.exec("UPDATE watched SET due = ?3 WHERE key = ?1 AND due = ?2", key, due, until);
}

/** The time at which the next record is due: Unix milliseconds. */
export const nextDue = (sql: SqlStorage): number | undefined =>
  sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM watched").one().due ?? undefined;

/** The keys that a row references. */
const REFERENCED = `
  SELECT value ->> 'key' AS key FROM json_each(?1)
  WHERE (value ->> 'item' = '' AND EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'vault'))
     OR EXISTS (
       SELECT 1 FROM files
       WHERE vault_id = value ->> 'vault' AND item_id = value ->> 'item' AND id = value ->> 'file'
         AND generation = value ->> 'generation')`;

/** Deletes the objects that no row references. Errors: `unavailable`, when D1 does not answer. Throws what R2 throws. */
export async function sweep(db: D1Database, bucket: R2Bucket, records: readonly Pending[]): Promise<Result<undefined>> {
  const keys = records.map(({ key, item }) => {
    const [vault, file, generation] = key.split("/");
    return { key, item, vault, file, generation };
  });
  const answer = await runBatch<[{ key: string }]>(db, db.prepare(REFERENCED).bind(JSON.stringify(keys)));
  if (!answer.ok) return answer;
  const referenced = new Set(answer.value[0].map((row) => row.key));
  const unreferenced = records.filter(({ key }) => !referenced.has(key));
  const contents = unreferenced.filter(({ item }) => item !== "").map(({ key }) => key);
  if (contents.length > 0) await bucket.delete(contents);
  for (const { key } of unreferenced.filter(({ item }) => item === "")) await deleteAll(bucket, key);
  return ok(undefined);
}

async function deleteAll(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
