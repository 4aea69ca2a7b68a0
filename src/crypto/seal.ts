import { idDigits, NIL_ID } from "../model/ids.ts";
import { fail, map, ok, type Result } from "../model/result.ts";
import { concat } from "./bytes.ts";

/**
 * Sealed text: AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, bound to its row by associated data.
 *
 *     base64( version 1 | algorithm 1 | number of the key 1 | nonce 12 | ciphertext | tag 16 )
 *
 * The nonce is never derived from a version, because a restored database repeats versions. The header is the first 4 characters
 * of the base64, and the nonce the next 16, so that SQL can compare them. The number selects the vault key that decrypts the
 * text. The associated data contains the header and the id of the key. So no other key, version or algorithm decrypts the text.
 */

/** The kinds of sealed texts. The number is part of the associated data: never reuse one. */
export const KINDS = {
  dataKey: 1,
  indexKey: 2,
  vaultName: 3,
  overview: 4,
  details: 5,
  idempotencyRecord: 6,
  token: 7,
  proof: 8,
  file: 9,
  activity: 10,
  webhook: 11,
  session: 12,
  signInCode: 13,
  vaultDescription: 14,
  handOver: 15,
  bookmark: 16,
  exchange: 18, // 17 was the kind of stored keys of issuers
  authorizationCode: 19,
  loginCode: 20,
} as const;

/** Binds a sealed text to its row. The id of the key is added before use. */
export interface AssociatedData {
  readonly kind: keyof typeof KINDS;
  /** A canonical UUID, or `NOWHERE` outside vaults. */
  readonly vault: string;
  readonly record: string;
  readonly version: number;
}

/** The associated data of a sealed text. No other data decrypts the text. */
export interface KeyedAssociatedData extends AssociatedData {
  /** The id of the key: at most 32 ASCII characters. */
  readonly key: string;
}

export const NOWHERE = NIL_ID;

const FORMAT = 1;
const AES_256_GCM = 1;
/** The key number in texts under service keys, which are derived from root keys. The keys of vaults are numbered from 1. */
const SERVICE_KEY = 0;
const NONCE_BYTES = 12;
/** The bytes of a nonce that the caller of `seal` may draw. */
export const NONCE_PREFIX_BYTES = 8;
const HEADER_BYTES = 3;
/** Characters of the header of a sealed text. */
export const HEADER_LENGTH = 4;
export const HEADER_AND_NONCE_LENGTH = 20;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 32;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the header of texts under the key with this number. */
const headerBytes = (number: number): Uint8Array<ArrayBuffer> => Uint8Array.of(FORMAT, AES_256_GCM, number);

/** Fixed width, so that no two objects give the same bytes: header 3, kind 1, vault 16, record 16, version 8, key id 32. */
function encodeAssociatedData(number: number, associatedData: KeyedAssociatedData): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 1 + 16 + 16 + 8 + KEY_ID_BYTES);
  bytes.set(headerBytes(number));
  bytes[3] = KINDS[associatedData.kind];
  bytes.subarray(4).setFromHex(idDigits(associatedData.vault) + idDigits(associatedData.record));
  new DataView(bytes.buffer).setBigUint64(36, BigInt(associatedData.version));
  encoder.encodeInto(associatedData.key, bytes.subarray(44));
  return bytes;
}

/** Returns the header of texts under a vault key with this number, in base64. */
export const headerOf = (number: number): string => headerBytes(number).toBase64();

/** Returns the length of a number of bytes in padded base64. */
const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Returns the length of the sealed form of a text, in characters of base64. */
export const sealedLength = (text: string): number =>
  base64Length(HEADER_BYTES + NONCE_BYTES + encoder.encode(text).length + TAG_BYTES);

const algorithm = ({ number, nonce }: Pick<SealedParts, "number" | "nonce">, associatedData: KeyedAssociatedData) => ({
  name: "AES-GCM",
  iv: nonce,
  additionalData: encodeAssociatedData(number, associatedData),
  tagLength: 8 * TAG_BYTES,
});

export interface SealOptions {
  /** The number of the key of a vault; absent for a key of the service. */
  readonly number?: number | undefined;
  /**
   * The first bytes of the nonce, for a caller that must know them in advance: `NONCE_PREFIX_BYTES` random bytes, drawn for this one text
   * (docs/design/reads.md).
   */
  readonly prefix?: Uint8Array | undefined;
}

