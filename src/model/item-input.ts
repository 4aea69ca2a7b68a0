import * as z from "zod/mini";
import { FIELD_TYPE_ALIASES, FIELD_TYPE_NAMES } from "./field-types.ts";
import { parseId } from "./ids.ts";
import { CATEGORIES, type Category } from "./item.ts";
import { LIMITS } from "./limits.ts";
import { PURPOSES, type Purpose } from "./purposes.ts";
import { CHARACTER_SET_NAMES, RECIPE_LENGTH } from "./recipe.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import { explain, integer, list, optional, optionalText, text, word, fault } from "./text.ts";

/** An Item as a client sends it (contract 2). Read-only and unknown attributes are dropped; absent ones stay absent. */

export const recipeInput = z.object({
  length: optional(integer(RECIPE_LENGTH.least, RECIPE_LENGTH.most)),
  characterSets: optional(
    z.pipe(
      z.array(z.unknown()).check(z.maxLength(LIMITS.list, `has more than ${LIMITS.list} entries`)),
      z.array(word(CHARACTER_SET_NAMES, "character set")),
    ),
  ),
  excludeCharacters: optional(text()),
});

export const sectionReference = z.object({ id: optionalText(), label: optional(text()) });

/** The attributes of a field that a PATCH can name, each with its schema. */
export const fieldAttributes = {
  /** `{"id": ""}` means no section. */
  section: z.pipe(
    optional(sectionReference),
    z.transform((section) => (section?.id === undefined ? undefined : { id: section.id, label: section.label })),
  ),
  type: word(FIELD_TYPE_NAMES, "field type", FIELD_TYPE_ALIASES),
  purpose: word(Object.keys(PURPOSES) as Purpose[], "field purpose"),
  label: optional(text()),
  value: optional(text()),
  generate: optional(z.boolean()),
  recipe: optional(recipeInput),
};

export const fieldInput = z.object({ id: optionalText(), ...fieldAttributes });
export type FieldInput = z.output<typeof fieldInput>;
export type RecipeInput = z.output<typeof recipeInput>;

export const sectionInput = z.object({ id: optionalText(), label: optional(text()) });

/** The attributes of a Url that a PATCH can name, each with its schema. */
export const urlAttributes = { href: text(), label: optional(text()), primary: optional(z.boolean()) };

export const urlInput = z.object(urlAttributes);

/** The attributes of an Item that a PATCH can name, each with its schema. The category has a message of its own. */
export const itemAttributes = {
  title: z.pipe(
    optional(text(LIMITS.title)),
    z.transform((title) => title ?? ""),
  ),
  favorite: z.pipe(
    optional(z.boolean()),
    z.transform((favorite) => favorite ?? false),
  ),
  tags: list(text()),
  urls: list(urlInput),
  sections: list(sectionInput),
  fields: list(fieldInput),
};

const attributes = z.object(itemAttributes);

export interface ItemInput extends z.output<typeof attributes> {
  category: Category;
}

const categories = new Map<string, Category>(CATEGORIES.map((category) => [category, category]));

/** Parses a category, in any case. Fails with 400 if it is absent or unknown. */
export function parseCategory(value: unknown): Result<Category> {
  const found = typeof value === "string" && /^\w+$/.test(value) ? categories.get(value.toUpperCase()) : undefined;
  return found ? ok(found) : fail("category");
}

/**
 * Parses a whole Item. The required attributes depend on `use`. POST (`create`) needs a category, and PUT (`replace`) a category and a vault.
 * PATCH of `/` (`{ current }`) needs neither; `current` is the category of the Item. Fails with 400, which names the first fault.
 */
export function parseItem(body: unknown, vault: string, use: "create" | "replace" | { current: Category }): Result<ItemInput> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return invalid("the Item is not a JSON object");
  const item = body as Record<string, unknown>;
  const named = parseVaultReference(item["vault"], vault);
  if (!named.ok) return named;
  if (use === "replace" && !named.value) return fail("missing_field", "vault");
  if (use === "replace" && (item["category"] ?? undefined) === undefined) return fail("missing_field", "category");
  const category = parseCategory(typeof use === "object" ? (item["category"] ?? use.current) : item["category"]);
  if (!category.ok) return category;
  const parsed = attributes.safeParse(item);
  return parsed.success ? ok({ ...parsed.data, category: category.value }) : invalid(explain(parsed.error, "the Item"));
}

export const vaultReference = z.object({ id: optionalText() });

/**
 * Returns true if the body names a vault. An id has to equal the id in the path. A text without the form of an id is not
 * compared, because External Secrets and HashiCorp's plugin write the vault's name here.
 */
