import type { Item } from "../../../src/model/item.ts";
import { type Draft, type Field, type Recipe, refuse } from "./values.ts";

/** Completes a draft to an Item (contract 2 and 7), for the reference implementation in patch.ts. */

export interface CompletedField {
  /** Absent: the service generates 26 random characters (contract 2.13). */
  readonly id: string | undefined;
  readonly section: string | undefined;
  readonly type: string;
  readonly purpose: string;
  readonly label: string;
  /** A recipe stands for any value that it can generate. */
  readonly value: string | Recipe;
  /** `estimated`: any number, because the value is new. */
  readonly entropy: number | "estimated" | undefined;
}

export interface Completed extends Omit<Draft, "fields"> {
  readonly fields: CompletedField[];
}

const ALPHABETS: Record<string, string> = {
  LETTERS: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  DIGITS: "0123456789",
  SYMBOLS: "!@.-_*",
};
const NAMES: Record<string, string> = { USERNAME: "username", PASSWORD: "password", NOTES: "notesPlain" };
const DEFAULT: Recipe = { length: 32, sets: Object.keys(ALPHABETS), without: "" };

/** The characters that a recipe allows. */
export const charactersOf = ({ sets, without }: Recipe): string[] =>
  Object.entries(ALPHABETS)
    .flatMap(([set, characters]) => (sets.includes(set) ? characters.split("") : []))
    .filter((character) => !without.includes(character));

export function completed({ title, category, favorite, tags, urls, ...draft }: Draft, before: Item): Completed {
  const fields = draft.fields.map((field) => completedField(field, before));
  const sections = draft.sections.map(({ id, label = "" }) => ({ id, label }));
  for (const { section } of before.files) {
    if (section === undefined || sections.some(({ id }) => id === section)) continue;
    sections.push({ id: section, label: before.sections.find(({ id }) => id === section)?.label ?? "" });
  }
  requireUnique(fields.map(({ id }) => id));
  requireUnique(sections.map(({ id }) => id));
  requireUnique(fields.map(({ purpose }) => purpose || undefined));
  if (category === "PASSWORD" && !fields.some(({ purpose }) => purpose === "PASSWORD")) refuse("missing_field", "password");
  return { title, category, favorite, tags, urls, sections, fields };
}

function requireUnique(names: (string | undefined)[]): void {
  const present = names.filter((name) => name !== undefined);
  if (new Set(present).size < present.length) refuse();
}

function completedField(
  { id, section, purpose = "", generate, recipe = DEFAULT, ...field }: Field,
  before: Item,
): CompletedField {
  const type = purpose === "PASSWORD" ? "CONCEALED" : (field.type ?? "STRING");
  const value = generate && !field.value ? recipe : (field.value ?? "");
  if (typeof value !== "string" && charactersOf(value).length === 0) refuse();
  if (typeof value !== "string" && RESTRICTED_TYPES.has(type)) refuse("random");
  if (typeof value === "string" && value !== "" && !isAllowed(type, value)) refuse();
  const stored = before.fields.find((one) => one.id === id && one.value === value)?.entropy;
  const entropy = purpose === "PASSWORD" && value !== "" ? (stored ?? "estimated") : undefined;
  return { id, section: section?.id, type, purpose, label: field.label ?? NAMES[purpose] ?? "", value, entropy };
}

/** The types that do not allow every value. */
const RESTRICTED_TYPES = new Set(["DATE", "MONTH_YEAR", "OTP"]);

function isAllowed(type: string, value: string): boolean {
  if (type === "DATE") return /^-?\d{1,12}$/.test(value) || isDay(value);
  if (type === "MONTH_YEAR") return isDay(`${value.replace(/^(....)\/?(..)$/, "$1-$2")}-01`);
  return type !== "OTP" || isSecret(value);
}

function isDay(value: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** Base32 of a whole number of bytes. The tests that use this file write no key URI. */
const isSecret = (value: string) => /^[a-z2-7]+$/i.test(value) && [0, 2, 4, 5, 7].includes(value.length % 8);