/** Seals a text (well-formed UTF-16) under an AES-256-GCM key. Returns base64. */
export async function seal(
  key: CryptoKey,
  associatedData: KeyedAssociatedData,
  text: string,
  options?: SealOptions,
): Promise<string> {
  return sealBytes(key, associatedData, encoder.encode(text), options);
}

export async function sealBytes(
  key: CryptoKey,
  associatedData: KeyedAssociatedData,
  plain: Uint8Array,
  { number = SERVICE_KEY, prefix }: SealOptions = {},
): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  if (prefix) nonce.set(prefix.subarray(0, NONCE_PREFIX_BYTES));
  const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm({ number, nonce }, associatedData), key, plain));
  return concat(headerBytes(number), nonce, sealed).toBase64();
}

/** Returns the first bytes of the nonce. The sealed text must be valid. */
export const noncePrefix = (sealed: string): Uint8Array =>
  Uint8Array.fromBase64(sealed.slice(HEADER_LENGTH, HEADER_AND_NONCE_LENGTH)).subarray(0, NONCE_PREFIX_BYTES);

interface SealedParts {
  /** The number of the key, as `seal` got it. */
  readonly number: number;
  readonly nonce: Uint8Array<ArrayBuffer>;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
}

/**
 * Returns undefined for a text that was not sealed. A second spelling of a sealed text is refused too, because `fromBase64` skips
 * white space.
 */
export function parseSealed(sealed: string): SealedParts | undefined {
  try {
    const bytes = Uint8Array.fromBase64(sealed, { lastChunkHandling: "strict" });
    if (sealed.length !== base64Length(bytes.length)) return undefined;
    if (bytes[0] !== FORMAT || bytes[1] !== AES_256_GCM) return undefined;
    const [nonce, ciphertext] = [
      bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES),
      bytes.subarray(HEADER_BYTES + NONCE_BYTES),
    ];
    return { number: bytes[2]!, nonce, ciphertext };
  } catch {
    return undefined;
  }
}

/** Decrypts the parts of a sealed text under the key with their number. Fails with `integrity` for every fault. */
export async function openParts(
  key: CryptoKey,
  associatedData: KeyedAssociatedData,
  parts: SealedParts,
): Promise<Result<Uint8Array>> {
  try {
    return ok(new Uint8Array(await crypto.subtle.decrypt(algorithm(parts, associatedData), key, parts.ciphertext)));
  } catch {
    return fail("integrity");
  }
}

/** Decrypts a text that was sealed under a service key. Fails as `openParts` does. */
export async function open(key: CryptoKey, associatedData: KeyedAssociatedData, sealed: string): Promise<Result<string>> {
  return decodeOpened(await openBytes(key, associatedData, sealed));
}

export async function openBytes(
  key: CryptoKey,
  associatedData: KeyedAssociatedData,
  sealed: string,
): Promise<Result<Uint8Array>> {
  const parts = parseSealed(sealed);
  return parts?.number === SERVICE_KEY ? openParts(key, associatedData, parts) : fail("integrity");
}

/** Decodes decrypted bytes. Throws if they are not UTF-8, which no caller of `seal` produces. */
export const decodeOpened = (opened: Result<Uint8Array>): Result<string> => map(opened, (bytes) => decoder.decode(bytes));

/** HMAC-SHA-256 (RFC 2104), cut to 16 bytes, in base64. */
async function shortMac(key: CryptoKey, bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes)).subarray(0, 16).toBase64();
}

/** Returns the blind index of a text: its `shortMac`. Equal texts of a vault have equal indexes. */
export const blindIndex = (key: CryptoKey, text: string): Promise<string> => shortMac(key, encoder.encode(text));

/**
 * Returns the blind index of a folded name, over the version of the fold and the name. The version must be below 256. The first
 * byte occurs in no UTF-8 text (RFC 3629 section 1), so the index differs from that of every text.
 */
export const foldedBlindIndex = (key: CryptoKey, version: number, folded: string): Promise<string> =>
  shortMac(key, concat(Uint8Array.of(0xff, version), encoder.encode(folded)));

/** Returns the MAC of a list's entity tag, as `blindIndex` does. The first byte keeps it apart from the indexes of texts and folded names. */
export const listMac = (key: CryptoKey, text: string): Promise<string> =>
  shortMac(key, concat(Uint8Array.of(0xfe), encoder.encode(text)));

/** Returns a hash of the parts: SHA-256, cut to 16 bytes, in base64. The lengths of the parts are hashed as separators. */
export async function fingerprint(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const bytes = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const lengths = encoder.encode(bytes.map((part) => part.length).join(","));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", concat(lengths, ...bytes))).subarray(0, 16).toBase64();
}
