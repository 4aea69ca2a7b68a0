import * as z from "zod/mini";
import { parseId } from "./ids.ts";
import { FIELD_TYPE_ALIASES, FIELD_TYPE_NAMES } from "./field-types.ts";
import { CATEGORIES, type Category } from "./item.ts";
import { LIMITS } from "./limits.ts";
import { PURPOSES, type Purpose } from "./purposes.ts";
import { CHARACTER_SET_NAMES, RECIPE_LENGTH } from "./recipe.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import { explain, list, optional, optionalText, text, word } from "./text.ts";

/** An Item as a client sends it (contract 2). Read-only and unknown attributes are dropped; absent ones stay absent. */

const { least, most } = RECIPE_LENGTH;

export const recipeInput = z.object({
  length: optional(z.int().check(z.minimum(least, `is less than ${least}`), z.maximum(most, `is more than ${most}`))),
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
