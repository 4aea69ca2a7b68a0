/** Converts bytes to text and back with functions of every runtime. Node 20 lacks the methods of Uint8Array. */

/** Bytes as base64 (RFC 4648 section 4). */
export function base64Of(bytes: Uint8Array): string {
  let binary = "";
  // In parts, because a call takes a bounded number of arguments.
  for (let at = 0; at < bytes.length; at += PART_BYTES) binary += String.fromCharCode(...bytes.subarray(at, at + PART_BYTES));
  return btoa(binary);
}

const PART_BYTES = 0x2000;

/** Decodes base64 with or without padding. Returns undefined for any other text. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch {
    return undefined;
  }
}

/** Bytes as hexadecimal digits in lower case. */
export const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const utf8Of = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** The parts one after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
