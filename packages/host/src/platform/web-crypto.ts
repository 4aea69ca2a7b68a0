import * as node from "node:crypto";

/**
 * Web Crypto over node:crypto. The operations are real, but synchronous. Node's own run on a thread pool. They take five times as long for a
 * short text, and complete in an order that no seed of the simulator determines. Algorithms used only for tokens of other issuers are Node's
 * own.
 */

/** Stands for a CryptoKey. `jose` identifies a key by its tag. */
interface Key {
  readonly type: "secret" | "private" | "public";
  readonly algorithm: { readonly name: string };
  readonly extractable: boolean;
  readonly usages: readonly string[];
  readonly object: node.KeyObject;
  /** The hash of an HMAC key. */
  readonly hash: string;
  readonly [Symbol.toStringTag]: "CryptoKey";
}

type Algorithm = string | { readonly name: string; readonly hash?: string };
type Gcm = { readonly iv: Uint8Array; readonly additionalData?: Uint8Array };

const TAG = 16;

const nameOf = (algorithm: Algorithm): string => (typeof algorithm === "string" ? algorithm : algorithm.name);

const bytesOf = (data: ArrayBuffer | Uint8Array): Uint8Array => (data instanceof Uint8Array ? data : new Uint8Array(data));

/** An ArrayBuffer of its own, because Node's results may share one. */
const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

function objectOf(format: string, name: string, bytes: Uint8Array): node.KeyObject {
  if (name !== "Ed25519") return node.createSecretKey(bytes);
  if (format === "pkcs8") return node.createPrivateKey({ key: Buffer.from(bytes), format: "der", type: "pkcs8" });
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(bytes).toString("base64url") };
  return node.createPublicKey({ key: jwk, format: "jwk" });
}

const NAMES: ReadonlySet<string> = new Set(["AES-GCM", "HKDF", "HMAC", "Ed25519"]);

const isNative = (key: Key | node.webcrypto.CryptoKey): key is node.webcrypto.CryptoKey => !("object" in key);

const native = node.webcrypto.subtle;

/** The operations of SubtleCrypto that the service uses, and workerd's `timingSafeEqual`. */
export const subtle = {
  async importKey(
    format: string,
    data: ArrayBuffer | Uint8Array,
    algorithm: Algorithm,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<Key | node.webcrypto.CryptoKey> {
    const name = nameOf(algorithm);
    if (format === "jwk" || !NAMES.has(name))
      return native.importKey(format as "raw", data as Uint8Array<ArrayBuffer>, algorithm, extractable, usages as "verify"[]);
    const object = objectOf(format, name, bytesOf(data));
    const hash = (typeof algorithm === "object" && algorithm.hash ? algorithm.hash : "SHA-256").replace("-", "").toLowerCase();
    return { type: object.type, algorithm: { name }, extractable, usages, object, hash, [Symbol.toStringTag]: "CryptoKey" };
  },

  async exportKey(_format: string, { object }: Key): Promise<node.JsonWebKey> {
    return node.createPublicKey(object).export({ format: "jwk" });
  },

  async deriveBits({ salt, info }: { salt: Uint8Array; info: Uint8Array }, { object }: Key, bits: number): Promise<ArrayBuffer> {
    return node.hkdfSync("sha256", object, salt, info, bits / 8);
  },

  async encrypt({ iv, additionalData }: Gcm, { object }: Key, data: Uint8Array): Promise<ArrayBuffer> {
    const cipher = node.createCipheriv("aes-256-gcm", object, iv);
    if (additionalData) cipher.setAAD(additionalData);
    const sealed = new Uint8Array(data.length + TAG);
    sealed.set(cipher.update(data));
    cipher.final();
    sealed.set(cipher.getAuthTag(), data.length);
    return sealed.buffer;
  },

  async decrypt({ iv, additionalData }: Gcm, { object }: Key, data: Uint8Array): Promise<ArrayBuffer> {
    const decipher = node.createDecipheriv("aes-256-gcm", object, iv, { authTagLength: TAG });
    if (additionalData) decipher.setAAD(additionalData);
    decipher.setAuthTag(data.subarray(data.length - TAG));
    const plain = decipher.update(data.subarray(0, data.length - TAG));
    decipher.final();
    return bufferOf(plain);
  },

  async sign(_algorithm: Algorithm, { algorithm, object, hash }: Key, data: Uint8Array): Promise<ArrayBuffer> {
    const signed =
      algorithm.name === "HMAC" ? node.createHmac(hash, object).update(data).digest() : node.sign(null, data, object);
    return bufferOf(signed);
  },

  async verify(
    given: Algorithm,
    key: Key | node.webcrypto.CryptoKey,
    signature: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<boolean> {
    if (isNative(key)) return native.verify(given, key, signature, data);
    const { algorithm, object, hash } = key;
    if (algorithm.name === "HMAC") {
      const expected = node.createHmac(hash, object).update(data).digest();
      return expected.length === signature.length && node.timingSafeEqual(expected, signature);
    }
    return node.verify(null, data, object, signature);
  },

  async digest(algorithm: Algorithm, data: ArrayBuffer | Uint8Array): Promise<ArrayBuffer> {
    return bufferOf(node.hash(nameOf(algorithm).replace("-", "").toLowerCase(), bytesOf(data), "buffer"));
  },

  timingSafeEqual: (a: ArrayBuffer | Uint8Array, b: ArrayBuffer | Uint8Array): boolean =>
    node.timingSafeEqual(bytesOf(a), bytesOf(b)),
};
