import type { ContentPlace } from "../model/file.ts";
import { ok, type Result } from "../model/result.ts";
import { contentKey } from "./contents.ts";
import { call } from "./database.ts";

/**
 * What might be left over in R2. Noted in the coordinator's own storage before an upload begins and before a row that
 * holds a content goes; when it is due, D1 is asked whether a row holds it, and if none does it is deleted. So a blob is
 * written before its row and deleted after it, and whatever is cut off in between is found.
 */

export interface Watched {
  /** A key of R2; with an empty `item` the prefix of all keys of a vault that was deleted. */
  readonly key: string;
  readonly item: string;
}

export const watchContent = (place: ContentPlace): Watched => ({ key: contentKey(place), item: place.item });

export const watchVault = (vault: string): Watched => ({ key: `${vault}/`, item: "" });

export function createWatchList(sql: SqlStorage): void {
  sql.exec(
    "CREATE TABLE IF NOT EXISTS watched (key TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, due INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  );
}

/** Notes what to look at after `due` (Unix milliseconds), or later if it was noted for later. With a vault, all that is in it. */
export function watch(sql: SqlStorage, watched: readonly Watched[], due: number): void {
  for (const { key, item } of watched) {
    sql.exec(
      "INSERT INTO watched (key, item, due) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET due = max(due, excluded.due)",
      key,
      item,
      due,
    );
    if (item === "") sql.exec("UPDATE watched SET due = max(due, ?2) WHERE substr(key, 1, length(?1)) = ?1", key, due);
  }
}

/** What was read from the list. While it is looked at, the same key may be noted anew: that note is another. */
export interface Due extends Watched {
  readonly due: number;
}

/** At most 100 of what is due. */
export const dueAt = (sql: SqlStorage, now: number): Due[] =>
  sql
    .exec<{ key: string; item: string; due: number }>(
      "SELECT key, item, due FROM watched WHERE due <= ?1 ORDER BY due LIMIT 100",
      now,
    )
    .toArray();

export function unwatch(sql: SqlStorage, watched: readonly Due[]): void {
  for (const { key, due } of watched) sql.exec("DELETE FROM watched WHERE key = ?1 AND due = ?2", key, due);
}

export function postpone(sql: SqlStorage, watched: readonly Due[], until: number): void {
  for (const { key, due } of watched) sql.exec("UPDATE watched SET due = ?3 WHERE key = ?1 AND due = ?2", key, due, until);
}

/** When something is due next: Unix milliseconds. */
export const nextDue = (sql: SqlStorage): number | undefined =>
  sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM watched").one().due ?? undefined;

/** Those of the watched that a row holds. */
const HELD = `
  SELECT value ->> 'key' AS key FROM json_each(?1)
  WHERE (value ->> 'item' = '' AND EXISTS (SELECT 1 FROM vaults WHERE id = value ->> 'vault'))
     OR EXISTS (
       SELECT 1 FROM files
       WHERE vault_id = value ->> 'vault' AND item_id = value ->> 'item' AND id = value ->> 'file' AND generation = value ->> 'generation')`;

/** Deletes what no row holds. Errors: `unavailable`, when D1 does not answer. Throws what R2 throws. */
export async function sweep(db: D1Database, bucket: R2Bucket, watched: readonly Watched[]): Promise<Result<undefined>> {
  const asked = watched.map(({ key, item }) => {
    const [vault, file, generation] = key.split("/");
    return { key, item, vault, file, generation };
  });
  const read = await call<[{ key: string }]>(db, db.prepare(HELD).bind(JSON.stringify(asked)));
  if (!read.ok) return read;
  const held = new Set(read.value[0].map((row) => row.key));
  const left = watched.filter(({ key }) => !held.has(key));
  const contents = left.filter(({ item }) => item !== "").map(({ key }) => key);
  if (contents.length > 0) await bucket.delete(contents);
  for (const { key } of left.filter(({ item }) => item === "")) await deleteAll(bucket, key);
  return ok(undefined);
}

async function deleteAll(bucket: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
