import { nameOfPurpose } from "@item-vault/model/purposes";
import { sha256 } from "@noble/hashes/sha2.js";
import { FIELD_TYPE_NAMES } from "@item-vault/model/field-types";
import { fits, LIMITS } from "@item-vault/model/limits";
import { CATEGORIES } from "@item-vault/model/item";
import { hexOf, utf8Of } from "./bytes.ts";
import type { TransferField, TransferState } from "./item.ts";
import { fitValue } from "./values.ts";

/** Makes one state of an Item fit the rules of the service (contract 2 and 12). */

export interface FittedState {
  readonly state: TransferState;
  /** Values that are too long for a field. They become Files. */
  readonly long: { readonly name: string; readonly text: string }[];
  /** Why the state cannot be written. */
  readonly why?: string | undefined;
}

/** In: a state, and a function that counts what is lost. */
export function fitState(given: TransferState, add: (what: string) => void): FittedState {
  const mended = new Set<string>();
  const cleaned = withWellFormedTexts(given, mended);
  if (mended.size > 0) add("halves of surrogate pairs, replaced by U+FFFD");
  const long: FittedState["long"] = [];
  const fields = fitFields(cleaned, { add, long });
  const state: TransferState = {
    ...cleaned,
    title: cutTitle(cleaned.title),
    category: fitCategory(cleaned.category, add),
    sections: uniqueSections(cleaned.sections),
    fields: fits(cleaned.title, LIMITS.title) ? fields : [...fields, { label: "title", type: "STRING", value: cleaned.title }],
  };
  if (!fits(cleaned.title, LIMITS.title)) add("titles over 1 KiB, cut (the whole title is in a field)");
  return { state: withPassword(state), long, why: faultOf(state) };
}

/** A copy without attributes that are undefined. In: gets the texts that were changed. */
function withWellFormedTexts<T>(value: T, mended: Set<string>): T {
  if (typeof value === "string") {
    if (value.isWellFormed()) return value;
    mended.add(value);
    return value.toWellFormed() as T;
  }
  if (Array.isArray(value)) return value.map((element: unknown) => withWellFormedTexts(element, mended)) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) if (part !== undefined) copy[name] = withWellFormedTexts(part, mended);
  return copy as T;
}

interface Context {
  readonly add: (what: string) => void;
  readonly long: FittedState["long"];
}

function fitFields({ fields }: TransferState, { add, long }: Context): TransferField[] {
  const purposes = new Set<string>();
  // The ids that the service gives to fields by their purposes (contract 2.12).
  const ids = new Set(fields.flatMap(({ id, purpose }) => (!id && purpose && nameOfPurpose(purpose.toUpperCase())) || []));
  return fields.flatMap((field) => {
    const { id, value = "" } = field;
    const [type, purpose] = [typeOf(field), field.purpose?.toUpperCase()];
    if (!fits(value, LIMITS.string)) {
      long.push({ name: `${field.label || purpose?.toLowerCase() || id || "value"}.txt`, text: value });
      return [];
    }
    const known = (FIELD_TYPE_NAMES as string[]).includes(type) ? type : "STRING";
    if (known !== type) add("types of fields that the service does not have, kept as STRING");
    const fitted: { -readonly [K in keyof TransferField]: TransferField[K] } = fitValue({ ...field, type: known });
    if (fitted.type !== known) add(`values that are no ${known}, kept as ${fitted.type}`);
    if (id !== undefined && (id === "" || ids.has(id))) delete fitted.id;
    if (id) ids.add(id);
    delete fitted.purpose;
    if (purpose && nameOfPurpose(purpose) === undefined) add("purposes of fields that the service does not have");
    else if (purpose && !purposes.has(purpose)) fitted.purpose = purpose;
    if (purpose) purposes.add(purpose);
    if (fitted.section) fitted.section = { ...fitted.section, id: shortId(fitted.section.id) };
    return [fitted];
  });
}

/** In upper case, and TOTP under its other name (contract 2.7, 2.9). */
const typeOf = ({ type }: TransferField): string => type?.toUpperCase().replace(/^TOTP$/, "OTP") ?? "STRING";

/** A section that has no room for its id gets another one; fields name it in the same way. */
export const shortId = (id: string): string => (fits(id, LIMITS.sectionId) ? id : hexOf(sha256(utf8Of(id))));

function uniqueSections(sections: TransferState["sections"]): TransferState["sections"] {
  const unique = new Map(sections.toReversed().map((section) => [section.id, { ...section, id: shortId(section.id) }]));
  return [...new Set(sections.map(({ id }) => id))].map((id) => unique.get(id)!);
}

function fitCategory(category: string, add: (what: string) => void): string {
  const upper = category.toUpperCase();
  if ((CATEGORIES as readonly string[]).includes(upper)) return upper;
  add("categories that the service does not have (the Item becomes CUSTOM)");
  return "CUSTOM";
}

/** An Item of category PASSWORD needs its password (contract 2.21). */
const withPassword = (state: TransferState): TransferState =>
  state.category !== "PASSWORD" || state.fields.some(({ purpose }) => purpose === "PASSWORD")
    ? state
    : { ...state, fields: [...state.fields, { purpose: "PASSWORD", type: "CONCEALED", value: "" }] };

function cutTitle(title: string): string {
  if (fits(title, LIMITS.title)) return title;
  let cut = "";
  for (const character of title) {
    if (!fits(cut + character, LIMITS.title - 3)) break;
    cut += character;
  }
  return `${cut}…`;
}

function faultOf({ fields, sections, tags, urls }: TransferState): string | undefined {
  const many = Object.entries({ fields, sections, tags, urls }).find(([, list]) => list.length > LIMITS.list);
  if (many) return `has more than ${LIMITS.list} ${many[0]}`;
  const texts = [
    ...tags,
    ...urls.flatMap(({ href, label = "" }) => [href, label]),
    ...sections.map(({ label = "" }) => label),
    ...fields.flatMap(({ id = "", label = "" }) => [id, label]),
  ];
  return texts.every((text) => fits(text, LIMITS.string)) ? undefined : "has a tag, an address, a label or an id over 64 KiB";
}
