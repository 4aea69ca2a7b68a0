import { dayOf } from "../model/time.ts";
import { deriveKey, type RootKey } from "./keyring.ts";

/**
 * The keys of days: entries of the activity log, and bookmarks for clients, are sealed under a key derived for their day. AES-GCM with random
 * nonces allows 2^32 texts under one key (NIST SP 800-38D section 8.3), which 1,000 texts a second reach in 50 days.
 */

/** More keys than one page of the log usually needs. */
const CACHED_KEYS_MAX = 64;

const derived = new WeakMap<CryptoKey, Map<string, CryptoKey>>();

/** Returns a root key's AES-256-GCM key for the UTC day of `time`, in Unix milliseconds. The key is cached. */
export async function dayKey({ base }: RootKey, time: number): Promise<CryptoKey> {
  const day = dayOf(time);
  const keys = derived.get(base) ?? new Map<string, CryptoKey>();
  const key = keys.get(day) ?? (await deriveKey(base, `activity/${day}`));
  if (keys.size >= CACHED_KEYS_MAX) keys.clear();
  derived.set(base, keys.set(day, key));
  return key;
}
