import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../../frame/failure.ts";

/** The file `release.json`: the contents of a release (docs/release.md). `npm run build` writes it. */

/** The format that this program writes and reads. */
const RELEASE_FORMAT = 1;

/** The SHA-256, in hexadecimal, of each file or module by its path or name. */
export type Hashes = Readonly<Record<string, string>>;

/** A binding that is no variable and no secret, in the form of Cloudflare's API. */
export interface ReleaseBinding {
  readonly name: string;
  readonly type: string;
  /** Only for a Durable Object. */
  readonly class_name?: string;
}

export interface Release {
  readonly format: typeof RELEASE_FORMAT;
  /** The version that /health shows. */
  readonly version: string;
  /** The commit of the sources; absent without a git checkout, and where a file differs from the commit. */
  readonly commit?: string;
  readonly worker: {
    readonly compatibilityDate: string;
    readonly compatibilityFlags: readonly string[];
    readonly modules: Hashes;
    readonly bindings: readonly ReleaseBinding[];
    /** The variables with the values of wrangler.toml, which an operator may change. */
    readonly variables: Readonly<Record<string, unknown>>;
    /** The names of the secrets. */
    readonly secrets: { readonly required: readonly string[]; readonly optional: readonly string[] };
  };
  /** The static files, by their paths in the folder that is deployed. */
  readonly assets: Hashes;
  /** The packages, by their names: the files of each by their paths in it. */
  readonly packages: Readonly<Record<string, { readonly version: string; readonly files: Hashes }>>;
}

/** Checks of parsed JSON. Each returns the fault of a value, without the value. */

/** Returns the fault of a value, or `undefined`. `at`: the attributes that lead to the value. */
type Check = (value: unknown, at: string) => string | undefined;

/** Returns the fault of the value at a place. */
const fault = (at: string, expected: string): string => `${at || "it"} is not ${expected}`;

const isText =
  (pattern: RegExp, expected: string): Check =>
  (value, at) =>
    typeof value === "string" && pattern.test(value) ? undefined : fault(at, expected);

const isList =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? firstOf(value.map((entry, index) => [`${at}[${index}]`, entry, check])) : fault(at, "an array");

/** An object with any names. */
const isRecord =
  (check: Check): Check =>
  (value, at) =>
    isObject(value)
      ? firstOf(Object.entries(value).map(([name, entry]) => [pathOf(at, JSON.stringify(name)), entry, check]))
      : fault(at, "an object");

/**
 * Checks an object with exactly these attributes, in their order: the format comes first, because a later one has other attributes. An attribute
 * whose name ends with `?` may be absent.
 */
function isShape(attributes: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(attributes).map(([name, check]) => [name.replace(/\?$/, ""), check]));
  return (value, at) => {
    if (!isObject(value)) return fault(at, "an object");
    for (const [name, check] of checks) {
      const path = pathOf(at, name);
      if (!Object.hasOwn(value, name) && !Object.hasOwn(attributes, `${name}?`)) return `${path} is missing`;
      const found = Object.hasOwn(value, name) ? check(value[name], path) : undefined;
      if (found !== undefined) return found;
    }
    const unknown = Object.keys(value).find((name) => !checks.has(name));
    return unknown === undefined ? undefined : `${pathOf(at, unknown)} is unknown`;
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pathOf = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** Returns the first fault. */
function firstOf(checks: readonly (readonly [at: string, value: unknown, check: Check])[]): string | undefined {
  for (const [at, value, check] of checks) {
    const found = check(value, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

const WORD = isText(/^[^\p{C}]{1,200}$/u, "a text of at most 200 characters");
const HASH = isRecord(isText(/^[0-9a-f]{64}$/, "a SHA-256 in hexadecimal"));
/** An empty list would compare nothing. */
const HASHES: Check = (value, at) =>
  isObject(value) && Object.keys(value).length === 0 ? fault(at, "an object with a hash") : HASH(value, at);
const NAMES = isList(WORD);

const RELEASE: Check = isShape({
  format: (value, at) =>
    value === RELEASE_FORMAT ? undefined : fault(at, `${RELEASE_FORMAT}, the format that this program knows`),
  version: WORD,
  "commit?": isText(/^[0-9a-f]{40,64}$/, "the hash of a commit"),
  worker: isShape({
    compatibilityDate: WORD,
    compatibilityFlags: NAMES,
    modules: HASHES,
    bindings: isList(isShape({ name: WORD, type: WORD, "class_name?": WORD })),
    variables: isRecord(() => undefined),
    secrets: isShape({ required: NAMES, optional: NAMES }),
  }),
  assets: HASHES,
  packages: isRecord(isShape({ version: WORD, files: HASHES })),
});

/** Parses a release file. `path` is its path for messages. Throws a CliError that names the wrong attribute. */
function parseRelease(text: string, path: string): Release {
  const refusal = (what: string) =>
    new CliError(`${path} is not a release file: ${what}`, { exit: "usage", hint: "docs/release.md describes release.json." });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal("it is not JSON"); // the message of JSON.parse quotes the text
  }
  const found = RELEASE(value, "");
  if (found !== undefined) throw refusal(found);
  return value as Release;
}

/** The paths of the file in the folder of a packed Worker, and in a checkout. */
const PLACES = ["release.json", "dist/release.json"];

/**
 * Loads the file `given`, or else the file of a packed Worker or a checkout. Throws a CliError if there is none, or if it does not match its
 * schema.
 */
export async function loadRelease(given: string | undefined, folder: string): Promise<Release> {
  const paths = given === undefined ? PLACES.map((place) => join(folder, place)) : [given];
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) return parseRelease(text, path);
  }
  throw new CliError(`${paths.join(" and ")} cannot be read`, {
    exit: "usage",
    hint: "--release takes the release.json of a release. In a checkout, `npm run build` makes it.",
  });
}
