import { type Dialect, writeId } from "../../model/dialect.ts";
import { isId, isOperationId, timeOf } from "../../model/ids.ts";
import { quotaOf, usageOf } from "../../model/quota.ts";
import { countsOf } from "../../model/reseal.ts";
import type { Vault } from "../../model/vault.ts";
import type { ListedVault } from "../../store/vaults/vaults.ts";
import { presentTime } from "./time.ts";

/** Vaults on the wire (contract 2), in the dialect of the token (contract 3). */

/** A Vault for the admin, with its quotas, what it uses of them, and its keys. */
export const presentAdminVault = (vault: Vault): object => ({
  ...presentVault(vault, "uuid"),
  quota: quotaOf(vault),
  usage: usageOf(vault),
  ...presentKeys(vault),
});

function presentKeys({ dataKeyId, reseal, createdAt }: Vault): object {
  // Keys with another id than a UUIDv7 are those that the vault was created with.
  const dataKey = {
    id: dataKeyId,
    createdAt: presentTime(isId(dataKeyId) && isOperationId(dataKeyId) ? timeOf(dataKeyId) : createdAt),
  };
  if (!reseal) return { dataKey };
  const { previous, position } = reseal;
  return { dataKey, reseal: { replaces: previous, stage: position.stage, ...countsOf(position) } };
}

/** As `presentAdminVault`: a vault whose row does not open has no name and no description, but the kind of the failure. */
export function presentListedVault({ vault, refusal }: ListedVault): object {
  if (!refusal) return presentAdminVault(vault);
  return { ...presentAdminVault(vault), name: undefined, description: undefined, broken: refusal.failure.kind };
}

export function presentVault(vault: Vault, dialect: Dialect): object {
  return {
    id: writeId(vault.id, dialect),
    name: vault.name,
    description: vault.description,
    attributeVersion: vault.attributeVersion,
    contentVersion: vault.contentVersion,
    items: vault.items,
    type: "USER_CREATED",
    createdAt: presentTime(vault.createdAt),
    updatedAt: presentTime(vault.updatedAt),
  };
}
