import { defect, fail, ok, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import { createCache } from "./cache.ts";
import { formatKeyList, KEY_NUMBER_MAX, parseKeyList, type WrappedKey } from "./key-list.ts";
import type { Keyring, RootKey } from "./keyring.ts";
import { type KeyedAssociatedData, openBytes, sealBytes } from "./seal.ts";

/** A vault's own keys: random, wrapped under a root key. Without the wrapped keys no row of the vault opens. */

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

/** The keys of a vault: one, and while its rows are sealed again under a new key also those before. */
export interface VaultKeys {
  /** Seals, and makes the blind indexes of what is written. */
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

/** A wrapped key is bound to its vault, to its own id and number, and to the id of the root key. */
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
 * Creates a key for a vault, wrapped under the active root key. In: the ids of the vault and of the key, canonical UUIDs; the keys that
 * the vault has, which stay and are wrapped again with it. Throws when the wrapped ones do not open, or have the last number.
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

/** The detail of the failure of a vault whose keys are damaged, or were wrapped by another root key. */
export const KEYS_DO_NOT_OPEN = "a vault's keys do not open";

/**
 * Wraps the keys of a vault under another root key. The keys themselves stay, so nothing that they have sealed changes.
 * In, out: the list. Errors: `misconfigured` when `from` is not the root key that wrapped them.
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
 * Unwraps the keys of a vault. Key objects are cached with their wrapped bytes, so a changed row is unwrapped again.
 * Errors: `misconfigured` when the root key is missing or is not the one that wrapped them, or the list is damaged.
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

/** The keys of a vault that are in this isolate's cache; else `undefined`. */
export const cachedVaultKeys = (keyring: Keyring, vault: string, now: number): VaultKeys | undefined =>
  unwrapped.get(name(keyring, vault), now)?.keys;

/** A text that names the keys. */
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
