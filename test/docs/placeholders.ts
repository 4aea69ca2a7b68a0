/**
 * What varies in an example. `{name}` is a placeholder: in an answer it matches any text the first time, and the same
 * text later. `…` is what is not shown: any text, or at the end of an object or array the rest of it.
 */

/** The values of the placeholders. The functions below add to it. */
export type Bindings = Map<string, string>;

const PLACEHOLDER = /\{(\w+)\}/g;
const REST = "…";

/** Replaces the placeholders of a request. Errors: throws when one has no value, and at a `…`. */
export function fill(text: string, bindings: Bindings): string {
  if (text.includes(REST)) throw new Error(`A request is incomplete: ${text}`);
  return text.replaceAll(PLACEHOLDER, (whole, name: string) => {
    const value = bindings.get(name);
    if (value === undefined) throw new Error(`${whole} has no value yet`);
    return value;
  });
}

/** What an answer should contain: `actual` where it matches what is shown, otherwise what is shown. */
export function expectedText(shown: string, actual: string, bindings: Bindings): string {
  const found = patternOf(shown, bindings).exec(actual);
  for (const [name, value] of Object.entries(found?.groups ?? {})) bindings.set(name, value);
  return found ? actual : fillKnown(shown, bindings);
}

/** As `expectedText`, for a parsed JSON body. In: the text of the document, and the parsed body of the answer. */
export function expectedJson(shown: string, actual: unknown, bindings: Bindings): unknown {
  const complete = shown.replaceAll(/…(?=\s*\})/g, `"${REST}": 0`).replaceAll(/…(?=\s*\])/g, `"${REST}"`);
  return expectedValue(JSON.parse(complete), actual, bindings);
}

function expectedValue(shown: unknown, actual: unknown, bindings: Bindings): unknown {
  if (typeof shown === "string") return typeof actual === "string" ? expectedText(shown, actual, bindings) : shown;
  if (Array.isArray(shown)) return expectedArray(shown, Array.isArray(actual) ? actual : [], bindings);
  if (typeof shown !== "object" || shown === null) return shown;
  return expectedObject(shown, typeof actual === "object" && actual !== null ? actual : {}, bindings);
}

function expectedArray(shown: readonly unknown[], actual: readonly unknown[], bindings: Bindings): unknown[] {
  const entries = shown.at(-1) === REST ? shown.slice(0, -1) : shown;
  const rest = entries === shown ? [] : actual.slice(entries.length);
  return [...entries.map((entry, index) => expectedValue(entry, actual[index], bindings)), ...rest];
}

/** The name of an attribute that is a placeholder without a value matches the attribute at its place. */
function expectedObject(shown: object, actual: object, bindings: Bindings): object {
  const attributes = Object.entries(shown).filter(([name]) => name !== REST);
  const expected = attributes.map(([name, value], index) => {
    const known = fillKnown(name, bindings);
    const key = /^\{\w+\}$/.test(known) ? expectedText(name, Object.keys(actual)[index] ?? "", bindings) : known;
    return [key, expectedValue(value, Reflect.get(actual, key), bindings)] as const;
  });
  return { ...(REST in shown && actual), ...Object.fromEntries(expected) };
}

const fillKnown = (text: string, bindings: Bindings): string =>
  text.replaceAll(PLACEHOLDER, (whole, name: string) => bindings.get(name) ?? whole);

/** A pattern for a shown text. Its named groups are the placeholders that have no value yet. */
function patternOf(shown: string, bindings: Bindings): RegExp {
  const unbound = new Set<string>();
  const parts = shown.split(/(\{\w+\}|…)/).map((part) => {
    if (part === REST) return ".*";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const value = name === undefined ? part : bindings.get(name);
    if (value !== undefined) return RegExp.escape(value);
    if (unbound.has(name!)) return String.raw`\k<${name}>`;
    unbound.add(name!);
    return `(?<${name}>.+?)`;
  });
  return new RegExp(`^${parts.join("")}$`, "s");
}
