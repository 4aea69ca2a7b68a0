/** The parts of an example that vary. `{name}` matches any text the first time, and the same text later. `…` matches any text. */

/** The values of the placeholders. `expectedText` adds to it. */
export type Bindings = Map<string, string>;

const PLACEHOLDER = /\{(\w+)\}/g;
const REST = "…";

/** Returns `actual` if it matches the shown text, otherwise the shown text. */
export function expectedText(shown: string, actual: string, bindings: Bindings): string {
  const found = patternOf(shown, bindings).exec(actual);
  for (const [name, value] of Object.entries(found?.groups ?? {})) bindings.set(name, value);
  return found ? actual : fillKnown(shown, bindings);
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
