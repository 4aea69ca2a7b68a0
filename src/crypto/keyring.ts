import { fail, ok, type Result } from "../model/result.ts";

/**
 * The root keys: the secret `ROOT_KEYS`, `{"active":"k1","keys":{"k1":"<32 bytes base64>"}}`, and the keys that
 * HKDF-SHA-256 (RFC 5869) derives from them. Each derived key has one use; none can be exported.
 */

export interface RootKey {
  readonly id: string;
  /** AES-256-GCM: wraps the keys of vaults. */
  readonly wrapping: CryptoKey;
  /** AES-256-GCM: seals what belongs to no vault, such as the names of tokens. */
  readonly registry: CryptoKey;
  /** HKDF: derives the keys of days (day-keys.ts). */
  readonly base: CryptoKey;
  /** Ed25519 (RFC 8032). */
  readonly signing: CryptoKey;
  readonly verifying: CryptoKey;
}

export interface Keyring {
  /** Different for each parsed secret: part of cache keys, so that a result of one keyring never serves another. */
  readonly id: string;
  /** Seals, wraps and signs. The other keys only open, unwrap and verify. */
  readonly active: RootKey;
  readonly keys: ReadonlyMap<string, RootKey>;
}

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const INFO = "item-vault/v1/";

let memo: { secret: string; keyring: Keyring } | undefined;

/** Parses the secret. The keyring is cached for the life of the isolate. Errors: `misconfigured`, when the secret is missing or malformed. */
export async function openKeyring(secret: string | undefined): Promise<Result<Keyring>> {
  if (!secret) return fail("misconfigured", "ROOT_KEYS is missing");
  if (memo?.secret === secret) return ok(memo.keyring);
  const roots = parse(secret);
  if (!roots) return fail("misconfigured", "ROOT_KEYS is malformed");
  const keys = new Map<string, RootKey>();
  for (const [id, bytes] of roots.keys) keys.set(id, await derive(id, bytes));
  memo = { secret, keyring: { id: crypto.randomUUID(), active: keys.get(roots.active)!, keys } };
  return ok(memo.keyring);
}

function parse(secret: string): { active: string; keys: Map<string, Uint8Array> } | undefined {
  try {
    const { active, keys } = JSON.parse(secret) as { active: string; keys: Record<string, string> };
    const bytes = new Map(Object.entries(keys).map(([id, key]) => [id, Uint8Array.fromBase64(key)]));
    const valid = [...bytes].every(([id, key]) => KEY_ID.test(id) && key.length === 32);
    return valid && bytes.has(active) ? { active, keys: bytes } : undefined;
  } catch {
    return undefined; // the error may quote the secret
  }
}

async function derive(id: string, root: Uint8Array): Promise<RootKey> {
  const base = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const [wrapping, registry, seed] = await Promise.all([
    deriveKey(base, "key-encryption"),
    deriveKey(base, "registry"),
    deriveBits(base, "token-signing"),
  ]);
  return { id, wrapping, registry, base, ...(await signatureKeys(new Uint8Array(seed))) };
}

const deriveBits = (base: CryptoKey, use: string): Promise<ArrayBuffer> =>
  crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new TextEncoder().encode(INFO + use) },
    base,
    256,
  );

/** An AES-256-GCM key for one use. In: the HKDF key of a root key, and the use, which no other key may have. */
export const deriveKey = async (base: CryptoKey, use: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", await deriveBits(base, use), "AES-GCM", false, ["encrypt", "decrypt"]);

/** PKCS #8 of an Ed25519 private key, up to the 32 bytes of the seed (RFC 8410 section 7). */
const PKCS8 = Uint8Array.fromHex("302e020100300506032b657004220420");

async function signatureKeys(seed: Uint8Array): Promise<Pick<RootKey, "signing" | "verifying">> {
  const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
  // Web Crypto derives the public key only from an exportable private key.
  const exportable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", exportable)) as JsonWebKey;
  const point = Uint8Array.fromBase64(x!, { alphabet: "base64url" });
  const [signing, verifying] = await Promise.all([
    crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]),
    crypto.subtle.importKey("raw", point, "Ed25519", false, ["verify"]),
  ]);
  return { signing, verifying };
}
