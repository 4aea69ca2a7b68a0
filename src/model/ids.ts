import { defect } from "./result.ts";
/** Ids: 128 bits, stored as the canonical text of a UUID (RFC 9562), written in one of two forms (contract 3). */

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID = new RegExp(CANONICAL, "i");

/** The Nil UUID (RFC 9562 section 5.9), which is the id of nothing that was made. */
export const NIL_ID = "00000000-0000-0000-0000-000000000000";

const SHORT = /^[a-z0-9]{26}$/;
/** The two hexadecimal digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567"; // RFC 4648 section 6, in lower case

export const isId = (text: string): boolean => CANONICAL.test(text);

/**
 * Parses an id in either form. Returns the canonical UUID, or undefined if the text does not have the form of an id. A text that
 * has the form but names nothing is returned unchanged, so that every lookup misses.
 */
export function parseId(text: string): string | undefined {
  if (UUID.test(text)) return text.toLowerCase();
  if (!SHORT.test(text)) return undefined;
  let bits = 0n;
  for (const character of text) {
    const digit = BASE32.indexOf(character);
    if (digit < 0) return text;
    bits = (bits << 5n) | BigInt(digit);
  }
  // 26 digits carry 130 bits: the last two are padding and must be zero (RFC 4648 section 3.5).
  return (bits & 3n) === 0n ? hyphenate((bits >> 2n).toString(16).padStart(32, "0")) : text;
}

/** Unpadded lower-case base32 (RFC 4648 section 6): 16 bytes give 26 characters. */
export function base32(bytes: Uint8Array): string {
  let out = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) out += BASE32[(buffer >> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? out + BASE32[(buffer << (5 - bits)) & 31] : out;
}

/** Returns the 26 characters of a canonical id. The function runs under Node 20, as the command line does. */
export const shortId = (id: string): string =>
  base32(Uint8Array.from(idDigits(id).match(/../g)!, (digits) => parseInt(digits, 16)));

/** Decodes lower-case base32 without padding. Bits of the last digit that do not fill a byte are dropped. Throws on other digits. */
export function base32Bytes(digits: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor((digits.length * 5) / 8));
  let [buffer, bits, length] = [0, 0, 0];
  for (const digit of digits) {
    const value = BASE32.indexOf(digit);
    if (value < 0) throw defect("not a digit of base32");
    buffer = (buffer << 5) | value;
    bits += 5;
    if (bits >= 8) bytes[length++] = buffer >> (bits -= 8);
    buffer &= (1 << bits) - 1;
  }
  return bytes;
}

/** A text in the form of an id that names nothing: no Item can get it, even by `Item-Id`. */
export const NAMES_NOTHING = "0".repeat(26);

/** Returns the 32 digits of a canonical UUID. Throws for any other spelling, so that two texts never give the same bytes. */
export function idDigits(id: string): string {
  if (!isId(id)) throw defect("not a canonical id");
  return id.replaceAll("-", "");
}

/** Returns the 16 bytes of a canonical UUID. Throws as `idDigits` does. */
export const idBytes = (id: string): Uint8Array => Uint8Array.fromHex(idDigits(id));

/**
 * Returns a UUIDv7 (RFC 9562 section 5.7): ids made later sort later. `now` is a non-negative integer of Unix milliseconds,
 * `random` 10 random bytes. Throws for any other time, because its id would have no order.
 */
export function operationId(now: number, random: Uint8Array): string {
  if (!Number.isSafeInteger(now) || now < 0) throw defect("not a time in milliseconds");
  let hex = now.toString(16).padStart(12, "0");
  for (const byte of random) hex += HEX[byte]!; // without `toHex`, which Node 20 lacks, under which the command line runs
  return stamped(hex, 7);
}

/**
 * Returns the smallest operation id of a time in Unix milliseconds: smaller ids are older. For a time before 1970, as with a very
 * long retention, no id is older.
 */
export const firstIdAt = (time: number): string => operationId(Math.max(0, time), new Uint8Array(10));

/**
 * Returns the beginning of all operation ids of a time, in Unix milliseconds. It sorts before these ids, and after all ids of earlier times.
 */
export const timePrefix = (time: number): string => firstIdAt(time).slice(0, 13);

/** Returns the time of an operation id, in Unix milliseconds. */
export const timeOf = (id: string): number => parseInt(id.replace("-", "").slice(0, 12), 16);

/** Returns true if an id is a UUIDv7. */
export const isOperationId = (id: string): boolean => id[14] === "7";

/** Returns an id in the form of a UUIDv4 (RFC 9562 section 5.4) from 16 bytes. */
export function uuidOf(bytes: Uint8Array): string {
  return stamped(bytes.toHex(), 4);
}

/** 32 hexadecimal digits as a UUID, with the bits of version and variant set (RFC 9562 section 4). */
function stamped(hex: string, version: number): string {
  const variant = 8 + (parseInt(hex[16]!, 16) & 3);
  return hyphenate(`${hex.slice(0, 12)}${version}${hex.slice(13, 16)}${variant.toString(16)}${hex.slice(17)}`);
}

const hyphenate = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
