import { FIELD_TYPE_NAMES } from "@item-vault/model/field-types";
import { CATEGORIES } from "@item-vault/model/item";
import { fits, LIMITS } from "@item-vault/model/limits";
import { nameOfPurpose } from "@item-vault/model/purposes";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8Of, hexOf } from "./bytes.ts";
import { fileOf } from "./item-parts.ts";
import type { Transfer, TransferFile, TransferItem, Unfit, TransferField, TransferState } from "./item.ts";
import { Losses, TOO_LARGE } from "./losses.ts";
import { stepsOf } from "./steps.ts";
import { fitValue } from "./values.ts";

/** Makes the Items of a source fit the limits of the service (contract 12) before the first is written. */

export interface Fitted {
  readonly items: TransferItem[];
  readonly losses: Losses;
  readonly unfit: Unfit[];
}

/** More earlier versions than any service keeps (VERSIONS_KEPT is at most 100), and than it keeps by default. */
const VERSIONS_MAX = 100;
const VERSIONS_DEFAULT = 10;

export function fitTransfer(transfer: Transfer): Fitted {
  const { fitted, add } = beginFit(transfer);
  for (const item of transfer.items) add(item);
  return fitted;
}

/** Does the same for a caller that pauses between Items: `add` adds an Item to `fitted`. */
export function beginFit({ losses, unfit = [] }: Transfer): {
  readonly fitted: Fitted;
  readonly add: (item: TransferItem) => void;
} {
  const fitted: Fitted = { items: [], losses: new Losses(), unfit: [...unfit] };
  fitted.losses.addAll(losses);
  const add = (item: TransferItem) => {
    const outcome = fitItem(item, fitted.losses);
    if ("why" in outcome) fitted.unfit.push(outcome);
    else fitted.items.push(outcome);
  };
  return { fitted, add };
}

function fitItem(item: TransferItem, losses: Losses): TransferItem | Unfit {
  const { title, files: own, history: earlier, ...whole } = item;
  const add = (what: string) => losses.add(what, title);
  const current = fitState({ title, ...whole }, add);
  const history = earlier.slice(-VERSIONS_MAX).map((state) => fitState(state, () => undefined));
  const kept = new Set(current.long.map(({ text }) => text));
  const lost = new Set(history.flatMap(({ long }) => long.map(({ text }) => text)).filter((text) => !kept.has(text)));
  losses.add("values over 64 KiB that only earlier versions have", title, lost.size);
  losses.add(`earlier versions beyond the newest ${VERSIONS_MAX}`, title, earlier.length - history.length);
  losses.add(
    `earlier versions beyond the newest ${VERSIONS_DEFAULT} (unless VERSIONS_KEPT of the service is higher)`,
    title,
    Math.max(0, history.length - VERSIONS_DEFAULT),
  );
  if (item.createdAt !== undefined || item.updatedAt !== undefined)
    add("dates of creation and change (the service sets its own)");
  const files = [...own, ...current.long.map(({ name, text }) => fileOf(name, utf8Of(text)))];
  if (current.long.length > 0) losses.add("values over 64 KiB, kept as Files", title, current.long.length);
  const states = history.map(({ state }) => state);
  const outcome: TransferItem = { ...item, ...current.state, files: fitFiles(files, add), history: states };
  const why = [...history, current].map(({ why: fault }) => fault).find(Boolean) ?? faultOfSize(outcome);
  return why ? { title, why } : outcome;
}

/** Drops Files that the service refuses, and fixes their names. */
function fitFiles(files: readonly TransferFile[], add: (what: string) => void): TransferFile[] {
  return files.flatMap((file) => {
    if (file.size > LIMITS.file) {
      add(TOO_LARGE);
      return [];
    }
    const whole = file.name.toWellFormed();
    const name = fits(whole, LIMITS.fileName) ? whole || "file" : `${whole.slice(0, 200).toWellFormed()}…`;
    if (name !== whole) add("names of Files that are empty or over 1 KiB, changed");
    const { section, ...rest } = file;
    return [{ ...rest, name, ...(section ? { section: shortId(section) } : {}) }];
  });
}

/** The service measures the encrypted form, which is about 4/3 of the JSON text (contract 12.2); generated ids come on top. */
function faultOfSize(item: TransferItem): string | undefined {
  if (item.files.length > LIMITS.list) return `has more than ${LIMITS.list} Files`;
  const names = item.files.map(({ name, section }) => ({ name, section }));
  const states = stepsOf(item).flatMap((step) => ("state" in step ? [step.state] : []));
  const sizes = states.map((state) => {
    const sections = state.fields.map(({ section }) => section); // the service declares missing sections
    return utf8Of(JSON.stringify([state, names, sections])).length + 64 * state.fields.length + 1024;
  });
  return Math.max(...sizes) * (4 / 3) > LIMITS.item ? "is larger than 512 KiB" : undefined;
}

/** Makes one state of an Item fit the rules of the service (contract 2 and 12). */

interface FittedState {
  readonly state: TransferState;
  /** Values that are too long for a field. They become Files. */
  readonly long: { readonly name: string; readonly text: string }[];
  /** Why the state cannot be written. */
  readonly why?: string | undefined;
}

/** Fits a state to the limits of the service. `add` counts losses. */
function fitState(given: TransferState, add: (what: string) => void): FittedState {
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

/** Returns a copy without undefined attributes. `mended` gets the changed texts. */
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

/** Replaces the id of a section if it is too long. Fields refer to it in the same way. */
const shortId = (id: string): string => (fits(id, LIMITS.sectionId) ? id : hexOf(sha256(utf8Of(id))));

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
