import { readTotp } from "../crypto/totp.ts";
import { estimateEntropy, generatePassword, type Password } from "../crypto/password.ts";
import { base32 } from "../model/ids.ts";
import { CHARACTER_SETS, type Field, type Item, type Section } from "../model/item.ts";
import type { FieldInput, ItemInput, RecipeInput } from "../model/item-input.ts";
import { LIMITS } from "../model/limits.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { isDate, isMonthYear } from "./dates.ts";
import { PURPOSE_NAMES, withNames } from "./names.ts";

/** Random bytes. A parameter, so that the functions here are pure. */
export type Random = (size: number) => Uint8Array;

/** What an Item has that its writer does not give. */
export type Frame = Pick<Item, "id" | "vault" | "version" | "createdAt" | "updatedAt" | "lastEditedBy" | "state" | "files">;

/**
 * Makes an Item of what its writer gave (contract 1.2 and 1.7): ids, labels and types that are absent, sections that are
 * only named by fields, values that are to be generated, entropy.
 * In: `before`, the Item as it was: an unchanged value keeps its entropy, and a section that a File is in stays.
 * Errors: 400, with the place.
 */
export function complete(input: ItemInput, frame: Frame, before: Item | undefined, random: Random): Result<Item> {
  const fields: Field[] = [];
  const { title, category, tags, urls, favorite, ...named } = withNames(input);
  for (const [index, given] of named.fields.entries()) {
    const field = completeField(given, before?.fields ?? [], random);
    if (!field.ok) return { ok: false, failure: { ...field.failure, detail: `fields[${index}].${field.failure.detail}` } };
    fields.push(field.value);
  }
  const declared = named.sections.map(({ id, label }) => ({ id: id ?? base32(random(16)), label: label ?? "" }));
  const sections = [...declared, ...sectionsOfFiles(frame, declared, before)];
  const item: Item = { ...frame, title, category, tags, urls, favorite, sections, fields };
  return checkWhole(item) ?? ok(item);
}

/** The sections that Files are in and that are not declared: they keep their labels. */
function sectionsOfFiles({ files }: Frame, declared: readonly Section[], before: Item | undefined): Section[] {
  const known = new Set(declared.map(({ id }) => id));
  const named = new Set(files.flatMap(({ section }) => (section === undefined || known.has(section) ? [] : [section])));
  return [...named].map((id) => ({ id, label: before?.sections.find((section) => section.id === id)?.label ?? "" }));
}

function completeField(given: FieldInput, before: readonly Field[], random: Random): Result<Field> {
  const purpose = given.purpose ?? "";
  const id = given.id ?? base32(random(16));
  const generated: Result<Password | undefined> =
    given.generate && !given.value ? generatePassword(withDefaults(given.recipe), random) : ok(undefined);
  if (!generated.ok) return generated;
  const value = generated.value?.value ?? given.value ?? "";
  const type = purpose === "PASSWORD" ? "CONCEALED" : (given.type ?? "STRING");
  if (type === "DATE" && value !== "" && !isDate(value)) return invalid("value: is not a date (YYYY-MM-DD or Unix seconds)");
  if (type === "MONTH_YEAR" && value !== "" && !isMonthYear(value)) return invalid("value: is not a month (YYYYMM or YYYY/MM)");
  if (type === "OTP" && value !== "" && !readTotp(value))
    return invalid("value: is not an otpauth://totp URI or a base32 secret");
  const known = before.find((field) => field.id === id && field.value === value)?.entropy;
  const entropy =
    purpose === "PASSWORD" && value !== "" ? (generated.value?.entropy ?? known ?? estimateEntropy(value)) : undefined;
  return ok({
    id,
    section: given.section?.id,
    type,
    purpose,
    label: given.label ?? PURPOSE_NAMES[purpose] ?? "",
    value,
    entropy,
  });
}

const withDefaults = (recipe: RecipeInput | undefined) => {
  const sets = (recipe?.characterSets ?? []).filter((set) => set !== undefined);
  const characterSets = sets.length > 0 ? sets : CHARACTER_SETS;
  return { length: recipe?.length ?? 32, characterSets, excludeCharacters: recipe?.excludeCharacters ?? "" };
};

function checkWhole({ category, fields, sections, tags, urls }: Item): Result<never> | undefined {
  for (const [name, list] of Object.entries({ fields, sections, tags, urls })) {
    if (list.length > LIMITS.list) return invalid(`${name}: has more than ${LIMITS.list} entries`);
  }
  for (const [name, list] of Object.entries({ fields, sections })) {
    const twice = firstRepeated(list.map((entry) => entry.id));
    if (twice !== undefined) return invalid(`${name}[${twice}].id: another one has this id`);
  }
  const purposes = fields.map((field, index) => field.purpose || String(index));
  const twice = firstRepeated(purposes);
  if (twice !== undefined) return invalid(`fields[${twice}].purpose: another field has this purpose`);
  return category === "PASSWORD" && !purposes.includes("PASSWORD") ? fail("missing_field", "password") : undefined;
}

function firstRepeated(names: readonly string[]): number | undefined {
  const seen = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (seen.has(name)) return index;
    seen.add(name);
  }
  return undefined;
}
