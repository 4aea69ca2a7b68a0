import { fail, ok, type Result } from "../model/result.ts";
import { isObject, parseStrictObject } from "../model/strict-json.ts";
import { dayOf } from "../model/time.ts";

/**
 * The secret `ROOT_KEYS`. It is one key with the id `k1` (32 random bytes in base64), or
 *
 *     {"active": "k2", "keys": {"k1": "<32 bytes, base64>", "k2": "…"}, "verify": {"k0": "<public key, base64>"}}
 *
 * All of `keys` decrypt; the `active` key also seals, wraps and signs. `verify` is optional: the Ed25519 public keys (32 bytes,
 * RFC 8032 section 5.1.5) of removed keys, whose tokens are still accepted (contract 20). Other attributes are ignored, so that a
 * later release can add some.
 */
interface RootKeys {
  readonly active: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly verify: ReadonlyMap<string, Uint8Array>;
}

/** The id of a key that is written without one. */
const ONLY = "k1";
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const ROOT_KEY_BYTES = 32;

/** The placeholder in .dev.vars.example. */
const PLACEHOLDER = /^replace-me/;

const malformed = (fault: string) => fail("misconfigured", `ROOT_KEYS is malformed: ${fault}`);

/** Parses the secret. Fails with `misconfigured`; the detail contains no part of the secret. */
function parseRootKeys(secret: string | undefined): Result<RootKeys> {
  const text = secret?.trim() ?? "";
  if (!secret) return fail("misconfigured", "ROOT_KEYS is missing");
  if (PLACEHOLDER.test(text))
    return fail("misconfigured", "ROOT_KEYS is still a placeholder: set it to what `openssl rand -base64 32` prints");
  const only = text.startsWith("{") ? undefined : decode(text);
  return only ? ok({ active: ONLY, keys: new Map([[ONLY, only]]), verify: new Map() }) : parseDocument(text);
}

function parseDocument(text: string): Result<RootKeys> {
  const document = parseStrictObject(new TextEncoder().encode(text));
  if (!document) return malformed("it is neither 32 bytes in base64 nor a JSON object that has each name once");
  const keys = parseTable(document["keys"]);
  if (!keys || keys.size === 0) return malformed("`keys` has no key, or one that is not 32 bytes in base64, or a malformed id");
  if (new Set([...keys.values()].map((key) => key.toHex())).size < keys.size) return malformed("two of `keys` are the same key");
  const verify = parseTable("verify" in document ? document["verify"] : {});
  if (!verify) return malformed("`verify` has a key that is not 32 bytes in base64, or a malformed id");
  if ([...verify.keys()].some((id) => keys.has(id))) return malformed("an id is both in `keys` and in `verify`");
  const { active } = document;
  if (typeof active !== "string" || !keys.has(active)) return malformed("`active` is not the id of one of `keys`");
  return ok({ active, keys, verify });
}

/** Returns the keys by id, or undefined if any key is malformed. */
function parseTable(value: unknown): Map<string, Uint8Array> | undefined {
  if (!isObject(value)) return undefined;
  const table = new Map<string, Uint8Array>();
  for (const [id, text] of Object.entries(value)) {
    const key = typeof text === "string" && KEY_ID.test(id) ? decode(text) : undefined;
    if (!key) return undefined;
    table.set(id, key);
  }
  return table;
}

/** Decodes 32 bytes of base64. Returns undefined for any other text. */
function decode(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text);
    return bytes.length === ROOT_KEY_BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The root keys: the secret `ROOT_KEYS` (root-keys.ts), and the keys that HKDF-SHA-256 (RFC 5869) derives from them. Each derived key has
 * one use; no secret key among them can be exported.
 */

/** Verifies the tokens that a root key signed. */
export interface VerifyingKey {
  readonly id: string;
  /** Ed25519 (RFC 8032). */
  readonly verifying: CryptoKey;
  /** The 32 bytes of `verifying` in base64. */
  readonly publicKey: string;
  /** The first 8 bytes of the SHA-256 of `verifying`, in hexadecimal: names the key to people, and reveals nothing of it. */
  readonly fingerprint: string;
}

export interface RootKey extends VerifyingKey {
  /** AES-256-GCM: wraps the keys of vaults. */
  readonly wrapping: CryptoKey;
  /** AES-256-GCM. Seals values outside vaults, such as the names of tokens. */
  readonly registry: CryptoKey;
  /** HKDF: derives the keys of `derivedKey`. */
  readonly base: CryptoKey;
  /** Ed25519 (RFC 8032). */
  readonly signing: CryptoKey;
}

export interface Keyring {
  /** Different for each parsed secret: part of cache keys, so that a result of one keyring never serves another. */
  readonly id: string;
  /** Seals, wraps and signs. The other keys only decrypt, unwrap and verify. */
  readonly active: RootKey;
  readonly keys: ReadonlyMap<string, RootKey>;
  /** The keys of accepted tokens: those in `keys`, and the public keys of removed root keys. */
  readonly verifying: ReadonlyMap<string, VerifyingKey>;
}

