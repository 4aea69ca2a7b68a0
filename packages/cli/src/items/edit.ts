import { type Client, ItemVaultError, type PatchOperation } from "@item-vault/client";
import { findItem, type ItemPath, onlyOne } from "../api/find.ts";
import type { Item, Field } from "../api/shapes.ts";
import { adviceForName, nearestOf } from "../frame/advice.ts";
import type { Call, Values } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { show, tell } from "../output/format.ts";
import { loadItem } from "./duplicate.ts";
import { editInteractively } from "./editor.ts";
import { readJson, withJson, type WrittenItem, newField, purposeOf, typeOf } from "./input.ts";
import { shownItem } from "./present.ts";
import { loadFields, parseFieldSource, type FieldSource, type FieldValue } from "./sources.ts";
import type { EDIT_OPTIONS } from "./table.ts";

type EditCall = Call<typeof EDIT_OPTIONS>;

/** `item edit`: edits by options (a PATCH), by JSON from a file or stdin, or in the editor (a PUT of the loaded Item). */
export async function run({ io, args, options, client: connect }: EditCall): Promise<void> {
  const [name, file] = args;
  const changes = ["title", "tag", "url", "favorite", "username", "field", "remove-field"].filter((each) => each in options);
  if (file !== undefined && changes.length > 0) throw withJson(changes[0]!);
  // Read before the first request, so that the time between reading and writing the Item is short.
  const json = file === undefined ? undefined : await readJson(io, file);
  const fields = await loadFields(io, (options.field ?? []).map(parseFieldSource));
  const client = await connect();
  const path = await findItem(client, name!, options.vault);
  if (changes.length > 0) {
    const item = await patch(client, path, (current) => operationsOf(current, options, fields));
    return show(io, options.format, shownItem(item, options.reveal));
  }
  const current = await loadItem(client, path);
  const replace = async (edited: WrittenItem): Promise<Item> => {
    const { data: item } = await client.call("PUT /v1/vaults/{vault}/items/{item}", {
      path,
      headers: { "If-Match": current.etag },
      body: { ...withKnownAttributes(edited, current.item), vault: current.item.vault },
    });
    return item;
  };
  const edit = () => (json ? replace(checkedVersion(json, current.item)) : editInteractively(io, current.item, replace));
  const item = await edit();
  // In the dialect `connect` the answer to PUT has the version before it (contract 3.5).
  return item ? show(io, options.format, shownItem(item, options.reveal)) : tell(io, "Nothing was changed");
}

const TRIES_MAX = 5;

/**
 * Changes the Item by operations that depend on its fields. If another client changes the Item, the operations are made again. Otherwise two
 * commands that add the same field would add it twice.
 */
async function patch(client: Client, path: ItemPath, operationsFor: (item: Item) => PatchOperation[]): Promise<Item> {
  for (let attempt = 1; ; attempt++) {
    const { item, etag } = await loadItem(client, path);
    try {
      const headers = { "If-Match": etag };
      return (await client.call("PATCH /v1/vaults/{vault}/items/{item}", { path, headers, body: operationsFor(item) })).data;
    } catch (error) {
      if (attempt === TRIES_MAX || !(error instanceof ItemVaultError && error.status === 412)) throw error;
    }
  }
}

/**
 * Returns JSON that may replace the Item. JSON with a version replaces only that version. Throws a CliError if the Item has another version.
 */
function checkedVersion(json: WrittenItem, { version }: Item): WrittenItem {
  if (json.version === undefined || json.version === version) return json;
  throw new CliError(`The item has version ${version}, but the JSON has another`, {
    exit: "conflict",
    hint: "Read the item again, or remove `version` from the JSON to overwrite it.",
  });
}

/** JSON that replaces an Item. */

const OF_ITEMS = [
  "title",
  "category",
  "favorite",
  "tags",
  "urls",
  "sections",
  "fields",
  "files",
  "brokenFiles",
  "state",
  "deletedAt",
];
const OF_FIELDS = ["id", "section", "type", "purpose", "label", "value", "generate", "recipe", "entropy", "totp"];

/**
 * Returns the same JSON. The service ignores unknown attributes, so a mistyped one would lose a value. A replaced Item may have all
 * attributes that it has, even of a later service, and all possible ones. JSON of a new Item may have others, for example of another program,
 * unless they resemble a known one. Throws a CliError that names the attribute.
 */
