import { createVaultKeys, replaceVaultKeys, type VaultKeys, type WrappedKeys } from "../../crypto/vault-keys.ts";
import { formatPosition } from "../../model/reseal.ts";
import type { Vault } from "../../model/vault.ts";
import type { Store } from "../d1/database.ts";
import { type OpenVault, wrappedKeys } from "../vaults/rows.ts";

/** The keys under which a commit seals: those of the vault, or new ones. */
export interface CommitKeys {
  readonly keys: VaultKeys;
  /** The columns of the vault's row after the commit. */
  readonly wrapped: WrappedKeys;
  readonly resealed: string | null;
  /** Whether the commit replaces the keys of a vault that exists: from then on its rows are sealed again (decision 0032). */
  readonly replaced: boolean;
}

/** In: the vault before the commit (absent: it is new), and after it. */
export async function keysOfCommit(
  { keyring }: Store,
  before: OpenVault | undefined,
  { id, dataKeyId, reseal }: Vault,
): Promise<CommitKeys> {
  if (!before) return { ...(await createVaultKeys(keyring, id, dataKeyId)), resealed: null, replaced: false };
  const { keys, row, vault } = before;
  const wrapped = wrappedKeys(row);
  if (vault.dataKeyId === dataKeyId) return { keys, wrapped, resealed: row.resealed, replaced: false };
  const replaced = await replaceVaultKeys(keyring, id, dataKeyId, { keys, wrapped });
  return { ...replaced, resealed: reseal ? formatPosition(reseal.position) : null, replaced: true };
}
