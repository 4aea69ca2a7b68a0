import { typeRules } from "../model/field-types.ts";
import { base32 } from "../model/ids.ts";
import type { FieldInput, ItemInput, RecipeInput } from "../model/item-input.ts";
import type { Field, FilesOfItem, Item, Section } from "../model/item.ts";
import { fits, LIMITS } from "../model/limits.ts";
import { estimateEntropy, generatePassword, type Password } from "../model/password.ts";
import { purposeRules } from "../model/purposes.ts";
import { DEFAULT_RECIPE } from "../model/recipe.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";

/** Returns a number of random bytes. It is a parameter, so that the functions here are pure. */
export type Random = (size: number) => Uint8Array;

/** The attributes of an Item that the service sets, not the client. */
type ServiceAttributes = Pick<
  Item,
  "id" | "vault" | "version" | "nonce" | "createdAt" | "updatedAt" | "lastEditedBy" | "state" | keyof FilesOfItem
>;

/**
 * Completes an Item (contract 2 and 7): absent ids, labels and types, sections that only fields name, generated values, entropy. `before` is
 * the current Item. An unchanged value keeps its entropy, and a File keeps its section. Fails with 400, which has the path.
 */
export function complete(input: ItemInput, service: ServiceAttributes, before: Item | undefined, random: Random): Result<Item> {
  const fields: Field[] = [];
  const { title, category, tags, urls, favorite, ...named } = withNames(input);
  if (named.fields.filter(isGenerated).length > LIMITS.generated) {
    return invalid(`fields: has more than ${LIMITS.generated} generated values`);
  }
  for (const [index, fieldInput] of named.fields.entries()) {
    const field = completeField(fieldInput, before?.fields ?? [], random);
    if (!field.ok) return { ok: false, failure: { ...field.failure, detail: `fields[${index}].${field.failure.detail}` } };
    fields.push(field.value);
  }
  const declared = named.sections.map(({ id, label }) => ({ id: id ?? base32(random(16)), label: label ?? "" }));
  if (!fits(tags.join(""), LIMITS.tags)) return invalid(`tags: are longer than ${LIMITS.tags} bytes together`);
  const tooLong = declared.findIndex(({ id }) => !fits(id, LIMITS.sectionId));
  if (tooLong >= 0) return invalid(`sections[${tooLong}].id: is longer than ${LIMITS.sectionId} bytes`);
  const sections = [...declared, ...sectionsOfFiles(service, declared, before)];
  const item: Item = { ...service, title, category, tags, urls, favorite, sections, fields };
  return checkWhole(item) ?? ok(item);
}

/** Returns the sections that Files name and the input does not declare. They keep their labels. */
function sectionsOfFiles({ files }: ServiceAttributes, declared: readonly Section[], before: Item | undefined): Section[] {
  const known = new Set(declared.map(({ id }) => id));
  const named = new Set(files.flatMap(({ section }) => (section === undefined || known.has(section) ? [] : [section])));
  return [...named].map((id) => ({ id, label: before?.sections.find((section) => section.id === id)?.label ?? "" }));
}

/** Returns true if the request generates the value of the field (contract 7.1). */
const isGenerated = ({ generate, value }: FieldInput) => generate === true && !value;

function completeField(input: FieldInput, before: readonly Field[], random: Random): Result<Field> {
  const purpose = input.purpose ?? "";
  const implied = purposeRules(purpose);
  const id = input.id ?? base32(random(16));
  const type = implied.type ?? input.type ?? "STRING";
  const { accepts, refusal } = typeRules(type);
  // A random value has the form of the type only by chance.
  if (isGenerated(input) && accepts) return invalid(`generate: a value of the type ${type} cannot be generated`);
  const generated: Result<Password | undefined> = isGenerated(input)
    ? generatePassword(withDefaults(input.recipe), random)
    : ok(undefined);
  if (!generated.ok) return generated;
  const value = generated.value?.value ?? input.value ?? "";
  if (value !== "" && accepts && !accepts(value)) return invalid(`value: ${refusal}`);
  // Searched only for a field that has an entropy, which only one field of an Item has. Otherwise 1,000 fields would be compared with
  // 1,000.
  const unchanged = () => before.find((field) => field.id === id && field.value === value)?.entropy;
  const entropy =
    implied.entropy && value !== "" ? (generated.value?.entropy ?? unchanged() ?? estimateEntropy(value)) : undefined;
  return ok({ id, section: input.section?.id, type, purpose, label: input.label ?? implied.name ?? "", value, entropy });
}

const withDefaults = (recipe: RecipeInput | undefined) => {
  const sets = (recipe?.characterSets ?? []).filter((set) => set !== undefined);
  return {
    length: recipe?.length ?? DEFAULT_RECIPE.length,
    characterSets: sets.length > 0 ? sets : DEFAULT_RECIPE.characterSets,
    excludeCharacters: recipe?.excludeCharacters ?? DEFAULT_RECIPE.excludeCharacters,
  };
};

function checkWhole({ category, fields, sections, tags, urls }: Item): Result<never> | undefined {
  for (const [name, list] of Object.entries({ fields, sections, tags, urls })) {
    if (list.length > LIMITS.list) return invalid(`${name}: has more than ${LIMITS.list} entries`);
  }
  // Before the ids: fields of one purpose and without ids have one id, which the request does not contain.
  const purposes = fields.map((field, index) => field.purpose || String(index));
  const repeated = firstRepeated(purposes);
  if (repeated !== undefined) return invalid(`fields[${repeated}].purpose: another field has the purpose ${purposes[repeated]}`);
  for (const [name, list] of Object.entries({ fields, sections })) {
    const twice = firstRepeated(list.map((entry) => entry.id));
    if (twice !== undefined) return invalid(`${name}[${twice}].id: another one has this id`);
  }
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

/** The names that fields imply: a purpose implies an id, and a reference to a section declares it. */

/**
 * Adds the ids implied by purposes, and the sections that only fields name. `before` is an earlier result, of which `input` is an edit. Only
 * changed fields are processed, because a PATCH has up to 1,000 edits of as many fields.
 */
export function withNames(input: ItemInput, before?: ItemInput): ItemInput {
  const changed = input.fields.filter((field, index) => field !== before?.fields[index]);
  const fields = changed.some(({ id }) => id === undefined) ? input.fields.map(withId) : input.fields;
  const added = missingSections(changed, input.sections);
  return { ...input, fields, sections: added.length > 0 ? [...input.sections, ...added] : input.sections };
}

const withId = (field: FieldInput): FieldInput =>
  field.id === undefined ? { ...field, id: purposeRules(field.purpose ?? "").name } : field;

/** Returns the sections that the fields name and the list does not declare, each once. */
function missingSections(fields: readonly FieldInput[], declared: ItemInput["sections"]): Section[] {
  const named = fields.flatMap(({ section }) => section ?? []);
  if (named.length === 0) return [];
  const known = new Set(declared.map(({ id }) => id));
  const added = new Map<string, Section>();
  for (const { id, label = "" } of named) if (!known.has(id) && !added.has(id)) added.set(id, { id, label });
  return [...added.values()];
}
