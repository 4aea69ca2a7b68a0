/** Readers of JSON values (contract 2) that use no code of the service, for the reference implementation in patch.ts. */

/** A refusal with the kind that the service uses. `random`: whether the service refuses depends on a generated value. */
export class Refused extends Error {
  readonly kind: "invalid" | "category" | "missing_field" | "random";
  readonly field: string | undefined;

  constructor(kind: Refused["kind"], field?: string) {
    super(kind);
    this.kind = kind;
    this.field = field;
  }
}

export function refuse(kind: Refused["kind"] = "invalid", field?: string): never {
  throw new Refused(kind, field);
}

const words = (line: string) => new Set(line.split(" "));
const CATEGORIES = words(
  "LOGIN PASSWORD API_CREDENTIAL SERVER DATABASE CREDIT_CARD MEMBERSHIP PASSPORT SOFTWARE_LICENSE OUTDOOR_LICENSE " +
    "SECURE_NOTE WIRELESS_ROUTER BANK_ACCOUNT DRIVER_LICENSE IDENTITY REWARD_PROGRAM DOCUMENT EMAIL_ACCOUNT " +
    "SOCIAL_SECURITY_NUMBER MEDICAL_RECORD SSH_KEY CUSTOM",
);
const TYPES = words(
  "STRING EMAIL CONCEALED URL OTP TOTP DATE MONTH_YEAR MENU SSHKEY ADDRESS PHONE GENDER REFERENCE FILE CREDIT_CARD_NUMBER " +
    "CREDIT_CARD_TYPE",
);
const PURPOSES = words("USERNAME PASSWORD NOTES");
const SETS = words("LETTERS DIGITS SYMBOLS");

export type Reader<T> = (value: unknown) => T;

export const text = (value: unknown, most = 65_536): string =>
  typeof value === "string" && new TextEncoder().encode(value).length <= most ? value : refuse();

export const bool: Reader<boolean> = (value) => (typeof value === "boolean" ? value : refuse());

/** Reads a value that may be absent or `null`. */
export const maybe = <T>(value: unknown, read: Reader<T>): T | undefined =>
  value === undefined || value === null ? undefined : read(value);

/** Reads a text; absent, `null` and empty mean absent (contract 2.17). */
const optionalText: Reader<string | undefined> = (value) => maybe(value, text) || undefined;

const word = (value: unknown, allowed: Set<string>): string | undefined => {
  const upper = optionalText(value)?.toUpperCase();
  return upper === undefined || allowed.has(upper) ? upper : refuse();
};

export const object: Reader<Record<string, unknown>> = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : refuse();

export const list = <T>(value: unknown, read: Reader<T>): T[] => {
  const entries = maybe(value, (one) => (Array.isArray(one) ? (one as unknown[]) : refuse())) ?? [];
  return entries.map((one) => read(one));
};

export function category(value: unknown): string {
  const upper = typeof value === "string" ? value.toUpperCase() : "";
  return CATEGORIES.has(upper) ? upper : refuse("category");
}

export interface Url {
  href: string;
  label?: string | undefined;
  primary?: boolean | undefined;
}

/** The attributes of a Url with the readers of their values. Sections and fields have such a table too. */
export const URL_ATTRIBUTES: Record<string, Reader<unknown>> = {
  href: (value) => text(value),
  label: (value) => maybe(value, text),
  primary: (value) => maybe(value, bool),
};

export interface Section {
  id?: string | undefined;
  label?: string | undefined;
}

export const SECTION_ATTRIBUTES: Record<string, Reader<unknown>> = { label: (value) => maybe(value, text) };

export interface Recipe {
  length: number;
  sets: string[];
  without: string;
}

export interface Field {
  id?: string | undefined;
  /** Absent when it has no id (contract 2.17). */
  section?: Section | undefined;
  type?: string | undefined;
  purpose?: string | undefined;
  label?: string | undefined;
  value?: string | undefined;
  generate?: boolean | undefined;
  recipe?: Recipe | undefined;
}

export const FIELD_ATTRIBUTES: Record<string, Reader<unknown>> = {
  section: (value) =>
    maybe(value, (one) => {
      const { id, label } = object(one);
      const section = { id: optionalText(id), label: maybe(label, text) };
      return section.id === undefined ? undefined : section;
    }),
  type: (value) => word(value, TYPES)?.replace(/^TOTP$/, "OTP"),
  purpose: (value) => word(value, PURPOSES),
  label: (value) => maybe(value, text),
  value: (value) => maybe(value, text),
  generate: (value) => maybe(value, bool),
  recipe: (value) =>
    maybe(value, (one): Recipe => {
      const { length, characterSets, excludeCharacters } = object(one);
      const size = maybe(length, Number.isInteger) === false ? refuse() : ((length ?? 32) as number);
      const sets = list(characterSets, (set) => word(set, SETS)).filter((set) => set !== undefined);
      const without = maybe(excludeCharacters, text) ?? "";
      return { length: size >= 1 && size <= 64 ? size : refuse(), sets: sets.length > 0 ? sets : [...SETS], without };
    }),
};

/** Reads the attributes of an object by such a table, and drops all others. */
function readAttributes<T>(value: unknown, attributes: Record<string, Reader<unknown>>): T {
  const json = object(value);
  return Object.fromEntries(Object.entries(attributes).map(([name, read]) => [name, read(json[name])])) as T;
}

export const url = (value: unknown): Url => readAttributes(value, URL_ATTRIBUTES);
export const section = (value: unknown): Section => ({
  id: optionalText(object(value)["id"]),
  ...readAttributes<Section>(value, SECTION_ATTRIBUTES),
});
export const field = (value: unknown): Field => ({
  id: optionalText(object(value)["id"]),
  ...readAttributes<Field>(value, FIELD_ATTRIBUTES),
});

/** What patch.ts changes in place: the attributes of an Item that a PATCH may change. */
export interface Draft {
  title: string;
  category: string;
  favorite: boolean;
  tags: string[];
  urls: Url[];
  sections: Section[];
  fields: Field[];
}
