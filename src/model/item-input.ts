import * as z from "zod";
import { parseId } from "./ids.ts";
import { CATEGORIES, type Category, CHARACTER_SETS, FIELD_TYPES, PURPOSES } from "./item.ts";
import { LIMITS } from "./limits.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import { explain, list, optional, optionalText, text, word } from "./text.ts";

/** An Item as a client sends it. Read-only and unknown attributes fall away; what is absent stays absent. */

export const recipeInput = z.object({
  length: optional(z.int("is not an integer").min(1, "is less than 1").max(64, "is more than 64")),
  characterSets: optional(
    z
      .array(z.unknown())
      .max(LIMITS.list)
      .pipe(z.array(word(CHARACTER_SETS, "character set"))),
  ),
  excludeCharacters: optional(text()),
});

/** `{"id": ""}` is how a client says "no section". */
const sectionReference = optional(z.object({ id: optionalText(), label: optional(text()) })).transform((section) =>
  section?.id === undefined ? undefined : { id: section.id, label: section.label },
);

/** The attributes of a field that a PATCH can name, each with its schema. */
export const fieldAttributes = {
  section: sectionReference,
  type: word(FIELD_TYPES, "field type", { TOTP: "OTP" }),
  purpose: word(PURPOSES, "field purpose"),
  label: optional(text()),
  value: optional(text()),
  generate: optional(z.boolean()),
  recipe: optional(recipeInput),
};

export const fieldInput = z.object({ id: optionalText(), ...fieldAttributes });
export type FieldInput = z.output<typeof fieldInput>;
export type RecipeInput = z.output<typeof recipeInput>;

export const sectionInput = z.object({ id: optionalText(), label: optional(text()) });
export type SectionInput = z.output<typeof sectionInput>;

/** The attributes of a Url that a PATCH can name, each with its schema. */
export const urlAttributes = { href: text(), label: optional(text()), primary: optional(z.boolean()) };

export const urlInput = z.object(urlAttributes);

/** The attributes of an Item that a PATCH can name, each with its schema. The category has a message of its own. */
export const itemAttributes = {
  title: optional(text(LIMITS.title)).transform((title) => title ?? ""),
  favorite: optional(z.boolean()).transform((favorite) => favorite ?? false),
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

/** A category, in any case. Absent or unknown: 400. */
export function readCategory(value: unknown): Result<Category> {
  const found = typeof value === "string" && /^\w+$/.test(value) ? categories.get(value.toUpperCase()) : undefined;
  return found ? ok(found) : fail("category");
}

/**
 * Reads a whole Item. What differs between its three uses is what may be absent:
 * POST (`create`) needs a category, PUT (`replace`) a category and a vault, and PATCH of `/` (`patch`) neither,
 * for the Item has them; `current` is then its category.
 * Out: the input, or the first thing that is wrong with it.
 */
export function readItem(body: unknown, vault: string, use: "create" | "replace" | { current: Category }): Result<ItemInput> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return invalid("the Item is not a JSON object");
  const given = body as Record<string, unknown>;
  const named = readVault(given["vault"], vault);
  if (!named.ok) return named;
  if (use === "replace" && !named.value) return fail("missing_field", "vault");
  if (use === "replace" && (given["category"] ?? undefined) === undefined) return fail("missing_field", "category");
  const category = readCategory(typeof use === "object" ? (given["category"] ?? use.current) : given["category"]);
  if (!category.ok) return category;
  const parsed = attributes.safeParse(given);
  return parsed.success ? ok({ ...parsed.data, category: category.value }) : invalid(explain(parsed.error, "the Item"));
}

/**
 * Whether the body names a vault. An id has to be that of the path. What has no form of an id is the vault's name, and the
 * path counts: clients whose user named the vault write the name here (External Secrets, HashiCorp's plugin).
 */
function readVault(value: unknown, expected: string): Result<boolean> {
  if (value === undefined || value === null) return ok(false);
  const parsed = z.object({ id: optionalText() }).safeParse(value);
  if (!parsed.success) return invalid(`vault.${explain(parsed.error, "id")}`);
  if (parsed.data.id === undefined) return ok(false);
  const id = parseId(parsed.data.id);
  return id === undefined || id === expected ? ok(true) : invalid("vault.id: is not the vault of the path");
}
