import { entityTag, hasTag, type Item, type Precondition } from "../model/item.ts";
import { invalid, ok, type Result } from "../model/result.ts";

/** The entity tags of Items in headers (RFC 9110 section 8.8.3). */

export const etagHeader = (item: Pick<Item, "version" | "nonce">): Record<string, string> => ({ ETag: `"${entityTag(item)}"` });

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
/** The tags that an Item can have. Another one, as a bare version, matches nothing. */
const ITEM_TAG = /"([1-9]\d{0,14}-[\da-f]{16})"/g;
/** Empty elements count for nothing (RFC 9110 section 5.6.1.2). */
const LIST = new RegExp(String.raw`^[\s,]*${TAG}(?:\s*,[\s,]*${TAG})*[\s,]*$`);

/**
 * Parses `If-Match` (RFC 9110 section 13.1.1). Returns undefined if the header is absent. Fails with 400 if it is not a list of
 * entity tags. A weak tag counts as a strong tag. Cloudflare weakens the tag of a compressed answer, so most clients have only
 * weak tags. This is safe, because an Item has a new tag after each write.
 */
export function parseIfMatch(header: string | undefined): Result<Precondition | undefined> {
  if (header === undefined) return ok(undefined);
  if (header.trim() === "*") return ok("any");
  if (!LIST.test(header)) return invalid("If-Match: is not a list of entity tags");
  return ok([...header.matchAll(ITEM_TAG)].map((match) => match[1]!));
}

/** Returns true if the client already has this version: `If-None-Match` (RFC 9110 section 13.1.2), compared weakly. */
export const isCurrent = (header: string | undefined, item: Item): boolean => hasTag(header, `"${entityTag(item)}"`);
