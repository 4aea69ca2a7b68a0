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
}

/** The wrapped keys, as the columns of the vault's row. */
export interface WrappedKeys {
  readonly rootKeyId: string;
  readonly dataKeyId: string;
  readonly dataKey: string;
  readonly indexKey: string;
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

/** Creates the keys of a new vault, wrapped under the active root key. In: the vault's id, a canonical UUID. */
export async function createVaultKeys(keyring: Keyring, vault: string): Promise<{ keys: VaultKeys; wrapped: WrappedKeys }> {
  const root = keyring.active;
  const [data, index] = [random(32), random(32)];
  const dataKeyId = crypto.randomUUID();
  const wrapped = {
    rootKeyId: root.id,
    dataKeyId,
    dataKey: await sealBytes(root.wrapping, place("dataKey", vault, dataKeyId, root), data),
    indexKey: await sealBytes(root.wrapping, place("indexKey", vault, dataKeyId, root), index),
  };
  return { keys: await importKeys(dataKeyId, data, index), wrapped };
}

/** The two keys of a vault in wrapped form, with the id that both have. */
export type WrappedPair = Pick<WrappedKeys, "dataKeyId" | "dataKey" | "indexKey">;

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
  if (dataKey === undefined || indexKey === undefined) return fail("misconfigured", "a vault's keys do not open");
  return ok({ dataKeyId: pair.dataKeyId, dataKey, indexKey });
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
  const wrapped = [row.rootKeyId, row.dataKeyId, row.dataKey, row.indexKey].join();
  const cached = unwrapped.get(name(keyring, vault), now);
  if (cached?.wrapped === wrapped) return ok(cached.keys);
  const data = await openBytes(root.wrapping, place("dataKey", vault, row.dataKeyId, root), row.dataKey);
  const index = await openBytes(root.wrapping, place("indexKey", vault, row.dataKeyId, root), row.indexKey);
  if (!data.ok || !index.ok) return fail("misconfigured", "a vault's keys do not open");
  const keys = await importKeys(row.dataKeyId, data.value, index.value);
  unwrapped.set(name(keyring, vault), { wrapped, keys }, now);
  return ok(keys);
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