const INFO = "item-vault/v1/";

let memo: { secret: string; keyring: Keyring } | undefined;

/** Parses the secret. The keyring is cached for the life of the isolate. Fails as `parseRootKeys` does. */
export async function openKeyring(secret: string | undefined): Promise<Result<Keyring>> {
  if (secret && memo?.secret === secret) return ok(memo.keyring);
  const parsed = parseRootKeys(secret);
  if (!parsed.ok) return parsed;
  const { active, keys: roots, verify } = parsed.value;
  const keys = new Map<string, RootKey>();
  for (const [id, bytes] of roots) keys.set(id, await derive(id, bytes));
  const verifying = new Map<string, VerifyingKey>(keys);
  try {
    for (const [id, point] of verify) verifying.set(id, { id, ...(await verifyingKey(point)) });
  } catch {
    return fail("misconfigured", "ROOT_KEYS is malformed: `verify` has a text that is no Ed25519 public key");
  }
  memo = { secret: secret!, keyring: { id: crypto.randomUUID(), active: keys.get(active)!, keys, verifying } };
  return ok(memo.keyring);
}

async function derive(id: string, root: Uint8Array): Promise<RootKey> {
  const base = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const [wrapping, registry, seed] = await Promise.all([
    deriveKey(base, "key-encryption", "AES-GCM"),
    deriveKey(base, "registry", "AES-GCM"),
    deriveBits(base, "token-signing"),
  ]);
  return { id, wrapping, registry, base, ...(await signatureKeys(new Uint8Array(seed))) };
}

/** Derives 32 bytes for one use from the HKDF key of a root key. No two keys may have the same use. */
export const deriveBits = (base: CryptoKey, use: string): Promise<ArrayBuffer> =>
  crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new TextEncoder().encode(INFO + use) },
    base,
    256,
  );

/** HMAC-SHA-256 (RFC 2104) or AES-256-GCM. */
type Algorithm = "HMAC" | "AES-GCM";

async function deriveKey(base: CryptoKey, use: string, name: Algorithm): Promise<CryptoKey> {
  const usages = name === "HMAC" ? ["sign", "verify"] : ["encrypt", "decrypt"];
  return crypto.subtle.importKey("raw", await deriveBits(base, use), { name, hash: "SHA-256" }, false, usages);
}

/** Keys of a root key in the cache: all uses, and more days than a page of a log has. */
const CACHED_KEYS_MAX = 256;

const derived = new WeakMap<CryptoKey, Map<string, CryptoKey>>();

/** Returns a root key's key for one use. The key is cached. */
export async function derivedKey({ base }: RootKey, use: string, algorithm: Algorithm): Promise<CryptoKey> {
  const keys = derived.get(base) ?? new Map<string, CryptoKey>();
  const key = keys.get(use) ?? (await deriveKey(base, use, algorithm));
  if (keys.size >= CACHED_KEYS_MAX) keys.clear();
  derived.set(base, keys.set(use, key));
  return key;
}

/**
 * Returns a root key's AES-256-GCM key for the UTC day of `time`, in Unix milliseconds. It seals entries of the activity log, and bookmarks for
 * clients. AES-GCM with random nonces allows 2^32 texts under one key (NIST SP 800-38D section 8.3), which 1,000 texts a second reach in 50
 * days.
 */
export const dayKey = (root: RootKey, time: number): Promise<CryptoKey> => derivedKey(root, `activity/${dayOf(time)}`, "AES-GCM");

/** PKCS #8 of an Ed25519 private key, up to the 32 bytes of the seed (RFC 8410 section 7). */
const PKCS8 = Uint8Array.fromHex("302e020100300506032b657004220420");

async function signatureKeys(seed: Uint8Array): Promise<Omit<RootKey, "id" | "wrapping" | "registry" | "base">> {
  const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
  // Web Crypto derives the public key only from an exportable private key.
  const exportable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", exportable)) as JsonWebKey;
  const point = Uint8Array.fromBase64(x!, { alphabet: "base64url" });
  const [signing, verifying] = await Promise.all([
    crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]),
    verifyingKey(point),
  ]);
  return { signing, ...verifying };
}

/** Imports the 32 bytes of an Ed25519 public key. */
async function verifyingKey(point: Uint8Array): Promise<Omit<VerifyingKey, "id">> {
  const [verifying, hash] = await Promise.all([
    crypto.subtle.importKey("raw", point, "Ed25519", false, ["verify"]),
    crypto.subtle.digest("SHA-256", point),
  ]);
  return { verifying, publicKey: point.toBase64(), fingerprint: new Uint8Array(hash).subarray(0, 8).toHex() };
}
