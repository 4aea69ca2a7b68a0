import { expect } from "vitest";
import { DATE } from "./replay.ts";

/**
 * The structs of 1Password/connect-sdk-go (v1.5.3, onepassword/items.go, files.go, vaults.go). Go refuses a whole answer
 * when one value has another type, and drops unknown attributes. A client that changes an Item sends the attributes that its
 * structs have. An attribute whose name ends in `?` is not sent when it is empty (`omitempty`).
 */

type Kind = "string" | "bool" | "int" | "float" | "time" | Struct | readonly [Kind];
export interface Struct {
  readonly [name: string]: Kind;
}

const SECTION: Struct = { "id?": "string", "label?": "string" };
const RECIPE: Struct = { "length?": "int", "characterSets?": ["string"], "excludeCharacters?": "string" };
const FIELD: Struct = {
  id: "string",
  "section?": SECTION,
  type: "string",
  "purpose?": "string",
  "label?": "string",
  "value?": "string",
  "generate?": "bool",
  "recipe?": RECIPE,
  "entropy?": "float",
  "totp?": "string",
};

export const FILE: Struct = { id: "string", name: "string", "section?": SECTION, size: "int", content_path: "string" };

export const ITEM: Struct = {
  id: "string",
  title: "string",
  "urls?": [{ "primary?": "bool", "label?": "string", href: "string" }],
  "favorite?": "bool",
  "tags?": ["string"],
  "version?": "int",
  vault: { id: "string" },
  "category?": "string",
  "sections?": [SECTION],
  "fields?": [FIELD],
  "files?": [FILE],
  "lastEditedBy?": "string",
  createdAt: "time",
  updatedAt: "time",
};

export const VAULT: Struct = {
  id: "string",
  "name?": "string",
  "description?": "string",
  "attributeVersion?": "int",
  "contentVersion?": "int",
  "items?": "int",
  "type?": "string",
  createdAt: "time",
  updatedAt: "time",
};

export const ZERO_TIME = "0001-01-01T00:00:00Z";

const types: Readonly<Record<string, string>> = {
  string: "string",
  time: "string",
  bool: "boolean",
  int: "number",
  float: "number",
};
const zeros: Readonly<Record<string, unknown>> = { string: "", time: ZERO_TIME, bool: false, int: 0, float: 0 };

/** Parses a JSON value as Go does. Out: the value that Go sends again, with its attributes in the order of the struct. */
export function throughGo(kind: Kind, value: unknown, place = "the answer"): any {
  if (isList(kind)) {
    expect(Array.isArray(value), `${place} is a list`).toBe(true);
    return (value as unknown[]).map((member, index) => throughGo(kind[0], member, `${place}[${index}]`));
  }
  if (typeof kind === "object") return throughStruct(kind, value, place);
  expect(typeof value, `the type of ${place}`).toBe(types[kind]);
  if (kind === "int") expect(Number.isInteger(value), `${place} is an integer`).toBe(true);
  if (kind === "time") expect(value, `the date ${place}`).toMatch(DATE);
  return value;
}

function throughStruct(struct: Struct, value: unknown, place: string): object {
  expect(Object.prototype.toString.call(value), `the type of ${place}`).toBe("[object Object]");
  const received = value as Record<string, unknown>;
  const sent: [string, unknown][] = [];
  for (const [key, kind] of Object.entries(struct)) {
    const name = key.replace("?", "");
    const member = received[name] ?? undefined;
    const parsed = member === undefined ? zeros[kind as string] : throughGo(kind, member, `${place}.${name}`);
    if (!key.endsWith("?") || !isEmpty(parsed)) sent.push([name, parsed]);
  }
  return Object.fromEntries(sent);
}

const isList = (kind: Kind): kind is readonly [Kind] => Array.isArray(kind);

const isEmpty = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);
