import { ok, type Result } from "../model/result.ts";
import type { Vault } from "../model/vault.ts";
import { loadForToken, loadFromVault, NOTHING, type VaultAccess } from "./authorized.ts";
import { runBatch, type Store } from "./database.ts";
import type { TokenIdentity } from "./token-check.ts";
import { openVault, type VaultRow } from "./vault-rows.ts";

/** Loads vaults. write/commit.ts writes them. */

/** One vault. Errors: `unauthorized` (revoked), `vault_not_found`. */
export async function loadVault(store: Store, access: VaultAccess): Promise<Result<Vault>> {
  const read = await loadFromVault<VaultRow, []>(store, access, { ...NOTHING, columns: "vaults.*" });
  if (!read.ok) return read;
  const opened = await openVault(store, read.value.joined);
  return opened.ok ? ok(opened.value.vault) : opened;
}

/** The vaults of these ids that exist, for the holder of this token. Errors: `unauthorized` (revoked). */
export async function loadVaults(store: Store, token: TokenIdentity, ids: readonly string[]): Promise<Result<Vault[]>> {
  const read = await loadForToken<[VaultRow]>(
    store,
    token,
    store.db.prepare("SELECT * FROM vaults WHERE id IN (SELECT value FROM json_each(?1))").bind(JSON.stringify(ids)),
  );
  return read.ok ? openAll(store, read.value[0]) : read;
}

/** Every vault, for the admin routes. Errors: `misconfigured`, `integrity`. */
export async function loadAllVaults(store: Store): Promise<Result<Vault[]>> {
  const read = await runBatch<[VaultRow]>(store.db, store.db.prepare("SELECT * FROM vaults"));
  return read.ok ? openAll(store, read.value[0]) : read;
}

/** Out: the vaults, oldest first, so that a new vault does not change the order of the others. */
async function openAll(store: Store, rows: readonly VaultRow[]): Promise<Result<Vault[]>> {
  const vaults: Vault[] = [];
  for (const row of rows) {
    const opened = await openVault(store, row);
    if (!opened.ok) return opened;
    vaults.push(opened.value.vault);
  }
  return ok(vaults.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)));
}
