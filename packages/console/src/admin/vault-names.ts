import { shortId } from "./filter.ts";
import { adminVaults, type VaultRow } from "./lists.ts";

/** How the admin's views name vaults. */

export const nameOfVault = (vault: VaultRow): string => ("broken" in vault ? `Damaged vault ${shortId(vault.id)}` : vault.name);

/** The name of the vault with an id, also of one that does not exist any more. In: a canonical id. */
export function vaultLabel(id: string): string {
  const rows = adminVaults.rows.value;
  const vault = rows?.find((row) => row.id === id);
  if (vault) return nameOfVault(vault);
  // Until the list is loaded, nobody knows whether the vault exists.
  return `${rows ? "Deleted vault" : "Vault"} ${shortId(id)}`;
}
