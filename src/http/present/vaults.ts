import type { Presented, Schemas } from "../../api/answer.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import { isId, isOperationId, timeOf } from "../../model/ids.ts";
import { quotaOf, usageOf, type NamedVault, type Vault } from "../../model/vault.ts";
import type { ListedVault } from "../../store/vaults/vaults.ts";
import { presentTime } from "./time.ts";

/** Vaults on the wire (contract 2), in the dialect of the token (contract 3). */

/** Presents the attributes of a vault that need no decryption. */
const presentRow = ({ attributeVersion, contentVersion, items, createdAt, updatedAt }: Vault) => ({
  attributeVersion,
  contentVersion,
  items,
  type: "USER_CREATED" as const,
  createdAt: presentTime(createdAt),
  updatedAt: presentTime(updatedAt),
});

export function presentVault(vault: NamedVault, dialect: Dialect): Presented<Schemas.Vault> {
  const { id, name, description } = vault;
  return { id: writeId(id, dialect), name, description, ...presentRow(vault) };
}

/** Presents the quotas of a vault, their usage, its data keys and, in the list, the number of its webhooks. */
const presentUse = (vault: Vault, webhooks?: number) => ({
  quota: quotaOf(vault),
  usage: usageOf(vault),
  dataKey: presentDataKey(vault),
  earlierKeys: vault.earlierKeys,
  webhooks,
});

export const presentAdminVault = (vault: NamedVault, webhooks?: number): Presented<Schemas.AdminVault> => ({
  ...presentVault(vault, "uuid"),
  ...presentUse(vault, webhooks),
});

// Keys whose id is not a UUIDv7 were created with the vault.
const presentDataKey = ({ dataKeyId, createdAt }: Vault) => ({
  id: dataKeyId,
  createdAt: presentTime(isId(dataKeyId) && isOperationId(dataKeyId) ? timeOf(dataKeyId) : createdAt),
});

/**
 * Presents a vault as `presentAdminVault` does. A vault whose row cannot be decrypted has the kind of the failure instead of name
 * and description.
 */
export function presentListedVault(listed: ListedVault): Presented<Schemas.AdminVault | Schemas.BrokenVault> {
  const { vault, webhooks } = listed;
  if (!("refusal" in listed)) return presentAdminVault(listed.vault, webhooks);
  const broken = listed.refusal.failure.kind === "misconfigured" ? "misconfigured" : "integrity";
  return { id: vault.id, ...presentRow(vault), ...presentUse(vault, webhooks), broken };
}
