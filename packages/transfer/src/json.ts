import { sourceFault } from "./error.ts";

/** Reads JSON of a source. Each error names the path of the fault, for example `accounts[0].vaults`, and never a value. */

/** Deeper than any of the formats. Recursive code can walk the parsed value. */
const DEPTH_MAX = 100;

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b];

/** Parses JSON. Throws a TransferError for an invalid or too deep text. */
export function parseJson(text: string, path: string): JsonValue {
  if (depthOf(text) > DEPTH_MAX) throw sourceFault(path, `is nested deeper than ${DEPTH_MAX} levels`);
  try {
    return new JsonValue(JSON.parse(text), path);
  } catch {
    throw sourceFault(path, "is no JSON, or ends too early"); // the message of JSON.parse quotes the text
  }
}

/** Returns the depth of brackets in a text, outside its strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (quoted && code === BACKSLASH) index++;
    else if (code === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (code === BRACKET || code === BRACE) deepest = Math.max(deepest, ++depth);
    else if (code === BRACKET + 2 || code === BRACE + 2) depth--; // the closing ones
  }
  return deepest;
}

/** A value with its path. `null` and an absent attribute are the same. */
export class JsonValue {
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path: string) {
    this.value = value ?? undefined;
    this.path = path;
  }

  get absent(): boolean {
    return this.value === undefined;
  }

  /** An attribute of an object; an absent object has none. */
  get(name: string): JsonValue {
    const object = this.object() ?? {};
    return new JsonValue(Object.hasOwn(object, name) ? object[name] : undefined, `${this.path}.${name}`);
  }

  object(): Record<string, unknown> | undefined {
    const { value } = this;
    if (value === undefined || (typeof value === "object" && !Array.isArray(value))) return value as Record<string, unknown>;
    throw this.fault("is no object");
  }

  /** The attributes of an object. Their names may be a user's, so they are not in the path. */
  entries(): [string, JsonValue][] {
    return Object.entries(this.object() ?? {}).map(([name, value], index) => [
      name,
      new JsonValue(value, `${this.path}{${index}}`),
    ]);
  }

  /** The elements of an array; an absent one has none. */
  list(): JsonValue[] {
    const { value } = this;
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.fault("is no array");
    return value.map((element, index) => new JsonValue(element, `${this.path}[${index}]`));
  }

  text(): string | undefined {
    return this.#typed<string>("string", "is no text");
  }

  number(): number | undefined {
    return this.#typed<number>("number", "is no number");
  }

  boolean(): boolean | undefined {
    return this.#typed<boolean>("boolean", "is neither true nor false");
  }

  /** A text, or a number or truth value as text: sources differ in how they write such values. */
  scalar(): string | undefined {
    const value = this.value as string | number | boolean | object | undefined;
    if (typeof value === "object") throw this.fault("is no text");
    return value === undefined ? undefined : String(value);
  }

  needText(): string {
    return this.text() ?? this.#missing();
  }

  /** Returns the text under names, or "" if there is none: for a message about a value of unknown shape. */
  peek(...names: readonly string[]): string {
    let value: unknown = this.value;
    for (const name of names)
      value =
        typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : "";
    return typeof value === "string" ? value : "";
  }

  fault(what: string): Error {
    return sourceFault(this.path, what);
  }

  #typed<T>(type: "string" | "number" | "boolean", fault: string): T | undefined {
    if (this.value !== undefined && typeof this.value !== type) throw this.fault(fault);
    return this.value as T | undefined;
  }

  #missing(): never {
    throw this.fault("is missing");
  }
}
