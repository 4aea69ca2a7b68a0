import { missesRowsSql } from "../vaults/counted-rows.ts";
import { fault, type Fault } from "../checks/fault.ts";

/**
 * Finds Items of which the log has a write and the database has no row, or only the row of an earlier version. This is possible as long as
 * the log keeps the entries of writes, 30 days by default.
 */

/** The advice in a finding that names a lost Item. */
export const RESTORE = "`item-vault admin restore --item` brings it back from a backup";

/** The row of an Item that entries of the log name, at the moment at which they were read. */
export interface NamedItem {
  readonly item: string;
  /** NULL: there is no such row. */
  readonly version: number | null;
  /** The last version of the deleted Item. NULL: it is not deleted. */
  readonly deleted: number | null;
  /** 1 if the last write to an Item without a row deleted or destroyed it. */
  readonly ended: number;
  /** The version of its last write, if an entry names a later version than the row; else NULL. */
  readonly written: number | null;
}

/** SQL: true if the vault ?1 has fewer deleted Items than its count. With a retention of 0 a deleted Item has no row. */
const MISSES_DELETED = `(
  SELECT ${missesRowsSql("deleted", "(SELECT count(*) FROM deleted_items WHERE vault_id = ?1)")} FROM vaults WHERE id = ?1)`;

/**
 * Returns the SQL of versions that entries of the log of the vault ?1 name and that are missing between others of their Item. The oldest
 * ones may have been dropped, because only VERSIONS_KEPT are kept. `entries` is the SQL of the entries.
 */
export const lostVersions = (entries: string): string => `
  WITH lost AS MATERIALIZED (
    SELECT DISTINCT item_id AS item, version FROM (${entries}) AS named
    WHERE sequence IS NOT NULL AND item_id IS NOT NULL AND version IS NOT NULL AND event IS NOT 'version_destroyed'
      AND version > (SELECT min(version) FROM item_versions WHERE vault_id = ?1 AND item_id = named.item_id)
      AND version < coalesce(
        (SELECT version FROM items WHERE vault_id = ?1 AND items.id = named.item_id),
        (SELECT version FROM deleted_items WHERE vault_id = ?1 AND deleted_items.id = named.item_id))
      AND NOT EXISTS (
        SELECT 1 FROM item_versions AS kept WHERE vault_id = ?1 AND item_id = named.item_id AND kept.version = named.version)),
  destroyed AS MATERIALIZED (
    SELECT item_id, version FROM activity
    WHERE EXISTS (SELECT 1 FROM lost) AND vault_id = ?1 AND event = 'version_destroyed' AND item_id IN (SELECT item FROM lost))
  SELECT item, version FROM lost WHERE NOT EXISTS (
    SELECT 1 FROM destroyed WHERE item_id = item AND coalesce(destroyed.version, lost.version) = lost.version)`;

/**
 * Returns the SQL of Items that entries of the log of the vault ?1 name. `entries` is the SQL of the entries. The log has no index by Item,
 * so one scan finds the last writes to all Items without a row, and one those to all Items behind an entry. Only the last write counts,
 * because an Item that was made again under its id begins with version 1. SQLite takes `ended` and `version` from the row with the
 * largest sequence.
 */
export const namedItems = (entries: string): string => `
  WITH named AS MATERIALIZED (
    SELECT item_id AS item, items.version, deleted.version AS deleted, latest
    FROM (
      SELECT item_id, max(version) FILTER (WHERE event IS NOT 'version_destroyed') AS latest FROM (${entries})
      WHERE sequence IS NOT NULL AND item_id IS NOT NULL GROUP BY item_id)
    LEFT JOIN items ON items.vault_id = ?1 AND items.id = item_id
    LEFT JOIN deleted_items AS deleted ON deleted.vault_id = ?1 AND deleted.id = item_id),
  missing AS (SELECT item FROM named WHERE version IS NULL AND deleted IS NULL),
  behind AS (SELECT item FROM named WHERE latest > coalesce(version, deleted)),
  last AS (
    SELECT item_id, event IS 'destroyed' OR (action = 'DELETE' AND event IS NULL AND NOT ${MISSES_DELETED}) AS ended, max(sequence)
    FROM activity
    WHERE EXISTS (SELECT 1 FROM missing) AND vault_id = ?1 AND sequence IS NOT NULL AND item_id IN (SELECT item FROM missing)
    GROUP BY item_id),
  newest AS (
    SELECT item_id, version, max(sequence) FROM activity
    WHERE EXISTS (SELECT 1 FROM behind) AND vault_id = ?1 AND sequence IS NOT NULL AND item_id IN (SELECT item FROM behind)
      AND version IS NOT NULL AND event IS NOT 'version_destroyed'
    GROUP BY item_id)
  SELECT item, named.version, deleted, item IN (SELECT item_id FROM last WHERE last.ended) AS ended, newest.version AS written
  FROM named LEFT JOIN newest ON newest.item_id = item`;

/** Returns the faults of Items that entries of the log of a vault name. An Item is named once in a slice of the log. */
export const checkNamedItems = (vault: string, items: readonly NamedItem[]): Fault[] =>
  items.flatMap(({ item, version, deleted, ended, written }): Fault[] => {
    const stored = version ?? deleted;
    const place = { vault, item, table: "items" };
    if (stored === null) return ended === 1 ? [] : [fault("item_lost", place, `the log has the Item, and no row: ${RESTORE}`)];
    if (written === null || written <= stored) return [];
    return [
      fault("item_lost", { ...place, version: written }, `the row has version ${stored}, and the log ${written}: ${RESTORE}`),
    ];
  });
