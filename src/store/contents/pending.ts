import type { ContentAddress } from "../../model/file.ts";
import { DAY, MINUTE } from "../../model/time.ts";
import { contentKey } from "./object-keys.ts";

/**
 * Pending contents: objects of R2 that may have no row in D1. The coordinator records a content in its own storage before
 * the upload begins, and deletes the record after the commit that inserts the row. It records the content again before a
 * commit deletes the row. The alarm sweeps the records: see sweep.ts. So an object is created before its row and deleted
 * after it, and an interruption between the two leaves a record.
 */

export interface Pending {
  /** A key of R2. With an empty `item` it is the prefix of all keys of a deleted vault. */
  readonly key: string;
  readonly item: string;
}

export const pendingContent = (address: ContentAddress): Pending => ({ key: contentKey(address), item: address.item });

export const pendingVault = (vault: string): Pending => ({ key: `${vault}/`, item: "" });

/** Returns the recorded keys among `keys`. Returns all of them if the deletion of the vault is recorded. */
export const listPending = (sql: SqlStorage, keys: readonly string[]): string[] =>
  sql
    .exec<{ key: string }>(
      `SELECT value AS key FROM json_each(?1)
       WHERE EXISTS (SELECT 1 FROM watched WHERE key = value) OR EXISTS (SELECT 1 FROM watched WHERE item = '')`,
      JSON.stringify(keys),
    )
    .toArray()
    .map(({ key }) => key);

/** The time at which a record is swept and its object deleted, in Unix milliseconds. */
export interface Schedule {
  /** The time before which the object is not deleted. */
  readonly due: number;
  /** The time since which the object has had no row, as far as the sweeps know; `null` when every sweep has found the row. */
  readonly missing_since: number | null;
  readonly next_sweep: number;
}

/** A record as it was read. If its `due` or `missing_since` differs later, another call has written it. */
export type PendingRecord = Pending & Schedule;

/** Records a content before its upload, due in a day. */
export function recordUpload(sql: SqlStorage, address: ContentAddress, now: number): void {
  const { key, item } = pendingContent(address);
  sql.exec(
    `INSERT INTO watched (key, item, due, next_sweep) VALUES (?1, ?2, ?3, ?3)
     ON CONFLICT (key) DO UPDATE SET due = max(due, excluded.due), next_sweep = max(next_sweep, excluded.next_sweep)`,
    key,
    item,
    now + DAY,
  );
}

/**
 * Postpones every deletion of an object by a day, because a restore is writing rows that may name these objects. `now` is in Unix
 * milliseconds.
 */
export const postponeDeletions = (sql: SqlStorage, now: number): void =>
  void sql.exec("UPDATE watched SET due = max(due, ?1)", now + DAY);

/** Records contents before a commit that releases them, after which no row names them. */
export function recordReleased(sql: SqlStorage, contents: readonly Pending[], now: number, retention: number): void {
  // With a retention of 0 the alarm leaves the commit a minute.
  const firstSweep = now + Math.min(Math.max(retention, MINUTE), DAY);
  for (const { key, item } of contents) {
    sql.exec(
      `INSERT INTO watched (key, item, due, missing_since, next_sweep) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (key) DO UPDATE
       SET due = max(due, excluded.due), missing_since = excluded.missing_since, next_sweep = excluded.next_sweep`,
      key,
      item,
      now + retention,
      now,
      firstSweep,
    );
    if (item !== "") continue;
    sql.exec("UPDATE watched SET due = max(due, ?2) WHERE substr(key, 1, length(?1)) = ?1", key, now + retention);
  }
}

/** Deletes the records of uploads whose rows are committed. A content that some commit has released keeps its record. */
export function deleteCommitted(sql: SqlStorage, contents: readonly ContentAddress[]): void {
  for (const address of contents) sql.exec("DELETE FROM watched WHERE key = ?1 AND missing_since IS NULL", contentKey(address));
}

/** Returns due records, at most 1,000, because one call of R2 deletes so many objects. */
export const listDue = (sql: SqlStorage, now: number): PendingRecord[] =>
  sql
    .exec<{ key: string; item: string; due: number; missing_since: number | null; next_sweep: number }>(
      `SELECT key, item, due, missing_since, next_sweep FROM watched WHERE next_sweep <= ?1 ORDER BY next_sweep LIMIT 1000`,
      now,
    )
    .toArray();

/** Writes the schedule of a record that was read, or deletes the record. A record that another call has written since is left unchanged. */
export function updateRecord(sql: SqlStorage, { key, due, missing_since }: PendingRecord, next: Schedule | undefined): void {
  const read = [key, due, missing_since];
  if (!next) {
    sql.exec("DELETE FROM watched WHERE key = ?1 AND due = ?2 AND missing_since IS ?3", ...read);
    return;
  }
  sql.exec(
    `UPDATE watched SET due = ?4, missing_since = ?5, next_sweep = ?6
     WHERE key = ?1 AND due = ?2 AND missing_since IS ?3`,
    ...read,
    next.due,
    next.missing_since,
    next.next_sweep,
  );
}

/** Returns the schedule of a record that no sweep can decide before a time. */
export const postponed = ({ due, missing_since }: PendingRecord, until: number): Schedule => ({
  due: Math.max(due, until),
  missing_since,
  next_sweep: until,
});

/** Returns the time of the next sweep, in Unix milliseconds: Infinity if there is none. */
export const nextSweep = (sql: SqlStorage): number =>
  sql.exec<{ next: number | null }>("SELECT min(next_sweep) AS next FROM watched").one().next ?? Infinity;
