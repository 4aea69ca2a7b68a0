import { includesVersion, type Precondition } from "../model/operation.ts";
import { invalid, ok, type Result } from "../model/result.ts";

/** Entity tags: an Item's is its version in quotes (RFC 9110 section 8.8.3). */

export const entityTag = (version: number): string => `"${version}"`;

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
/** Empty elements count for nothing (RFC 9110 section 5.6.1.2). */
const LIST = new RegExp(String.raw`^[\s,]*${TAG}(?:\s*,[\s,]*${TAG})*[\s,]*$`);

/**
 * Parses `If-Match` (RFC 9110 section 13.1.1). Only strong tags count: a weak one matches nothing.
 * Out: `undefined` when the header is absent. Errors: 400 when it is no list of entity tags.
 */
export function parseIfMatch(header: string | undefined): Result<Precondition | undefined> {
  if (header === undefined) return ok(undefined);
  if (header.trim() === "*") return ok("any");
  return LIST.test(header)
    ? ok(versionsIn(header, /(?<!W\/)"([1-9]\d{0,14})"/g))
    : invalid("If-Match: is not a list of entity tags");
}

/** Whether the client has this version already: `If-None-Match` (RFC 9110 section 13.1.2), compared weakly. */
export function isCurrent(header: string | undefined, version: number): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || includesVersion(versionsIn(header, /"([1-9]\d{0,14})"/g), version);
}

const versionsIn = (header: string, pattern: RegExp): number[] => [...header.matchAll(pattern)].map((match) => Number(match[1]));
