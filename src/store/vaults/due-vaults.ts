import { must } from "../../model/result.ts";
import type { Settings } from "../../settings.ts";
import { runBatch } from "../d1/database.ts";

/**
 * Finds the vaults that keep more than the settings allow. Their coordinators delete the surplus, because only a coordinator writes the
 * rows of its vault.
 */

/** What a run of the cron trigger sends to a coordinator. Plain data, because it crosses Durable Object RPC. */
export interface DueVault {
  readonly vault: string;
  /** Whether the call checks earlier versions too, besides deleted Items. */
  readonly versions: boolean;
}

/**
 * The most vaults of one run. `expired`: vaults with expired Items. `surplus`: vaults with more versions than are kept, which exist only
 * after `VERSIONS_KEPT` was lowered. They are drawn at random, so that a vault whose coordinator fails does not delay the others.
 */
const RUN_VAULTS_MAX = { expired: 20, surplus: 5 };

/** The most expired Items that are read to find their vaults. */
const EXPIRED_ITEMS_MAX = 5_000;

const EXISTS = "EXISTS (SELECT 1 FROM vaults WHERE id = due.vault_id)";

const SQL = {
  expired: `
    SELECT DISTINCT vault_id AS vault FROM (
      SELECT vault_id FROM deleted_items AS due WHERE deleted_at > 0 AND deleted_at <= ?1 AND ${EXISTS} ORDER BY deleted_at LIMIT ${EXPIRED_ITEMS_MAX})
    ORDER BY random() LIMIT ${RUN_VAULTS_MAX.expired}`,
  surplus: `SELECT id AS vault FROM vaults WHERE versions_kept > ?1 ORDER BY random() LIMIT ${RUN_VAULTS_MAX.surplus}`,
};

/** Out: the vaults of which something is due, without repetition. In: Unix milliseconds. Throws when D1 fails. */
export async function findDueVaults(db: D1Database, settings: Settings, now: number): Promise<DueVault[]> {
  const found = await runBatch<[Vault, Vault]>(
    db,
    db.prepare(SQL.expired).bind(now - settings.deletedRetention),
    db.prepare(SQL.surplus).bind(settings.versionsKept),
  );
  const [expired, surplus] = must("read the vaults with something to expire", found);
  const versions = new Set(surplus.map(({ vault }) => vault));
  const others = new Set(expired.map(({ vault }) => vault)).difference(versions);
  return [
    ...Array.from(versions, (vault) => ({ vault, versions: true })),
    ...Array.from(others, (vault) => ({ vault, versions: false })),
  ];
}

interface Vault {
  readonly vault: string;
}
