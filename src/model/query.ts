import { type Dialect, writeId } from "./dialect.ts";
import { isId, parseId } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { invalid, ok, type Refusal, type Result } from "./result.ts";

/** The query of a list, parsed from its raw text, because clients encode filters in different ways (contract 5). */

export interface Query {
  /** The filter as the client wrote it, undecoded; absent when there is none. */
  readonly filter: string | undefined;
  /** All other parameters. */
  readonly rest: URLSearchParams;
}

/** Splits a raw query (the text after the `?`). A filter extends to its last quote, over any `&` inside the quotes. */
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
 * Decodes a filter. A filter with `%20` or a space comes from a client that percent-encodes spaces, so its `+` is a plus.
 * In every other filter a `+` is a space (application/x-www-form-urlencoded). A `%` without a valid escape is a `%`.
 */
export function decodeFilter(raw: string): string {
  const blanks = /%20| /.test(raw) ? raw : raw.replaceAll("+", " ");
  return blanks.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = escapes.match(/[^%]{2}/g)!.map((hex) => parseInt(hex, 16));
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  });
}

/** An integer parameter: its name, its bounds and its default. */
interface Count {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

/** The parameters that are integers. Those named `wait` are seconds. */
export const COUNTS = {
  Limit: { name: "limit", minimum: 1, maximum: LIMITS.page },
  VersionLimit: { name: "limit", minimum: 1, maximum: LIMITS.versionsPage, default: LIMITS.versionsPage },
  DeletedLimit: { name: "limit", minimum: 1, maximum: LIMITS.page, default: LIMITS.page },
  LogLimit: { name: "limit", minimum: 1, maximum: LIMITS.page, default: 50 },
  EventLimit: { name: "limit", minimum: 1, maximum: LIMITS.page, default: 100 },
  Offset: { name: "offset", minimum: 0, maximum: LIMITS.activityOffset, default: 0 },
  JobWait: { name: "wait", minimum: 0, maximum: LIMITS.wait, default: 0 },
  EventWait: { name: "wait", minimum: 0, maximum: LIMITS.wait, default: 0 },
  StreamWait: { name: "wait", minimum: 0, maximum: LIMITS.stream },
} as const satisfies Readonly<Record<string, Count>>;

/** The requested part of a list. */
export interface Page {
  /** The most entries; absent: all entries. */
  readonly limit: number | undefined;
  /** The id before the first entry; the empty text comes before all ids. */
  readonly after: string;
}

/** The first character of a cursor for a row with a damaged id. The stored id follows. */
const DAMAGED = "~";

/** Returns the cursor of the page after an entry. The entry's id may be damaged (contract 11.10). */
export const writeCursor = (id: string, dialect: Dialect): string =>
  isId(id) ? writeId(id, dialect) : encodeURIComponent(DAMAGED + id);

/** Parses a cursor from `writeCursor`, or an id. Returns undefined for any other text. */
export const parseIdCursor = (text: string): string | undefined => (text.startsWith(DAMAGED) ? text.slice(1) : parseId(text));

/** Parses `limit` and `cursor`. Fails with 400. */
export function parsePage({ rest }: Query): Result<Page> {
  const limit = parseCount(rest, COUNTS.Limit);
  if (!limit.ok) return limit;
  const cursor = rest.get("cursor");
  const after = cursor === null ? "" : parseIdCursor(cursor);
  return after === undefined ? invalid("cursor: is not one that this service gave") : ok({ limit: limit.value, after });
}

/** Parses a version in a path or a query. Returns undefined if the text is not a positive integer. */
export const parseVersion = (text: string): number | undefined => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined);

/** Refuses a text that `parseVersion` does not accept. `name` is the name of the parameter. */
export const notAVersion = (name: string): Refusal => invalid(`${name}: is not an integer from 1 on`);

/** Parses a parameter with a version. Returns undefined if it is absent. Fails with 400. */
export function parseVersionOf(rest: URLSearchParams, name: string): Result<number | undefined> {
  const text = rest.get(name);
  if (text === null) return ok(undefined);
  const version = parseVersion(text);
  return version === undefined ? notAVersion(name) : ok(version);
}

/** The spellings of strconv.ParseBool in Go, which clients send. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "False", "FALSE"].map((text) => [text, false] as const),
]);

/** Parses the first of these parameters that is present, and returns `false` without one. Fails with a 400 that names the parameter. */
export function parseBoolean(rest: URLSearchParams, ...names: string[]): Result<boolean> {
  const name = names.find((one) => rest.has(one));
  if (name === undefined) return ok(false);
  const value = BOOLEANS.get(rest.get(name)!);
  return value === undefined ? invalid(`${name}: is not true or false`) : ok(value);
}

/** `undefined` only where an absent parameter has no default. */
type CountOf<C extends Count> = C extends { readonly default: number } ? number : number | undefined;

/** Parses an integer parameter. Returns its default if it is absent, or undefined without a default. Fails with 400, which has the bounds. */
export function parseCount<C extends Count>(rest: URLSearchParams, count: C): Result<CountOf<C>> {
  const { name, minimum, maximum } = count;
  const text = rest.get(name);
  if (text === null) return ok(count.default as CountOf<C>);
  const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value >= minimum && value <= maximum
    ? ok(value as CountOf<C>)
    : invalid(`${name}: is not an integer from ${minimum} to ${maximum}`);
}
