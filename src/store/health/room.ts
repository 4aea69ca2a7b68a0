import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import { COUNTED, type Counted } from "../vaults/counted-rows.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type DatabaseLevel, reachesLevel } from "../d1/size.ts";
import { probeDatabase } from "./probes.ts";

/** Early refusals of writes that would make the database larger. The commit loop makes the final decision (vault/growth.ts). */

/**
 * Returns true if the database has reached a level. If the last known size has, D1 is asked for the current size, because this
 * isolate may have made no D1 call since. Fails with `unavailable` if D1 does not answer.
 */
export async function confirmLevel(
  { db, settings }: Pick<Store, "db" | "settings">,
  level: DatabaseLevel,
): Promise<Result<boolean>> {
  if (!reachesLevel(settings, level)) return ok(false);
  const asked = await probeDatabase(db);
  return asked.ok ? ok(reachesLevel(settings, level)) : asked;
}

/** Fails with `database_full` or `unavailable`. */
export async function requireRoom(store: Store): Promise<Result<undefined>> {
  const refuses = await confirmLevel(store, "refuse");
  if (!refuses.ok) return refuses;
  return refuses.value ? fail("database_full") : ok(undefined);
}

/**
 * Returns true if the database has room for sealed bytes that replace those of a vault. The rows of the vault are counted only if
 * old and new rows do not fit together, because the vault's counter may be damaged. Fails with `unavailable`.
 */
export async function hasRoomToReplace({ db, settings }: Store, vault: string, bytes: number): Promise<Result<boolean>> {
  if (!reachesLevel(settings, "refuse", bytes)) return ok(true);
  const read = await runBatch<[Counted]>(db, db.prepare(COUNTED).bind(vault));
  if (!read.ok) return read;
  const growth = bytes - read.value[0][0]!.sealed_bytes;
  return ok(growth <= 0 || !reachesLevel(settings, "refuse", growth));
}

interface Usage {
  readonly item: string | null;
  readonly file_bytes: number;
  readonly quota_file_bytes: number | null;
  /** The bytes of the contents that only earlier versions of the Item have. */
  readonly ended: number;
}

/** These contents are deleted first when there is no room for the new one. */
const ENDED_BYTES = `
  (SELECT total(size) FROM (
    SELECT id, generation, size FROM file_versions WHERE vault_id = vaults.id AND item_id = items.id
    EXCEPT SELECT id, generation, size FROM files WHERE vault_id = vaults.id AND item_id = items.id)) AS ended`;

/**
 * Checks before an upload that the Item exists and that a content fits. A content of unknown length counts as 1 byte. Refusals
 * are checked in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `database_full`, `quota`.
 */
export async function requireRoomForFile(
  store: Store,
  access: VaultAccess,
  item: string,
  length: number | undefined,
): Promise<Result<undefined>> {
  const columns = `items.id AS item, vaults.file_bytes, vaults.quota_file_bytes, ${ENDED_BYTES}`;
  const read = await loadFromVault<Usage, []>(store, access, joinedItem(item, columns));
  if (!read.ok) return read;
  const { item: found, file_bytes, quota_file_bytes, ended } = read.value.joined;
  if (found === null) return fail("item_not_found");
  if (reachesLevel(store.settings, "refuse")) return fail("database_full");
  const quota = quota_file_bytes ?? LIMITS.vaultFileBytes;
  // An empty File does not grow.
  return file_bytes - ended + (length ?? 1) > quota && length !== 0 ? fail("quota", `${quota} bytes of Files`) : ok(undefined);
}
