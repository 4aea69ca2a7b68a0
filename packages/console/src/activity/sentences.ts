import { isolate } from "../ui/texts.ts";
import { type Entry, vaultOf } from "./entries.ts";

/** The action of an entry, and the program that sent it, in words. Pure. */

const VERBS = { READ: "viewed", CREATE: "created", UPDATE: "changed", DELETE: "deleted" } as const;

const NOUNS: Readonly<Record<string, string>> = { KEY: "root key", EXCHANGE: "token exchange" };

const ACTS: Readonly<Record<string, string>> = {
  "CREATE JOB": "started",
  "DELETE JOB": "stopped",
  "CREATE TOKEN": "issued",
  "DELETE TOKEN": "revoked",
  "CREATE PERSON": "invited",
  "DELETE PERSON": "removed",
};

/** Actions whose sentence has no subject. */
const SENTENCES: Readonly<Record<string, string>> = {
  "CREATE SESSION": "signed in",
  "DELETE SESSION": "signed out",
  "CREATE EXCHANGE": "exchanged a workload token",
};

export const VIEWED_LIST = "viewed the item list";

export const verbOf = ({ action }: Entry): string => VERBS[action];

/** Returns the id of the subject of an entry without an Item; "" without a subject. */
export function subjectId({ resource }: Entry): string {
  const values: readonly unknown[] = Object.values(resource);
  const named = values.find((value): value is { id: string } => typeof value === "object" && value !== null && "id" in value);
  return named?.id ?? "";
}

/** Returns the action of an entry without an Item. `nameOf` returns the name of an id, or "" if it is unknown. */
export function sentenceOf(entry: Entry, nameOf: (id: string) => string): string {
  const { action, resource } = entry;
  const act = `${action} ${resource.type}`;
  if (SENTENCES[act] !== undefined) return SENTENCES[act];
  const verb = ACTS[act] ?? VERBS[action];
  const noun = NOUNS[resource.type] ?? resource.type.toLowerCase();
  const id = subjectId(entry);
  const name = isolate(nameOf(id));
  if (action === "READ" && id !== "" && id === vaultOf(entry)) return name === "" ? VIEWED_LIST : `${VIEWED_LIST} of ${name}`;
  if (action === "READ" && id === "") return `${verb} ${noun === "person" ? "people" : `${noun}s`}`;
  // The name of a job is its kind, with an article.
  if (name !== "") return resource.type === "JOB" ? `${verb} ${name}` : `${verb} the ${noun} ${name}`;
  return `${verb} ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** The first matching pattern counts, because most browsers name others too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Version\/.*Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux|X11/, "Linux"],
];

const first = (rows: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  rows.find(([pattern]) => pattern.test(text))?.[1];

/** Names a `User-Agent` (RFC 9110 section 10.1.5), for example "Chrome on Linux" or "terraform 1.9"; "unknown program" if it is empty. */
export function nameAgent(userAgent: string): string {
  const browser = userAgent.startsWith("Mozilla/") ? first(BROWSERS, userAgent) : undefined;
  const system = first(SYSTEMS, userAgent);
  if (browser) return system ? `${browser} on ${system}` : browser;
  const [, product, version] = /^([^\s/()]+)(?:\/v?(\d[\w.]*))?/.exec(userAgent) ?? [];
  if (product === undefined) return "unknown program";
  return version === undefined ? product : `${product} ${version}`;
}
