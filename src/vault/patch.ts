import * as z from "zod/mini";
import { echo } from "../model/failure.ts";
import {
  fieldAttributes,
  fieldInput,
  itemAttributes,
  type ItemInput,
  parseCategory,
  parseItem,
  sectionInput,
  urlAttributes,
  urlInput,
  type Edit,
} from "../model/item-input.ts";
import type { Item } from "../model/item.ts";
import { parseIndex, parsePointer } from "../model/pointer.ts";
import { fail, invalid, map, ok, type Refusal, type Result } from "../model/result.ts";
import { explain, text } from "../model/text.ts";
import { withNames } from "./complete.ts";

/**
 * PATCH: a closed grammar of paths (contract 6), applied to a draft of the Item, which `complete` completes.
 *
 *     /   /<attribute>   /tags/<index|->   /urls/<index|->[/<attribute>]
 *     /sections[/<id|->[/label]]   /fields[/<id|->[/<attribute>]]
 */

/** Applies the edits in order, all or none. Fails with 400, which has the index and the path of the edit. */
export function applyPatch(item: Item, edits: readonly Edit[]): Result<ItemInput> {
  let draft = draftOf(item);
  for (const [index, edit] of edits.entries()) {
    const next = applyOne(draft, edit, item);
    if (!next.ok) return locate(next, index, edit.path);
    const same = next.value.fields === draft.fields && next.value.sections === draft.sections;
    // A removal adds no name. A new list of sections may lack some that the fields name.
    const before = edit.path === "/sections" ? undefined : draft;
    draft = same || edit.op === "remove" ? next.value : withNames(next.value, before);
  }
  return ok(draft);
}

const draftOf = ({ title, category, favorite, tags, urls, sections, fields }: Item): ItemInput => ({
  title,
  category,
  favorite,
  tags: [...tags],
  urls: urls.map(({ href, label, primary }) => ({ href, label, primary })),
  sections: sections.map((section) => ({ ...section })),
  fields: fields.map(({ entropy: _entropy, section, ...field }) => ({
    ...field,
    section: section === undefined ? undefined : { id: section, label: undefined },
    generate: undefined,
    recipe: undefined,
  })),
});

function locate({ failure }: Refusal, index: number, path: string): Refusal {
  return failure.kind === "invalid" ? invalid(`operation ${index} (${echo(path)}): ${failure.detail}`) : { ok: false, failure };
}

type Editor = (draft: ItemInput, edit: Edit, rest: readonly string[], item: Item) => Result<ItemInput>;

function applyOne(draft: ItemInput, edit: Edit, item: Item): Result<ItemInput> {
  const tokens = parsePointer(edit.path);
  if (!tokens.ok) return tokens;
  const [attribute = "", ...rest] = tokens.value;
  const editor = editors.get(attribute);
  if (!editor) return invalid(READ_ONLY.has(attribute) ? "is read-only" : "names no attribute that can be changed");
  return editor(draft, edit, rest, item);
}

const editors = new Map<string, Editor>([
  ["", replaceWhole],
  ["category", editCategory],
  ["title", (draft, edit, rest) => setAttribute(draft, edit, rest, "title")],
  ["favorite", (draft, edit, rest) => setAttribute(draft, edit, rest, "favorite")],
  ["tags", editTags],
  ["urls", editUrls],
  ["sections", editSections],
  ["fields", editFields],
]);

function replaceWhole(draft: ItemInput, edit: Edit, rest: readonly string[], item: Item): Result<ItemInput> {
  if (rest.length > 0 || edit.op !== "replace") return invalid("the whole Item can only be replaced");
  return parseItem(edit.value, item.vault, { current: draft.category });
}

function editCategory(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  if (rest.length > 0) return invalid("the path goes too deep");
  return map(parseCategory(edit.op === "remove" ? undefined : edit.value), (category) => ({ ...draft, category }));
}

type Attribute = keyof typeof itemAttributes;

function setAttribute(draft: ItemInput, edit: Edit, rest: readonly string[], name: Attribute): Result<ItemInput> {
  if (rest.length > 0) return invalid("the path goes too deep");
  return map(valueOf<unknown>(edit, itemAttributes[name]), (value) => ({ ...draft, [name]: value }));
}

function editTags(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  const [token, ...deeper] = rest;
  if (token === undefined || deeper.length > 0) return setAttribute(draft, edit, deeper, "tags");
  return map(editEntry(draft.tags, token, edit, text()), (tags) => ({ ...draft, tags }));
}

function editUrls(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  const [token, attribute, ...deeper] = rest;
  if (token === undefined || deeper.length > 0) return setAttribute(draft, edit, deeper, "urls");
  if (attribute === undefined) return map(editEntry(draft.urls, token, edit, urlInput), (urls) => ({ ...draft, urls }));
  const index = parseIndex(token, draft.urls.length, "replace");
  if (!index.ok) return index;
  const url = editAttribute(draft.urls[index.value]!, attribute, edit, urlAttributes);
  return map(url, (edited) => ({ ...draft, urls: draft.urls.with(index.value, edited) }));
}

