import { COUNT_MAX } from "../../model/limits.ts";
import { KEY_ID_LENGTH, KEY_NUMBER_LENGTH, newestKeyId, parseKeyList } from "../../crypto/key-list.ts";
import { HEADER_AND_NONCE_LENGTH } from "../../crypto/seal.ts";
import { unwrapVaultKeys, type VaultKeys, type WrappedKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import { parsePosition, START } from "../../model/reseal.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { isTime, possibleTime } from "../../model/time.ts";
import { isNamed, type NamedVault, type Vault } from "../../model/vault.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { refuseMissingKey } from "../keys/root-keys.ts";
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

/** SQL: the id and the number of the newest key, and the header and the nonce of its wrapped data key. They reveal nothing about the key. */
export const NEWEST_KEY_NONCE = `substr(vaults.keys, 1, ${KEY_ID_LENGTH + KEY_NUMBER_LENGTH + HEADER_AND_NONCE_LENGTH})`;

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
  const bound = { attribute_version: vault.attributeVersion };
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
  const opened = await openRow(store, row);
  if (!opened.ok) return opened;
  const { vault } = opened.value;
  return isNamed(vault) ? ok({ ...opened.value, vault }) : fail("integrity");
}

/**
 * Decrypts a row for writes, which need neither its name nor its description. If neither text can be decrypted, their version may
 * be damaged. The newest log entry then decides. Fails as `openVault` does, or with `unavailable`.
 */
export async function openForWrite(store: Store, row: VaultRow): Promise<Result<OpenVault>> {
  const opened = await openRow(store, row);
  if (!opened.ok) return opened;
  const { name, description } = opened.value.vault;
  if (name !== undefined || description !== undefined) return opened;
  const logged = await runBatch<[unknown]>(store.db, store.db.prepare(IS_HEAD_LOGGED).bind(row.id));
  if (!logged.ok) return logged;
  return logged.value[0].length > 0 ? opened : fail("integrity");
}

async function openRow(store: Store, row: VaultRow): Promise<Result<OpenVault>> {
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  if (wrongVaultColumns(row).length > 0) return fail("integrity");
  const [name, description] = await Promise.all([openName(keys.value, row), openDescription(keys.value, row)]);
  const counted = withCounts(row, COUNTED_COLUMNS);
  const texts = { name: valueOf(name), description: valueOf(description) };
  return ok({ row: counted, keys: keys.value, wrapped: wrappedKeys(row), vault: { ...plainVault(counted), ...texts } });
}

const valueOf = (text: Result<string>): string | undefined => (text.ok ? text.value : undefined);

/** SQL: a row if the versions of the vault ?1 add up to the number of the newest write in its log. */
const IS_HEAD_LOGGED = `
  SELECT 1 FROM vaults WHERE id = ?1 AND content_version + attribute_version = coalesce(
    (SELECT max(sequence) FROM activity WHERE vault_id = ?1), (SELECT expired FROM logs WHERE vault_id = ?1))`;

/** Decrypts only the name of a vault. Fails with `integrity`. */
export const openName = (keys: VaultKeys, row: NameRow): Promise<Result<string>> =>
  openText(keys, associatedData.name(row.id, row), row.name);

/** Decrypts the description of a vault. Fails with `integrity`. */
export const openDescription = (keys: VaultKeys, row: VaultRow): Promise<Result<string>> =>
  openText(keys, associatedData.description(row.id, row), row.description);

/** Counts. An impossible value is read as 0, so that no request fails. `verify --repair` repairs the counts that follow from the rows. */
const COUNTED_COLUMNS = ["items", "created", "deleted", "restored", "destroyed", "files", "file_bytes", "sealed_bytes"] as const;
/** Numbers that follow from no other row. A vault with an invalid number is broken. */
const OWN_NUMBERS = ["attribute_version", "content_version", "quota_items", "quota_bytes", "quota_file_bytes"] as const;

/** Returns true if a valid row's column can hold the value: an integer from 0 to COUNT_MAX, or NULL. */
export const isCount = (value: number | null): boolean =>
  value === null || (Number.isInteger(value) && value >= 0 && value <= COUNT_MAX);

/** Returns the invalid times and numbers of the row, in words. No write may continue with one. */
export const wrongVaultColumns = (row: VaultRow): string[] => [
  ...(["created_at", "updated_at"] as const).filter((name) => !isTime(row[name])).map((name) => `${name} is no time`),
  ...OWN_NUMBERS.filter((name) => !isCount(row[name])).map((name) => `${name} is no number of the service`),
];

type CountName = (typeof COUNTED_COLUMNS | typeof OWN_NUMBERS)[number];

const withCounts = (row: VaultRow, names: readonly CountName[]): VaultRow => ({
  ...row,
  ...Object.fromEntries(names.map((name) => [name, isCount(row[name]) ? row[name] : 0])),
});

/** Returns the row with 0 for each impossible time and number, to present a broken vault. */
const possibleRow = (row: VaultRow): VaultRow => ({
  ...withCounts(row, [...COUNTED_COLUMNS, ...OWN_NUMBERS]),
  created_at: possibleTime(row.created_at),
  updated_at: possibleTime(row.updated_at),
});

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

/**
 * Returns the attributes derived from the list of keys. A vault with several keys is being resealed. If the list is damaged,
 * `dataKeyId` may be any text.
 */
function keyStateOf({ keys, resealed }: VaultRow): Pick<Vault, "dataKeyId" | "keyNumber" | "reseal"> {
  const [newest, ...earlier] = parseKeyList(keys);
  const [previous] = earlier;
  const numbers = earlier.map(({ number }) => number);
  const position = resealed === null ? START : parsePosition(resealed, numbers);
  return {
    dataKeyId: newestKeyId(keys),
    keyNumber: newest?.number ?? 0,
    reseal: previous && { previous: previous.id, position },
  };
}

/** A vault whose row cannot be decrypted. It can only be listed and deleted. */
export interface BrokenVault {
  /** The attributes of the plaintext columns. */
  readonly vault: Vault;
  /** The reason: `misconfigured` (a root key is missing or wrong) or `integrity`. */
  readonly refusal: Refusal;
}

export const brokenVault = (row: VaultRow, refusal: Refusal): BrokenVault => ({
  vault: { ...plainVault(possibleRow(row)), name: undefined, description: undefined },
  refusal,
});

/** Returns the row of a vault, from its sealed columns, its wrapped keys, and the progress of its reseal (`VaultRow`). */
export const vaultRow = (
  vault: Vault,
  { name, description }: VaultTexts,
  keys: WrappedKeys,
  resealed: string | null,
): VaultRow => ({
  id: vault.id,
  root_key_id: keys.rootKeyId,
  keys: keys.list,
  resealed,
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
