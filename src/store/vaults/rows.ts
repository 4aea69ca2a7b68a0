import { KEY_ID_LENGTH, newestKeyId, parseKeyList } from "../../crypto/key-list.ts";
import { unwrapVaultKeys, type VaultKeys, type WrappedKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { isNamed, type NamedVault, type Vault } from "../../model/vault.ts";
import type { Store } from "../d1/database.ts";
import { refuseMissingKey } from "../keys/root-keys.ts";
import { withoutWrongNumbers, wrongNumbers } from "../tables/numbers.ts";
import { type RowOf, TABLES } from "../tables/tables.ts";

/** The rows of vaults: their columns, their decryption and sealing. commit/commit.ts writes them. */

export const KEY_COLUMNS = "vaults.id, root_key_id, vaults.keys";

/** SQL: the id of the newest key of a row of `vaults`, which every commit compares. */
export const NEWEST_KEY_ID = `substr(vaults.keys, 1, ${KEY_ID_LENGTH})`;

/**
 * Returns SQL that is true if the vault ?1 has not changed since it was read, for a fence (d1/fence.ts). ?2 to ?5:
 * `valuesAsRead`. `also` is a further condition on its row.
 */
export const isAsRead = (also = "true"): string => `EXISTS (
  SELECT 1 FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4 AND ${NEWEST_KEY_ID} = ?5
    AND ${also})`;

/** ?1 to ?5 of `isAsRead`. */
export const valuesAsRead = ({ id, contentVersion, attributeVersion, updatedAt, dataKeyId }: Vault) =>
  [id, contentVersion, attributeVersion, updatedAt, dataKeyId] as const;

/** The sealed name of a vault, with the version that is part of its associated data. */
export const NAME_COLUMNS = "vaults.name, vaults.attribute_version";

/** The position after the newest write of a vault: a `Cursor`. */
export const HEAD_COLUMNS = "vaults.content_version + vaults.attribute_version AS sequence, vaults.updated_at AS at";

/** A row of `vaults`, without the columns that only SQL uses. */
export type VaultRow = Omit<RowOf<"vaults">, "versions_kept">;

/** The wrapped keys of a vault. */
export type KeyRow = Pick<VaultRow, "id" | "root_key_id" | "keys">;

/** The columns of `NAME_COLUMNS`, and the id of the vault. */
export type NameRow = Pick<VaultRow, "id" | "name" | "attribute_version">;

/** The sealed columns. Each is sealed again with each change of `attribute_version`. */
export type VaultTexts = Pick<VaultRow, "name" | "description">;

/** A vault with its keys. */
export interface OpenVault<V extends Vault = Vault> {
  readonly vault: V;
  readonly keys: VaultKeys;
  readonly wrapped: WrappedKeys;
  readonly row: VaultRow;
}

const { associatedData } = TABLES.vaults;

/** Seals the name and the description of a vault as two texts, because answers with its Items need the name only. */
export async function sealVault(keys: VaultKeys, vault: NamedVault): Promise<VaultTexts> {
  const bound = { id: vault.id, attribute_version: vault.attributeVersion };
  const [name, description] = await Promise.all([
    sealText(keys, associatedData.name(vault.id, bound), vault.name),
    sealText(keys, associatedData.description(vault.id, bound), vault.description),
  ]);
  return { name, description };
}

/** Decrypts the keys of a row. Fails with `misconfigured` (a root key is missing or wrong) or `integrity`. */
export const openKeys = (store: Store, row: KeyRow): Promise<Result<VaultKeys>> =>
  store.keyring.keys.has(row.root_key_id)
    ? unwrapVaultKeys(store.keyring, row.id, wrappedKeys(row), store.now)
    : refuseMissingKey(store, row.root_key_id);

/** Opens a row to show it. Fails with `misconfigured` if a root key is missing or wrong, or with `integrity`. */
export async function openVault(store: Store, row: VaultRow): Promise<Result<OpenVault<NamedVault>>> {
  const opened = await openForWrite(store, row);
  if (!opened.ok) return opened;
  const { vault } = opened.value;
  return isNamed(vault) ? ok({ ...opened.value, vault }) : fail("integrity");
}

/**
 * Decrypts a row for writes, which need only one of its name and description. If neither can be decrypted, their version may be damaged.
 * Fails as `openVault` does.
 */
export async function openForWrite(store: Store, row: VaultRow): Promise<Result<OpenVault>> {
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const [name, description] = await Promise.all([openName(keys.value, row), openDescription(keys.value, row)]);
  if ((!name.ok && !description.ok) || wrongNumbers("vaults", row).length > 0) return fail("integrity");
  const texts = { name: valueOf(name), description: valueOf(description) };
  return ok({ row, keys: keys.value, wrapped: wrappedKeys(row), vault: { ...plainVault(row), ...texts } });
}

const valueOf = (text: Result<string>): string | undefined => (text.ok ? text.value : undefined);

/** Decrypts only the name of a vault. Fails with `integrity`. */
export const openName = (keys: VaultKeys, row: NameRow): Promise<Result<string>> =>
  openText(keys, associatedData.name(row.id, row), row.name);

/** Decrypts the description of a vault. Fails with `integrity`. */
export const openDescription = (keys: VaultKeys, row: VaultRow): Promise<Result<string>> =>
  openText(keys, associatedData.description(row.id, row), row.description);

const plainVault = (row: VaultRow): Omit<Vault, "name" | "description"> => ({
  id: row.id,
  attributeVersion: row.attribute_version,
  contentVersion: row.content_version,
  items: row.items,
  created: row.created,
  deleted: row.deleted,
  restored: row.restored,
  destroyed: row.destroyed,
  files: row.files,
  fileBytes: row.file_bytes,
  sealedBytes: row.sealed_bytes,
  quota: { items: row.quota_items, bytes: row.quota_bytes, fileBytes: row.quota_file_bytes },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...keyStateOf(row),
});

/** Returns the attributes that follow from the list of keys. If the list is damaged, `dataKeyId` may be any text. */
function keyStateOf({ keys }: VaultRow): Pick<Vault, "dataKeyId" | "keyNumber" | "earlierKeys"> {
  const list = parseKeyList(keys);
  return { dataKeyId: newestKeyId(keys), keyNumber: list[0]?.number ?? 0, earlierKeys: Math.max(0, list.length - 1) };
}

/** A vault whose row cannot be decrypted. It can only be listed and deleted. */
export interface BrokenVault {
  /** The attributes of the plaintext columns. */
  readonly vault: Vault;
  /** The reason: `misconfigured` (a root key is missing or wrong) or `integrity`. */
  readonly refusal: Refusal;
}

export const brokenVault = (row: VaultRow, refusal: Refusal): BrokenVault => ({
  vault: { ...plainVault(withoutWrongNumbers("vaults", row)), name: undefined, description: undefined },
  refusal,
});

/** Returns the row of a vault, from its sealed columns and its wrapped keys. */
export const vaultRow = (vault: Vault, { name, description }: VaultTexts, keys: WrappedKeys): VaultRow => ({
  id: vault.id,
  root_key_id: keys.rootKeyId,
  keys: keys.list,
  name,
  description,
  attribute_version: vault.attributeVersion,
  content_version: vault.contentVersion,
  items: vault.items,
  created: vault.created,
  deleted: vault.deleted,
  restored: vault.restored,
  destroyed: vault.destroyed,
  files: vault.files,
  file_bytes: vault.fileBytes,
  created_at: vault.createdAt,
  updated_at: vault.updatedAt,
  sealed_bytes: vault.sealedBytes,
  quota_items: vault.quota.items,
  quota_bytes: vault.quota.bytes,
  quota_file_bytes: vault.quota.fileBytes,
});

export const wrappedKeys = ({ root_key_id, keys }: KeyRow): WrappedKeys => ({ rootKeyId: root_key_id, list: keys });