export function withKnownAttributes<T extends object>(json: T, item?: Item): T {
  const refuse = (value: object, known: readonly string[], what: string) => {
    const isWrong = (name: string) => !known.includes(name) && (item !== undefined || nearestOf(known, name) !== undefined);
    const unknown = Object.keys(value).find(isWrong);
    if (unknown === undefined) return;
    throw new CliError(`${JSON.stringify(unknown)} is not an attribute of ${what}`, {
      exit: "usage",
      hint: adviceForName(known, unknown, "Attributes missing from the JSON are removed, so a typo would lose data."),
    });
  };
  refuse(json, [...OF_ITEMS, ...Object.keys(item ?? {})], "the item");
  const known = [...OF_FIELDS, ...(item?.fields ?? []).flatMap((field) => Object.keys(field))];
  const { fields } = json as { readonly fields?: unknown };
  for (const [index, field] of (Array.isArray(fields) ? (fields as unknown[]) : []).entries())
    if (typeof field === "object" && field !== null) refuse(field, known, `field ${index + 1}`);
  return json;
}

/** `item edit` by options, as the operations of a PATCH (contract 6). */

type Loaded = FieldSource & { readonly value: FieldValue };

/** Throws a CliError for a label that several fields have, or that none has if one is removed. */
export function operationsOf(item: Item, options: Values<typeof EDIT_OPTIONS>, fields: readonly Loaded[]): PatchOperation[] {
  const { title, tag, url, favorite, username, "remove-field": removed = [] } = options;
  const replaced = { title, tags: tag, urls: url?.map(urlOf), favorite: booleanOf(favorite) };
  return [
    ...Object.entries(replaced).flatMap(([name, value]) => (value === undefined ? [] : [replace(`/${name}`, value)])),
    ...(username === undefined
      ? []
      : setField(item, { label: "username", type: undefined, source: { from: "stdin" }, value: { value: username } })),
    ...fields.flatMap((field) => setField(item, field)),
    ...removed.map((label): PatchOperation => ({
      op: "remove",
      path: pathOf(onlyOne(fieldsNamed(item, label), "field", label)),
    })),
  ];
}

const replace = (path: string, value: unknown): PatchOperation => ({ op: "replace", path, value });
const urlOf = (href: string, index: number) => (index === 0 ? { href, primary: true } : { href });
const booleanOf = (text: string | undefined): boolean | undefined => (text === undefined ? undefined : text === "true");

/** An existing field keeps everything but its value, and its type where none is given. */
function setField(item: Item, field: Loaded): PatchOperation[] {
  const found = fieldsNamed(item, field.label);
  if (found.length === 0) return [{ op: "add", path: "/fields", value: newField(field) }];
  const path = pathOf(onlyOne(found, "field", field.label));
  const { type, value } = field;
  if (type !== undefined && found[0]!.purpose && typeOf(type) !== found[0]!.type)
    throw new CliError(`The field ${JSON.stringify(field.label)} has the type ${found[0]!.type}, which its purpose fixes`, {
      exit: "usage",
      hint: `Leave [${type}] out, or give the field another label.`,
    });
  const typed = type === undefined ? [] : [replace(`${path}/type`, typeOf(type))];
  if ("value" in value) return [...typed, replace(`${path}/value`, value.value)];
  // A field that has a value keeps it (contract 7.7).
  return [
    ...typed,
    { op: "remove", path: `${path}/value` },
    { op: "add", path: `${path}/recipe`, value: value.recipe },
    { op: "add", path: `${path}/generate`, value: true },
  ];
}

/** Returns the fields with this id, else those with this label, else the field of the purpose with this name. */
function fieldsNamed({ fields }: Item, name: string): readonly Field[] {
  const byId = fields.filter(({ id }) => id === name);
  const byLabel = fields.filter(({ label }) => label === name);
  const wanted = purposeOf(name);
  const byPurpose = fields.filter(({ purpose }) => wanted !== undefined && purpose === wanted);
  return [byId, byLabel, byPurpose].find(({ length }) => length > 0) ?? [];
}

/** RFC 6901, section 3. */
const pathOf = ({ id }: Field): string => `/fields/${id.replaceAll("~", "~0").replaceAll("/", "~1")}`;