function editSections(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  const adds = edit.op === "add" && !Array.isArray(edit.value);
  const edited = rest.length > 0 || adds ? editOneSection(draft, edit, rest) : setAttribute(draft, edit, rest, "sections");
  if (!edited.ok || edit.op !== "remove" || rest.length > 1) return edited;
  // A field that names a removed section would declare it again.
  const [removed] = rest;
  const fields = draft.fields.map((field) =>
    removed === undefined || field.section?.id === removed ? { ...field, section: undefined } : field,
  );
  return ok({ ...edited.value, fields });
}

const noSuchSection = () => invalid("there is no such section");

function editOneSection(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  const { label } = sectionInput.shape;
  const edited = editRecord(draft.sections, rest, edit, sectionInput, { label }, noSuchSection);
  return map(edited, (sections) => ({ ...draft, sections }));
}

function editFields(draft: ItemInput, edit: Edit, rest: readonly string[]): Result<ItemInput> {
  if (rest.length === 0 && edit.op !== "add") return setAttribute(draft, edit, rest, "fields");
  const edited = editRecord(draft.fields, rest, edit, fieldInput, fieldAttributes, (id) => fail("missing_field", id));
  return map(edited, (fields) => ({ ...draft, fields }));
}

/** The three kinds of edits of a PATCH: a list by index, a list by id, an attribute by name. Each returns a new value. */

/** The attributes that no PATCH may change (contract 6). */
const READ_ONLY = new Set([
  "id",
  "vault",
  "version",
  "createdAt",
  "updatedAt",
  "lastEditedBy",
  "state",
  "files",
  "brokenFiles",
  "entropy",
  "totp",
]);

/**
 * Edits a list whose entries have ids: adds an entry at the end (`[]` or `[-]`), edits an entry (`[id]`), or one of its attributes (`[id,
 * attribute]`).
 */
function editRecord<R extends { id?: string | undefined }>(
  list: R[],
  rest: readonly string[],
  edit: Edit,
  schema: z.ZodMiniType<R>,
  attributes: Attributes,
  missing: (id: string) => Refusal,
): Result<R[]> {
  const [id, attribute, ...deeper] = rest;
  if (deeper.length > 0) return invalid("the path goes too deep");
  const appends = id === undefined || (id === "-" && attribute === undefined && edit.op === "add");
  if (appends) return map(valueOf(edit, schema), (entry) => [...list, entry]);
  const index = list.findIndex((entry) => entry.id === id);
  if (attribute !== undefined) {
    const entry = list[index];
    return entry ? map(editAttribute(entry, attribute, edit, attributes), (edited) => list.with(index, edited)) : missing(id);
  }
  if (index < 0 && edit.op !== "add") return missing(id);
  if (edit.op === "remove") return ok(list.toSpliced(index, 1));
  const named = entryId.safeParse(id);
  if (!named.success) return invalid(`the path's ${explain(named.error, "id")}`);
  const entry = valueOf(edit, schema);
  if (!entry.ok) return entry;
  if (entry.value.id !== undefined && entry.value.id !== id) return invalid("the value has another id than the path");
  const edited = { ...entry.value, id };
  return ok(index < 0 ? [...list, edited] : list.with(index, edited));
}

/** An id in the path has to be valid in a body too. */
const entryId = text().check(z.minLength(1, "is empty"));

/** Edits a list by index. */
function editEntry<V>(list: V[], token: string, edit: Edit, schema: z.ZodMiniType<V>): Result<V[]> {
  const index = parseIndex(token, list.length, edit.op);
  if (!index.ok) return index;
  if (edit.op === "remove") return ok(list.toSpliced(index.value, 1));
  return map(valueOf(edit, schema), (value) => list.toSpliced(index.value, edit.op === "add" ? 0 : 1, value));
}

type Attributes = Readonly<Record<string, z.ZodMiniType>>;

function editAttribute<R extends object>(record: R, name: string, edit: Edit, attributes: Attributes): Result<R> {
  if (READ_ONLY.has(name)) return invalid("is read-only");
  const schema = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (!schema) return invalid("names no attribute that can be changed");
  return map(valueOf(edit, schema), (value) => ({ ...record, [name]: value }));
}

/** Returns the value of an edit, parsed by the schema. `remove` gives the schema's value of an absent attribute. */
function valueOf<V>(edit: Edit, schema: z.ZodMiniType<V>): Result<V> {
  const removes = edit.op === "remove";
  if (!removes && (edit.value ?? undefined) === undefined) return invalid("needs a value");
  const parsed = schema.safeParse(removes ? undefined : edit.value);
  return parsed.success ? ok(parsed.data) : invalid(explain(parsed.error, "value"));
}
