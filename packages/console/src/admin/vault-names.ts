import { shortId } from "./filter.ts";
import { adminVaults, type VaultRow } from "./lists.ts";

/** The names of vaults in the admin's views. */

export const nameOfVault = (vault: VaultRow): string => ("broken" in vault ? `Damaged vault ${shortId(vault.id)}` : vault.name);

/** Returns the name of the vault with a canonical id, which may no longer exist. */
export function vaultLabel(id: string): string {
  const rows = adminVaults.rows.value;
  const vault = rows?.find((row) => row.id === id);
  if (vault) return nameOfVault(vault);
  // Until the list is loaded, nobody knows whether the vault exists.
  return `${rows ? "Deleted vault" : "Vault"} ${shortId(id)}`;
}
