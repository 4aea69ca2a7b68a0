import { utf8Of } from "../../bytes.ts";
import { lookup } from "../../lookup.ts";
import type { Losses } from "../../losses.ts";

/** The texts that Bitwarden's servers accept. They measure the encrypted form, and refuse a whole import for one text that is too long. */

/** The most characters of an encrypted text, by the name of its attribute. */
const ENCRYPTED_MAX: Readonly<Record<string, number>> = {
  notes: 10_000,
  uri: 10_000,
  value: 5_000,
  privateKey: 5_000,
  publicKey: 5_000,
};
const ENCRYPTED_MAX_OF_OTHERS = 1_000;

/** `2.<iv>|<ciphertext>|<mac>` without the ciphertext: base64 of 16 and of 32 bytes, and four further characters. */
const FRAME = 24 + 44 + 4;
const BLOCK_BYTES = 16;

/** Returns how many bytes of a text fit: base64 of whole blocks of AES, of which the last one has padding. */
function bytesThatFit(encrypted: number): number {
  const bytes = Math.floor((encrypted - FRAME) / 4) * 3;
  return Math.floor(bytes / BLOCK_BYTES) * BLOCK_BYTES - 1;
}

/** Counts the texts of an item that are too long, at any depth. */
export function countTooLong(value: unknown, title: string, losses: Losses, name = ""): void {
  if (Array.isArray(value)) for (const element of value) countTooLong(element, title, losses, name);
  else if (typeof value === "object" && value !== null)
    for (const [attribute, part] of Object.entries(value)) countTooLong(part, title, losses, attribute);
  if (typeof value !== "string") return;
  const most = bytesThatFit(lookup(ENCRYPTED_MAX, name) ?? ENCRYPTED_MAX_OF_OTHERS);
  if (utf8Of(value).length > most)
    losses.add(`“${name}” of more than ${most} bytes: Bitwarden refuses the whole file until it is shorter`, title);
}
