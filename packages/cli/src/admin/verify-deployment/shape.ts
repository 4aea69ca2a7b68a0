/** Checks of parsed JSON. Each says what is wrong with a value, without the value. */

/** In: a value, and the attributes that lead to it. Out: what is wrong; `undefined` for nothing. */
export type Check = (value: unknown, at: string) => string | undefined;

/** What is wrong with the value at a place. */
export const fault = (at: string, expected: string): string => `${at || "it"} is not ${expected}`;

export const isText =
  (pattern: RegExp, expected: string): Check =>
  (value, at) =>
    typeof value === "string" && pattern.test(value) ? undefined : fault(at, expected);

export const isList =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? firstOf(value.map((entry, index) => [`${at}[${index}]`, entry, check])) : fault(at, "an array");

/** An object with any names. */
export const isRecord =
  (check: Check): Check =>
  (value, at) =>
    isObject(value)
      ? firstOf(Object.entries(value).map(([name, entry]) => [join(at, JSON.stringify(name)), entry, check]))
      : fault(at, "an object");

/** An object with these attributes and no others. One whose name ends with `?` may be absent. */
export function isShape(attributes: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(attributes).map(([name, check]) => [name.replace(/\?$/, ""), check]));
  const required = Object.keys(attributes).filter((name) => !name.endsWith("?"));
  return (value, at) => {
    if (!isObject(value)) return fault(at, "an object");
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return `${join(at, missing)} is missing`;
    return firstOf(Object.entries(value).map(([name, entry]) => [join(at, name), entry, checks.get(name) ?? isUnknown]));
  };
}

const isUnknown: Check = (_, at) => `${at} is unknown`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const join = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** What the first check says that finds something. */
function firstOf(checks: readonly (readonly [at: string, value: unknown, check: Check])[]): string | undefined {
  for (const [at, value, check] of checks) {
    const found = check(value, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
