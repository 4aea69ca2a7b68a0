import type { Summary } from "./item.ts";
import { fits, LIMITS } from "./limits.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import type { Vault } from "./vault.ts";

/** The filters that clients send, read from the raw query, because clients encode them badly. */

export interface Filter {
  readonly attribute: string;
  readonly operator: string;
  readonly value: string;
}

/** What can be asked of each list, in lower case: attribute and operator. */
const GRAMMAR = {
  items: ["title eq", "title co", "tag eq"],
  vaults: ["name eq", "title eq"],
} as const;

/**
 * Reads `filter` out of a raw query (what follows the `?`, undecoded).
 * Out: the filter; `undefined` when there is none. Errors: 400 `Unsupported request filter`, or the limit.
 */
export function parseFilter(query: string, list: keyof typeof GRAMMAR): Result<Filter | undefined> {
  const start = /(?:^|&)filter=/.exec(query);
  if (!start) return ok(undefined);
  const decoded = decode(query.slice(start.index + start[0].length));
  // The value runs from the first quote to the last. What follows it can only be other parameters.
  const match = /^\s*(\w+)\s+(\w+)\s+"([^]*)"\s*(?:&[^"]*)?$/.exec(decoded);
  if (!match) return fail("filter");
  const [, attribute = "", operator = "", quoted = ""] = match;
  const words = `${attribute} ${operator}`.toLowerCase();
  if (!(GRAMMAR[list] as readonly string[]).includes(words)) return fail("filter");
  const value = quoted.replaceAll('\\"', '"');
  if (!fits(value, LIMITS.filter)) return invalid(`filter: is longer than ${LIMITS.filter} bytes`);
  return value.isWellFormed()
    ? ok({ attribute: attribute.toLowerCase(), operator: operator.toLowerCase(), value })
    : fail("filter");
}

/**
 * A filter that has `%20` (or a bare blank) comes from a client that percent-encodes blanks, and its `+` is a plus;
 * any other comes from one that writes blanks as `+` (application/x-www-form-urlencoded).
 * A `%` that starts no valid escape is a `%`.
 */
function decode(raw: string): string {
  const filter = raw.slice(0, Math.max(raw.lastIndexOf('"'), raw.lastIndexOf("%22")) + 1);
  const blanks = /%20| /.test(filter) ? raw : raw.replaceAll("+", " ");
  return blanks.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = escapes.match(/[^%]{2}/g)!.map((hex) => parseInt(hex, 16));
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  });
}

/** Whether an Item passes. The comparison is exact. */
export function itemPasses(filter: Filter, item: Summary): boolean {
  if (filter.attribute === "tag") return item.tags.includes(filter.value);
  return filter.operator === "eq" ? item.title === filter.value : item.title.includes(filter.value);
}

/** Whether a Vault passes: names compare without regard to case. */
export const vaultPasses = (filter: Filter, vault: Vault): boolean => vault.name.toLowerCase() === filter.value.toLowerCase();
