import { LISTED_VAULTS_MAX } from "../../model/job.ts";
import { map, must, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";

/**
 * Finds the vaults that keep more than the settings allow. Their coordinators delete the surplus, because only a coordinator writes the
 * rows of its vault.
 */

export interface DueVault {
  readonly vault: string;
  /** The position in the order of the vaults: the id. */
  readonly place: string;
  /** 1 when it has more versions than are kept, which exist only after `VERSIONS_KEPT` was lowered. 0: only deleted Items have expired. */
  readonly versions: number;
}

/**
 * SQL: true if the row `due` of `deleted_items` expired by a time. A row of an existing Item, or with a time before its vault's creation, is
 * damaged: it never expires (vault/history.ts), and `verify` names it.
 */
export const isExpired = (by: string): string => `
  deleted_at <= ${by} AND deleted_at >= (SELECT created_at FROM vaults WHERE id = due.vault_id)
    AND NOT EXISTS (SELECT 1 FROM items WHERE vault_id = due.vault_id AND id = due.id)`;

const IS_EXPIRED = isExpired("?1");

const SQL = {
  any: `
    SELECT 1 WHERE EXISTS (SELECT 1 FROM deleted_items AS due WHERE ${IS_EXPIRED})
      OR EXISTS (SELECT 1 FROM vaults WHERE versions_kept > ?2)`,
  // The plus sign keeps SQLite from the primary key, by which it would read all deleted Items.
  list: `
    SELECT vault, vault AS place, max(versions) AS versions FROM (
      SELECT DISTINCT vault_id AS vault, 0 AS versions FROM deleted_items AS due WHERE ${IS_EXPIRED} AND +vault_id > ?3
      UNION ALL SELECT id, 1 FROM vaults WHERE versions_kept > ?2 AND id > ?3)
    GROUP BY vault ORDER BY vault LIMIT ${LISTED_VAULTS_MAX}`,
};

type DueStore = Pick<Store, "db" | "settings" | "now">;

const bind = ({ db, settings, now }: DueStore, sql: string, ...others: string[]): D1PreparedStatement =>
  db.prepare(sql).bind(now - settings.deletedRetention, settings.versionsKept, ...others);

/** Returns true if any vault has expired rows. Throws if D1 fails. */
export async function hasDueVaults(store: DueStore): Promise<boolean> {
  const found = await runBatch<[unknown]>(store.db, bind(store, SQL.any));
  return must("read whether something has expired", found)[0].length > 0;
}

/** Returns some of the vaults with expired rows after one vault, in the order of their ids. Fails with `unavailable`. */
export async function listDueVaults(store: DueStore, after: string): Promise<Result<DueVault[]>> {
  return map(await runBatch<[DueVault]>(store.db, bind(store, SQL.list, after)), (found) => found[0]);
}
