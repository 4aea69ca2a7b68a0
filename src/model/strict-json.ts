import { LIMITS } from "./limits.ts";

/** JSON objects (RFC 8259) whose text has one meaning only, whoever parses it: those of tokens and of the keys of issuers. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Parses an object. Out: `undefined` for other JSON, for bytes that are no UTF-8, for a byte order mark, for an object that nests deeper than
 * bodies may, and for one that has a name twice, which RFC 7515 section 4 and RFC 7519 section 4 allow to refuse: parsers differ in which one
 * they take.
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

/** The number of names of members in a text that is JSON. Out: `undefined` when it nests too deep. */
function namesIn(text: string): number | undefined {
  let [depth, names] = [0, 0];
  // A string is skipped as a whole, and JSON.parse refuses one that does not end. A name is a string that a colon follows.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]+|\\.)*"?(\s*:)?|[[\]{}]/gs)) {
    if (colon !== undefined) names++;
    else if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > LIMITS.jsonDepth) return undefined;
  }
  return names;
}

/** The number of names in a value: of a name that was written twice, `JSON.parse` keeps one. */
function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const values: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce<number>((sum, one) => sum + countNames(one), own);
}
