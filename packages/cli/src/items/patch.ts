import type { PatchOperation } from "@item-vault/client";
import { onlyOne } from "../api/find.ts";
import type { Field, Item } from "../api/shapes.ts";
import type { Values } from "../frame/command.ts";
import { newField, purposeOf, typeOf } from "./input.ts";
import type { FieldSource, FieldValue } from "./sources.ts";
import type { EDIT_OPTIONS } from "./options.ts";

/** `item edit` by options, as the operations of a PATCH (contract 6). */

type Loaded = FieldSource & { readonly value: FieldValue };

/** Errors: throws a CliError for a label that several fields have, or that none has where one is removed. */
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

/** The fields with this id, else those with this label, else the one of the purpose that the name stands for. */
function fieldsNamed({ fields }: Item, name: string): readonly Field[] {
  const byId = fields.filter(({ id }) => id === name);
  const byLabel = fields.filter(({ label }) => label === name);
  const wanted = purposeOf(name);
  const byPurpose = fields.filter(({ purpose }) => wanted !== undefined && purpose === wanted);
  return [byId, byLabel, byPurpose].find(({ length }) => length > 0) ?? [];
}

/** RFC 6901, section 3. */
const pathOf = ({ id }: Field): string => `/fields/${id.replaceAll("~", "~0").replaceAll("/", "~1")}`;
