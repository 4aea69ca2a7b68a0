import { type Purpose, purposeRules } from "@item-vault/model/purposes";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexOf, utf8Of } from "./bytes.ts";
import type { TransferField, TransferFile, TransferState } from "./item.ts";

/** Makes parts of Items. */

export const emptyState = (title: string, category: string): TransferState => ({
  title,
  category,
  tags: [],
  urls: [],
  sections: [],
  fields: [],
});

/** Returns the field of a purpose, or none for an absent value. */
export const fieldOfPurpose = (purpose: Purpose, value: string | undefined): TransferField[] =>
  value === undefined ? [] : [{ purpose, type: purposeRules(purpose).type ?? "STRING", value }];

/** Urls, the first one primary; without repetitions of one label and address. */
export function urlsOf(urls: readonly { readonly href: string; readonly label?: string }[]): TransferState["urls"] {
  const seen = new Set<string>();
  const unique = urls.filter(({ href, label = "" }) => {
    const key = JSON.stringify([href, label]);
    return !seen.has(key) && seen.add(key);
  });
  return unique.map(({ href, label }, index) => Object.assign({ href }, label && { label }, index === 0 && { primary: true }));
}

/** Returns a File whose content is in memory. */
export const fileOf = (name: string, bytes: Uint8Array, section?: string): TransferFile => ({
  name,
  size: bytes.length,
  read: () => Promise.resolve(bytes),
  ...(section ? { section } : {}),
});

/**
 * Returns the id of a new Item. It is 128 bits of SHA-256 over the format, the source and the id there, as a UUID of version 8 (RFC 9562
 * section 5.8). The parts are hashed as a JSON array, so no two triples give the same text.
 */
export function derivedId(format: string, source: string, sourceId: string): string {
  const text = JSON.stringify(["item-vault import 1", format, source, sourceId]);
  const bytes = sha256(utf8Of(text)).subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
