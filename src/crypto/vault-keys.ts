import { fail, ok, type Result } from "../model/result.ts";
import { MINUTE } from "../model/time.ts";
import { createCache } from "./cache.ts";
import type { Keyring, RootKey } from "./keyring.ts";
import { openBytes, type Place, sealBytes } from "./seal.ts";

/** A vault's own keys: random, wrapped under a root key. Without the wrapped keys no row of the vault opens. */

export interface VaultKeys {
  /** The id of both: the 32 hexadecimal digits of a UUID. */
  readonly id: string;
  /** AES-256-GCM. */
  readonly data: CryptoKey;
  /** HMAC-SHA-256. */
  readonly index: CryptoKey;
  /** The keys before, while the rows of the vault are sealed again under these ones. */
  readonly previous?: VaultKeys | undefined;
}

/** The two keys of a vault, each wrapped. */
export interface WrappedPair {
  /** A canonical UUID. */
  readonly dataKeyId: string;
  readonly dataKey: string;
  readonly indexKey: string;
}

/** The wrapped keys, as the columns of the vault's row. */
export interface WrappedKeys extends WrappedPair {
  /** Wraps the previous keys too. */
  readonly rootKeyId: string;
  readonly previous?: WrappedPair | undefined;
}

const unwrapped = createCache<{ wrapped: string; keys: VaultKeys }>(512, 5 * MINUTE);

/** A wrapped key is bound to its vault, to its own id and to that of the root key. */
const place = (kind: "dataKey" | "indexKey", vault: string, id: string, root: RootKey): Place => ({
  kind,
  vault,
  record: id,
  version: 1,
  key: root.id,
});

/** Creates the keys of a new vault, wrapped under the active root key. In: the ids of the vault and of the keys, canonical UUIDs. */
export async function createVaultKeys(
  keyring: Keyring,
  vault: string,
  dataKeyId: string = crypto.randomUUID(),
): Promise<{ keys: VaultKeys; wrapped: WrappedKeys }> {
  const root = keyring.active;
  const [data, index] = [random(32), random(32)];
  const wrapped = {
    rootKeyId: root.id,
    dataKeyId,
    dataKey: await sealBytes(root.wrapping, place("dataKey", vault, dataKeyId, root), data),
    indexKey: await sealBytes(root.wrapping, place("indexKey", vault, dataKeyId, root), index),
  };
  return { keys: await importKeys(dataKeyId, data, index), wrapped };
}

/** The detail of the failure of a vault whose keys are damaged, or were wrapped by another root key. */
export const KEYS_DO_NOT_OPEN = "a vault's keys do not open";

/**
 * Wraps the keys of a vault under another root key. The keys themselves stay, so nothing that they have sealed changes.
 * Errors: `misconfigured` when `from` is not the root key that wrapped them.
 */
export async function rewrapVaultKeys(
  from: RootKey,
  to: RootKey,
  vault: string,
  pair: WrappedPair,
): Promise<Result<WrappedPair>> {
  const rewrap = async (kind: "dataKey" | "indexKey"): Promise<string | undefined> => {
    const opened = await openBytes(from.wrapping, place(kind, vault, pair.dataKeyId, from), pair[kind]);
    return opened.ok ? sealBytes(to.wrapping, place(kind, vault, pair.dataKeyId, to), opened.value) : undefined;
  };
  const [dataKey, indexKey] = await Promise.all([rewrap("dataKey"), rewrap("indexKey")]);
  if (dataKey === undefined || indexKey === undefined) return fail("misconfigured", KEYS_DO_NOT_OPEN);
  return ok({ dataKeyId: pair.dataKeyId, dataKey, indexKey });
}

/**
 * Creates new keys for a vault, and wraps its previous ones with them under the active root key. In: the id of the new keys; the keys
 * of the vault. Throws when the wrapped ones do not open.
 */
export async function replaceVaultKeys(
  keyring: Keyring,
  vault: string,
  dataKeyId: string,
  before: { readonly keys: VaultKeys; readonly wrapped: WrappedKeys },
): Promise<{ keys: VaultKeys; wrapped: WrappedKeys }> {
  const root = keyring.keys.get(before.wrapped.rootKeyId);
  const previous = root && (await rewrapVaultKeys(root, keyring.active, vault, before.wrapped));
  if (!previous?.ok) throw new Error("the keys of the vault do not open");
  const { keys, wrapped } = await createVaultKeys(keyring, vault, dataKeyId);
  return { keys: { ...keys, previous: before.keys }, wrapped: { ...wrapped, previous: previous.value } };
}

/**
 * Unwraps the keys of a vault. Key objects are cached with their wrapped bytes, so a changed row is unwrapped again.
 * Errors: `misconfigured` when the root key is missing or is not the one that wrapped them.
 */
export async function unwrapVaultKeys(
  keyring: Keyring,
  vault: string,
  row: WrappedKeys,
  now: number,
): Promise<Result<VaultKeys>> {
  const root = keyring.keys.get(row.rootKeyId);
  if (!root) return fail("misconfigured", "a root key is missing");
  const { previous } = row;
  const wrapped = [row.rootKeyId, ...[row, ...(previous ? [previous] : [])].flatMap(textsOf)].join();
  const cached = unwrapped.get(name(keyring, vault), now);
  if (cached?.wrapped === wrapped) return ok(cached.keys);
  const [current, before] = [await openPair(root, vault, row), previous && (await openPair(root, vault, previous))];
  if (!current || (previous && !before)) return fail("misconfigured", KEYS_DO_NOT_OPEN);
  const keys = before ? { ...current, previous: before } : current;
  unwrapped.set(name(keyring, vault), { wrapped, keys }, now);
  return ok(keys);
}

const textsOf = ({ dataKeyId, dataKey, indexKey }: WrappedPair): string[] => [dataKeyId, dataKey, indexKey];

async function openPair(root: RootKey, vault: string, pair: WrappedPair): Promise<VaultKeys | undefined> {
  const data = await openBytes(root.wrapping, place("dataKey", vault, pair.dataKeyId, root), pair.dataKey);
  const index = await openBytes(root.wrapping, place("indexKey", vault, pair.dataKeyId, root), pair.indexKey);
  return data.ok && index.ok ? importKeys(pair.dataKeyId, data.value, index.value) : undefined;
}

/** The keys of a vault that are in this isolate's cache; else `undefined`. */
export const cachedVaultKeys = (keyring: Keyring, vault: string, now: number): VaultKeys | undefined =>
  unwrapped.get(name(keyring, vault), now)?.keys;

const name = (keyring: Keyring, vault: string) => `${keyring.id}.${vault}`;

async function importKeys(id: string, data: Uint8Array, index: Uint8Array): Promise<VaultKeys> {
  return {
    id: id.replaceAll("-", ""),
    data: await crypto.subtle.importKey("raw", data, "AES-GCM", false, ["encrypt", "decrypt"]),
    index: await crypto.subtle.importKey("raw", index, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
  };
}

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
