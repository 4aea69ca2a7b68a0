import { LIMITS } from "./limits.ts";
import { parseId } from "./ids.ts";
import { invalid, ok, type Result } from "./result.ts";

/** The query of a list, read from its raw text, because clients encode filters badly. */

export interface Query {
  /** The filter as the client wrote it, undecoded; absent when there is none. */
  readonly filter: string | undefined;
  /** All other parameters. */
  readonly rest: URLSearchParams;
}

/** Parts a raw query (what follows the `?`). A filter runs to its last quote, over any `&` inside: what follows is another parameter. */
export function parseQuery(raw: string): Query {
  const start = /(?:^|&)filter=/.exec(raw);
  if (!start) return { filter: undefined, rest: new URLSearchParams(raw) };
  const from = start.index + start[0].length;
  const quote = Math.max(raw.lastIndexOf('"'), raw.lastIndexOf("%22"), from);
  const end = raw.indexOf("&", quote);
  const filter = end < 0 ? raw.slice(from) : raw.slice(from, end);
  return { filter, rest: new URLSearchParams(raw.slice(0, start.index) + (end < 0 ? "" : raw.slice(end))) };
}

/**
 * A filter that has `%20` (or a bare blank) comes from a client that percent-encodes blanks, and its `+` is a plus;
 * any other comes from one that writes blanks as `+` (application/x-www-form-urlencoded).
 * A `%` that starts no valid escape is a `%`.
 */
export function decodeFilter(raw: string): string {
  const blanks = /%20| /.test(raw) ? raw : raw.replaceAll("+", " ");
  return blanks.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = escapes.match(/[^%]{2}/g)!.map((hex) => parseInt(hex, 16));
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  });
}

/** Which part of a list is asked for. */
export interface Page {
  /** How many entries at most; absent: all of them. */
  readonly limit: number | undefined;
  /** The id after which it begins; the empty text comes before all ids. */
  readonly after: string;
}

/** Reads `limit` and `cursor`. Errors: 400. */
export function parsePage({ rest }: Query): Result<Page> {
  const limit = parseCount(rest, "limit", 1, LIMITS.page);
  if (!limit.ok) return limit;
  const cursor = rest.get("cursor");
  const after = cursor === null ? "" : parseId(cursor);
  return after === undefined ? invalid("cursor: is not one that this service gave") : ok({ limit: limit.value, after });
}

/** Reads a parameter that is an integer. Out: `undefined` when it is absent. Errors: 400, with the bound that it breaks. */
export function parseCount(rest: URLSearchParams, name: string, least: number, most: number): Result<number | undefined> {
  const text = rest.get(name);
  if (text === null) return ok(undefined);
  const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value >= least && value <= most
    ? ok(value)
    : invalid(`${name}: is not an integer from ${least} to ${most}`);
}
