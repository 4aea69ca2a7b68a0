import { LIMITS } from "./limits.ts";

/** JSON objects (RFC 8259) that every parser reads alike: those in tokens and in the keys of issuers. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Parses an object. Returns undefined for other JSON, invalid UTF-8, a byte order mark, too deep nesting and repeated names. RFC
 * 7515 section 4 and RFC 7519 section 4 allow to refuse repeated names, because parsers differ in their choice.
 */
export function parseStrictObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const written = namesIn(text);
    const value: unknown = written === undefined ? undefined : JSON.parse(text);
    return isObject(value) && countNames(value) === written ? value : undefined;
  } catch {
    return undefined; // the error quotes the text
  }
}

/** Returns the number of member names in a JSON text, or undefined if it nests too deep. */
function namesIn(text: string): number | undefined {
  let [depth, names] = [0, 0];
  // A string is skipped as a whole, and JSON.parse refuses an unterminated string. A name is a string followed by a colon.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]+|\\.)*"?(\s*:)?|[[\]{}]/gs)) {
    if (colon !== undefined) names++;
    else if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > LIMITS.jsonDepth) return undefined;
  }
  return names;
}

/** Returns the number of names in a value. `JSON.parse` keeps only one value of a repeated name. */
function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const values: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce<number>((sum, one) => sum + countNames(one), own);
}
