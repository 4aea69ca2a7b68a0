import { LIMITS } from "../model/limits.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { joinedItem, loadFromVault, type VaultAccess } from "./authorized.ts";
import type { Store } from "./database.ts";
import { reachesLevel } from "./database-size.ts";
import { probeDatabase } from "./probes.ts";

/** Refusals of writes that grow, before their cost arises. The commit loop decides: see vault/growth.ts. */

/** Errors: `database_full`, `unavailable`. When the last known size refuses, D1 is asked for the current one. */
export async function requireRoom({ db, settings }: Store): Promise<Result<undefined>> {
  if (!reachesLevel(settings, "refuse")) return ok(undefined);
  const asked = await probeDatabase(db);
  return asked.ok ? checkLevel(settings) : asked;
}

const checkLevel = (settings: Store["settings"]): Result<undefined> =>
  reachesLevel(settings, "refuse") ? fail("database_full") : ok(undefined);

interface Usage {
  readonly item: string | null;
  readonly file_bytes: number;
  readonly quota_file_bytes: number | null;
}

/**
 * Checks before an upload that the Item exists and that a content of so many bytes fits. A content of unknown length counts
 * as 1 byte. Errors, in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `database_full`, `quota`.
 */
export async function requireRoomForFile(
  store: Store,
  access: VaultAccess,
  item: string,
  length: number | undefined,
): Promise<Result<undefined>> {
  const columns = "items.id AS item, vaults.file_bytes, vaults.quota_file_bytes";
  const read = await loadFromVault<Usage, []>(store, access, joinedItem(item, columns));
  if (!read.ok) return read;
  const { item: found, file_bytes, quota_file_bytes } = read.value.joined;
  if (found === null) return fail("item_not_found");
  const level = checkLevel(store.settings);
  if (!level.ok) return level;
  const quota = quota_file_bytes ?? LIMITS.vaultFileBytes;
  // An empty File does not grow.
  return file_bytes + (length ?? 1) > quota && length !== 0 ? fail("quota", `${quota} bytes of Files`) : ok(undefined);
}