function parseVaultReference(value: unknown, expected: string): Result<boolean> {
  if (value === undefined || value === null) return ok(false);
  const parsed = vaultReference.safeParse(value);
  if (!parsed.success) return invalid(`vault.${explain(parsed.error, "id")}`);
  if (parsed.data.id === undefined) return ok(false);
  const id = parseId(parsed.data.id);
  return id === undefined || id === expected ? ok(true) : invalid("vault.id: is not the vault of the path");
}

export const OPS = ["add", "remove", "replace"] as const;

/** In any case: clients in Java send the name of a constant. */
export const op = z.pipe(
  z.transform((value) => (typeof value === "string" ? value.toLowerCase() : value)),
  z.enum(OPS, fault("is not add, remove or replace")),
);

/** One edit of a PATCH: an operation of its body (RFC 6902 section 4). vault/patch.ts checks the value, which depends on the path. */
export const edit = z.object({
  op,
  path: z.string(),
  value: z.optional(z.unknown()), // `remove` has none
});

export type Edit = z.output<typeof edit>;

export const edits = z.array(edit).check(z.maxLength(LIMITS.list, `has more than ${LIMITS.list} operations`));

/** Parses the body of a PATCH. Fails with 400, which has the index of the edit. */
export function parsePatch(body: unknown): Result<Edit[]> {
  const parsed = edits.safeParse(body);
  return parsed.success
    ? ok(parsed.data)
    : invalid(explain(parsed.error, "the patch").replace(/^\[(\d+)\](?:\.|: )/, "operation $1: "));
}

/** Attributes of a request about an Item that are ignored because an Item does not have them (contract 2.16): most are misspelled. */

/** The attributes of an object, including those of answers, because clients send back objects that they have read. */
interface Shape {
  readonly known: ReadonlySet<string>;
  /** The shapes of objects, or of the objects of arrays, within it. */
  readonly within: Readonly<Record<string, Shape>>;
}

const shapeOf = (names: readonly string[], within: Shape["within"] = {}): Shape => ({ known: new Set(names), within });

const SECTION = shapeOf(Object.keys(sectionInput.shape));
const URL_OF_ITEM = shapeOf(Object.keys(urlInput.shape));
const RECIPE = shapeOf(Object.keys(recipeInput.shape));
const FIELD = shapeOf([...Object.keys(fieldInput.shape), "entropy", "totp"], { section: SECTION, recipe: RECIPE });
const READ_ONLY = ["id", "version", "createdAt", "updatedAt", "lastEditedBy", "state", "files", "brokenFiles"];
const ITEM = shapeOf([...Object.keys(itemAttributes), "category", "vault", ...READ_ONLY], {
  vault: shapeOf(["id", "name"]),
  urls: URL_OF_ITEM,
  sections: SECTION,
  fields: FIELD,
});
const EDIT = shapeOf(["op", "path", "value"]);

/** The shapes of the values of edits, by the paths. */
const VALUES: readonly (readonly [path: RegExp, shape: Shape])[] = [
  [/^\/$/, ITEM],
  [/^\/fields(\/[^/]*)?$/, FIELD],
  [/^\/fields\/[^/]*\/section$/, SECTION],
  [/^\/fields\/[^/]*\/recipe$/, RECIPE],
  [/^\/sections(\/[^/]*)?$/, SECTION],
  [/^\/urls(\/[^/]*)?$/, URL_OF_ITEM],
];

/** Bytes of the header at most, and characters of one name. */
const HEADER_MAX = 1_000;
const NAME_MAX = 64;

function* ignoredIn(value: unknown, { known, within }: Shape, place: string): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* ignoredIn(one, { known, within }, `${place}[${index}]`);
    return;
  }
  for (const [name, one] of Object.entries(value)) {
    const path = place === "" ? name : `${place}.${name}`;
    if (!known.has(name)) yield path;
    else if (Object.hasOwn(within, name)) yield* ignoredIn(one, within[name]!, path);
  }
}

function* ignoredInEdits(sent: readonly Edit[]): Generator<string> {
  for (const [index, one] of sent.entries()) {
    yield* ignoredIn(one, EDIT, `[${index}]`);
    const shape = VALUES.find(([path]) => path.test(one.path))?.[1];
    if (shape) yield* ignoredIn(one.value, shape, `[${index}].value`);
  }
}

/** Returns the ignored attributes of the body of an Item or a PATCH, as a header names them: `titel, fields[0].lable`; empty without one. */
export function describeIgnored(body: unknown): string {
  let header = "";
  for (const path of Array.isArray(body) ? ignoredInEdits(body as Edit[]) : ignoredIn(body, ITEM, "")) {
    // Any text can be a name, and a header has visible ASCII only.
    const name = path
      .slice(0, NAME_MAX)
      .toWellFormed()
      .replaceAll(/[^!#-+\--~]/gu, encodeURIComponent);
    const longer = header === "" ? name : `${header}, ${name}`;
    if (longer.length > HEADER_MAX) break;
    header = longer;
  }
  return header;
}
