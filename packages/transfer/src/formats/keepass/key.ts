import { createHash, timingSafeEqual } from "node:crypto";
import { sourceFault } from "../../error.ts";
import { childOf, parseXml, textOf } from "./xml.ts";

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * The composite key (keepass.info/help/base/keys.html): SHA-256 over the hash of the password and the key of the key file. With a key
 * file, an empty password counts as none.
 */
export function compositeKey(password: string, keyFile: Uint8Array | undefined): Uint8Array {
  const parts = [...(password === "" && keyFile ? [] : [sha256(password)]), ...(keyFile ? [keyOfFile(keyFile)] : [])];
  return sha256(...parts);
}

/** A key file: XML of version 1 (base64) or 2 (hexadecimal with a hash), 32 bytes, 64 hexadecimal digits, or any other file. */
export function keyOfFile(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  if (/^(\xef\xbb\xbf)?\s*(<\?xml|<KeyFile)/.test(text) && text.includes("<KeyFile")) return keyOfXml(text);
  if (bytes.length === 32) return bytes;
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : sha256(bytes);
}

function keyOfXml(text: string): Uint8Array {
  const file = parseXml(text.replace("\xef\xbb\xbf", ""), "The key file");
  const data = childOf(childOf(file, "Key"), "Data");
  const content = textOf(data).replaceAll(/\s/g, "");
  const version = textOf(childOf(childOf(file, "Meta"), "Version")).trim();
  const key = Buffer.from(content, version.startsWith("2") ? "hex" : "base64");
  const hash = Buffer.from(data?.attributes["Hash"] ?? "", "hex");
  const damaged = hash.length > 0 && !(hash.length === 4 && timingSafeEqual(sha256(key).subarray(0, 4), hash));
  if (key.length !== 32 || damaged) throw sourceFault("The key file", "is damaged");
  return key;
}
