import { defect, fail, must, ok, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import { createCache } from "./cache.ts";
import { formatKeyList, KEY_NUMBER_MAX, parseKeyList, type WrappedKey } from "./key-list.ts";
import type { Keyring, RootKey } from "./keyring.ts";
import { type KeyedAssociatedData, openBytes, sealBytes } from "./seal.ts";

/** The keys of a vault are random, and wrapped under a root key. Without the wrapped keys no row of the vault can be decrypted. */

/** A data key of a vault. */
export interface VaultKey {
  /** In the header of the texts under the key. */
  readonly number: number;
  /** The 32 hexadecimal digits of a UUID. */
  readonly id: string;
  /** AES-256-GCM. */
  readonly data: CryptoKey;
}

/** The keys of a vault: its index key, its newest data key, and the earlier data keys that its texts still name. */
export interface VaultKeys {
  /** HMAC-SHA-256. Makes the blind indexes, and never changes. */
  readonly index: CryptoKey;
  /** Seals. */
  readonly newest: VaultKey;
  /** All of them, the newest first. */
  readonly all: readonly VaultKey[];
}

/** The wrapped keys, as the columns of the vault's row. */
export interface WrappedKeys {
  /** Wraps all of them. */
  readonly rootKeyId: string;
  /** See key-list.ts. */
  readonly list: string;
}

const unwrapped = createCache<{ wrapped: string; keys: VaultKeys }>(512, 5 * MINUTE);

/** Binds a wrapped key to its vault, to its own id and number, and to the id of the root key. */
const associatedData = (
  kind: "dataKey" | "indexKey",
  vault: string,
  { id, number }: Numbered,
  root: RootKey,
): KeyedAssociatedData => ({
  kind,
  vault,
  record: id,
  version: number,
  key: root.id,
});

type Numbered = Pick<WrappedKey, "id" | "number">;

/**
 * Creates a data key for a vault, wrapped under the active root key, and for a new vault its index key. Both ids are canonical
 * UUIDs. The existing keys in `before` are kept and wrapped again. Throws if they cannot be decrypted, or if no key number is left.
 */
export async function addVaultKey(
  keyring: Keyring,
  vault: string,
  id: string,
  before?: { readonly keys: VaultKeys; readonly wrapped: WrappedKeys },
): Promise<{ keys: VaultKeys; wrapped: WrappedKeys }> {
  const root = keyring.active;
  const number = (before?.keys.newest.number ?? 0) + 1;
  if (number > KEY_NUMBER_MAX) throw new RangeError("the numbers of the vault's keys are used up");
  const from = before && keyring.keys.get(before.wrapped.rootKeyId)!;
  const earlier = before && (await rewrapVaultKeys(from!, root, vault, before.wrapped.list));
  if (earlier && !earlier.ok) throw defect("the keys of the vault cannot be decrypted");
  const data = random(32);
  const index = before
    ? must("open the index key", await openIndexKey(from!, vault, parseKeyList(before.wrapped.list)[0]!))
    : random(32);
  const key = await importDataKey({ id, number }, data);
  const wrapped = {
    id,
    number,
    data: await sealBytes(root.wrapping, associatedData("dataKey", vault, { id, number }, root), data),
    index: await sealBytes(root.wrapping, associatedData("indexKey", vault, { id, number }, root), index),
  };
  return {
    keys: { index: before?.keys.index ?? (await importIndexKey(index)), newest: key, all: [key, ...(before?.keys.all ?? [])] },
    wrapped: { rootKeyId: root.id, list: [formatKeyList([wrapped]), ...(earlier ? [earlier.value] : [])].join("\n") },
  };
}

/** The detail of the failure if a vault's keys are damaged or another root key wrapped them. */
export const KEYS_ARE_DAMAGED = "a vault's keys cannot be decrypted";

/**
 * Wraps the key list of a vault under another root key. The keys themselves do not change, so neither do the sealed texts. Fails
 * with `misconfigured` if `from` did not wrap the keys.
 */
export async function rewrapVaultKeys(from: RootKey, to: RootKey, vault: string, list: string): Promise<Result<string>> {
  const rewrap = async (kind: "dataKey" | "indexKey", key: WrappedKey, wrapped: string): Promise<string | undefined> => {
    const opened = await openBytes(from.wrapping, associatedData(kind, vault, key, from), wrapped);
    return opened.ok ? sealBytes(to.wrapping, associatedData(kind, vault, key, to), opened.value) : undefined;
  };
  const keys: WrappedKey[] = [];
  for (const key of parseKeyList(list)) {
    const [data, index] = await Promise.all([rewrap("dataKey", key, key.data), rewrap("indexKey", key, key.index)]);
    if (data === undefined || index === undefined) return fail("misconfigured", KEYS_ARE_DAMAGED);
    keys.push({ ...key, data, index });
  }
  return keys.length > 0 ? ok(formatKeyList(keys)) : fail("misconfigured", KEYS_ARE_DAMAGED);
}

/**
 * Unwraps the keys of a vault. Key objects are cached with their wrapped bytes, so a changed row is unwrapped again. Fails with
 * `misconfigured` if the root key is missing, if another root key wrapped the keys, or if the list is damaged.
 */
export async function unwrapVaultKeys(
  keyring: Keyring,
  vault: string,
  { rootKeyId, list }: WrappedKeys,
  now: number,
): Promise<Result<VaultKeys>> {
  const root = keyring.keys.get(rootKeyId);
  if (!root) return fail("misconfigured", "a root key is missing");
  const wrapped = `${rootKeyId}\n${list}`;
  const cached = unwrapped.get(name(keyring, vault), now);
  if (cached?.wrapped === wrapped) return ok(cached.keys);
  const all: VaultKey[] = [];
  const lines = parseKeyList(list);
  for (const key of lines) {
    const data = await openBytes(root.wrapping, associatedData("dataKey", vault, key, root), key.data);
    if (!data.ok) return fail("misconfigured", KEYS_ARE_DAMAGED);
    all.push(await importDataKey(key, data.value));
  }
  const [newest] = all;
  const index = newest && (await openIndexKey(root, vault, lines[0]!));
  if (!index?.ok) return fail("misconfigured", KEYS_ARE_DAMAGED);
  const keys = { index: await importIndexKey(index.value), newest: newest!, all };
  unwrapped.set(name(keyring, vault), { wrapped, keys }, now);
  return ok(keys);
}

/** Returns a vault's keys from the cache of this isolate, or undefined. */
export const cachedVaultKeys = (keyring: Keyring, vault: string, now: number): VaultKeys | undefined =>
  unwrapped.get(name(keyring, vault), now)?.keys;

const name = (keyring: Keyring, vault: string) => `${keyring.id}.${vault}`;

const openIndexKey = (root: RootKey, vault: string, key: WrappedKey): Promise<Result<Uint8Array>> =>
  openBytes(root.wrapping, associatedData("indexKey", vault, key, root), key.index);

const importIndexKey = (bytes: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

const importDataKey = async ({ id, number }: Numbered, bytes: Uint8Array): Promise<VaultKey> => ({
  number,
  id: id.replaceAll("-", ""),
  data: await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]),
});

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
