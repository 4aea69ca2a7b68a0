import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { isExpired } from "../vaults/due-vaults.ts";

/** Finds the Items of one vault with rows past the retention (vault/coordinator.ts). */

export interface DueItems {
  /** Existing and deleted Items, in the order of their ids. */
  readonly items: readonly string[];
  /** The id after which the next call begins; absent if there are no more. */
  readonly next: string | undefined;
}

const EXPIRED = `
  SELECT id FROM deleted_items AS due WHERE vault_id = ?1 AND id > ?2 AND ${isExpired("?4")} ORDER BY id LIMIT ?3`;

/**
 * Items with more versions than are kept; a deleted Item keeps one more. An Item that neither exists nor is deleted is left out, because
 * its row was lost and the versions are the last copy (docs/design/backups.md). There is no UNION with the other statement, because SQLite would
 * read and sort the versions of all following Items for it.
 */
const SURPLUS = `
  SELECT item_id AS id FROM item_versions AS kept WHERE vault_id = ?1 AND item_id > ?2 GROUP BY item_id
  HAVING count(*) > ?4 + NOT EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND id = kept.item_id)
    AND EXISTS (
      SELECT 1 FROM items WHERE vault_id = ?1 AND id = kept.item_id
      UNION ALL SELECT 1 FROM deleted_items WHERE vault_id = ?1 AND id = kept.item_id)
  ORDER BY item_id LIMIT ?3`;

const SQL = {
  expired: EXPIRED,
  surplus: SURPLUS,
  /** This is not a write to the vault. The value only shows the cron trigger which vaults to read, and a commit only raises it. */
  lower: `
    UPDATE vaults SET versions_kept = ?2 WHERE id = ?1 AND versions_kept > ?2 AND NOT EXISTS (
      SELECT 1 FROM item_versions AS kept WHERE vault_id = ?1 GROUP BY item_id
      HAVING count(*) > ?2 + NOT EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND id = kept.item_id))`,
};

interface Id {
  readonly id: string;
}

/** Loads at most `most` Items after an id. With `versions`, Items with too many versions are loaded too. Fails with `unavailable`. */
export async function loadDueItems(
  { db, settings, now }: Store,
  vault: string,
  versions: boolean,
  after: string,
  most: number,
): Promise<Result<DueItems>> {
  const bind = (sql: string, bound: number) => db.prepare(sql).bind(vault, after, most, bound);
  const expired = bind(SQL.expired, now - settings.deletedRetention);
  const read = await runBatch<Id[]>(db, expired, ...(versions ? [bind(SQL.surplus, settings.versionsKept)] : []));
  if (!read.ok) return read;
  const found = new Set(read.value.flat().map(({ id }) => id));
  const items = [...found].toSorted().slice(0, most);
  return ok({ items, next: items.length === most ? items.at(-1) : undefined });
}

/** Records that no Item of a vault keeps more versions than the setting, if that is true. Fails with `unavailable`. */
export async function recordVersionsKept({ db, settings }: Store, vault: string): Promise<Result<unknown>> {
  return runBatch(db, db.prepare(SQL.lower).bind(vault, settings.versionsKept));
}
