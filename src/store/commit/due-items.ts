import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";

/** The Items of one vault of which something is past its retention: see vault/expiry.ts. */

export interface DueItems {
  /** In the order of their ids: Items that exist, and deleted ones. */
  readonly items: readonly string[];
  /** The id after which the next call begins; absent when there are no more. */
  readonly next: string | undefined;
}

/** Not those with an impossible time, as in vault/deletions.ts. */
const EXPIRED = `
  SELECT id FROM deleted_items WHERE vault_id = ?1 AND id > ?2 AND deleted_at > 0 AND deleted_at <= ?4 ORDER BY id LIMIT ?3`;

/**
 * More versions than are kept, of a deleted Item one more. Not those of an Item that neither exists nor is deleted: its row was lost, and
 * they are the last copy (decision 0035). Not in a UNION with the other statement: for that SQLite would read and sort the versions of all
 * Items that follow.
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
  /** Not a write to the vault: the value only tells the cron trigger where to look, and a commit only raises it. */
  lower: `
    UPDATE vaults SET versions_kept = ?2 WHERE id = ?1 AND versions_kept > ?2 AND NOT EXISTS (
      SELECT 1 FROM item_versions AS kept WHERE vault_id = ?1 GROUP BY item_id
      HAVING count(*) > ?2 + NOT EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND id = kept.item_id))`,
};

interface Id {
  readonly id: string;
}

/** Loads at most `most` Items after an id. In: whether the versions are looked through too. Errors: `unavailable`. */
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

/** Records that no Item of a vault keeps more versions than the setting says, if that is so. Errors: `unavailable`. */
export async function recordVersionsKept({ db, settings }: Store, vault: string): Promise<Result<unknown>> {
  return runBatch(db, db.prepare(SQL.lower).bind(vault, settings.versionsKept));
}
