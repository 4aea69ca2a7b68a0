import { defect, fail, ok, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import { createCache } from "./cache.ts";
import { formatKeyList, KEY_NUMBER_MAX, parseKeyList, type WrappedKey } from "./key-list.ts";
import type { Keyring, RootKey } from "./keyring.ts";
import { type KeyedAssociatedData, openBytes, sealBytes } from "./seal.ts";

/** The keys of a vault are random, and wrapped under a root key. Without the wrapped keys no row of the vault can be decrypted. */

/** A data key and the index key that was made with it. */
export interface VaultKey {
  /** In the header of the texts under the data key. */
  readonly number: number;
  /** The id of both: the 32 hexadecimal digits of a UUID. */
  readonly id: string;
  /** AES-256-GCM. */
  readonly data: CryptoKey;
  /** HMAC-SHA-256. */
  readonly index: CryptoKey;
}

/** The keys of a vault. There is one key, except while the vault's rows are resealed under a new key. */
export interface VaultKeys {
  /** Seals, and makes the blind indexes of new values. */
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
 * Creates a key for a vault, wrapped under the active root key. Both ids are canonical UUIDs. The existing keys in `before` are
 * kept and wrapped again. Throws if the existing keys cannot be decrypted, or if no key number is left.
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
  const earlier =
    before && (await rewrapVaultKeys(keyring.keys.get(before.wrapped.rootKeyId)!, root, vault, before.wrapped.list));
  if (earlier && !earlier.ok) throw defect("the keys of the vault do not open");
  const [data, index] = [random(32), random(32)];
  const key = await importKey({ id, number }, data, index);
  const wrapped = {
    id,
    number,
    data: await sealBytes(root.wrapping, associatedData("dataKey", vault, { id, number }, root), data),
    index: await sealBytes(root.wrapping, associatedData("indexKey", vault, { id, number }, root), index),
  };
  return {
    keys: { newest: key, all: [key, ...(before?.keys.all ?? [])] },
    wrapped: { rootKeyId: root.id, list: [formatKeyList([wrapped]), ...(earlier ? [earlier.value] : [])].join("\n") },
  };
}

/** The detail of the failure if a vault's keys are damaged or another root key wrapped them. */
export const KEYS_DO_NOT_OPEN = "a vault's keys do not open";

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
    if (data === undefined || index === undefined) return fail("misconfigured", KEYS_DO_NOT_OPEN);
    keys.push({ ...key, data, index });
  }
  return keys.length > 0 ? ok(formatKeyList(keys)) : fail("misconfigured", KEYS_DO_NOT_OPEN);
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
  for (const key of parseKeyList(list)) {
    const data = await openBytes(root.wrapping, associatedData("dataKey", vault, key, root), key.data);
    const index = await openBytes(root.wrapping, associatedData("indexKey", vault, key, root), key.index);
    if (!data.ok || !index.ok) return fail("misconfigured", KEYS_DO_NOT_OPEN);
    all.push(await importKey(key, data.value, index.value));
  }
  const [newest] = all;
  if (!newest) return fail("misconfigured", KEYS_DO_NOT_OPEN);
  const keys = { newest, all };
  unwrapped.set(name(keyring, vault), { wrapped, keys }, now);
  return ok(keys);
}

/** Returns a vault's keys from the cache of this isolate, or undefined. */
export const cachedVaultKeys = (keyring: Keyring, vault: string, now: number): VaultKeys | undefined =>
  unwrapped.get(name(keyring, vault), now)?.keys;

/** Returns a text that identifies the keys. */
export const namesOf = ({ all }: VaultKeys): string => all.map(({ id }) => id).join();

const name = (keyring: Keyring, vault: string) => `${keyring.id}.${vault}`;

async function importKey({ id, number }: Numbered, data: Uint8Array, index: Uint8Array): Promise<VaultKey> {
  return {
    number,
    id: id.replaceAll("-", ""),
    data: await crypto.subtle.importKey("raw", data, "AES-GCM", false, ["encrypt", "decrypt"]),
    index: await crypto.subtle.importKey("raw", index, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
  };
}

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
