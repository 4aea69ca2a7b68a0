import type { FieldType } from "@item-vault/model/field-types";
import { type Purpose, purposeRules } from "@item-vault/model/purposes";
import { fieldOfPurpose } from "../../item-parts.ts";
import type { TransferField } from "../../item.ts";
import { lookup } from "../../lookup.ts";
import { SHAPES } from "../bitwarden/shapes.ts";

/** The possible parts of an Item for a column of a CSV file, and the way a cell fills each. */

/** An Item while the cells of its row fill it. */
export interface Draft {
  title: string;
  vault: string | undefined;
  /** The category whose fields the row fills. */
  likely: string | undefined;
  favorite: boolean;
  archived: boolean;
  sourceId: string | undefined;
  createdAt: number | undefined;
  updatedAt: number | undefined;
  /** The name that the program has for the kind of Item. */
  kind: string;
  readonly tags: string[];
  readonly urls: { readonly href: string; readonly label?: string }[];
  readonly fields: TransferField[];
  /** Counts a value that the Item does not hold, or holds in another form. */
  readonly count: (what: string) => void;
}

export interface Cell {
  /** The name of the column as the file has it. */
  readonly column: string;
  /** Never blank. */
  readonly value: string;
}

/** Puts a cell into an Item. */
export type Fill = (draft: Draft, cell: Cell) => void;

export const addField = (draft: Draft, label: string, type: FieldType, value: string): void =>
  void draft.fields.push({ label, type, value });

/** The field of a purpose. Further values become fields with the name of their column. */
const purposed =
  (purpose: Purpose): Fill =>
  (draft, { column, value }) => {
    const isTaken = draft.fields.some((field) => field.purpose === purpose);
    if (isTaken) addField(draft, column, purposeRules(purpose).type ?? "STRING", value);
    else draft.fields.push(...fieldOfPurpose(purpose, value));
  };

/** Marks an Item. A value that is neither yes nor no becomes a field. */
const marked =
  (attribute: "archived" | "favorite"): Fill =>
  (draft, { column, value }) => {
    if (/^(1|true|yes|y|x)$/i.test(value.trim())) draft[attribute] = true;
    else if (!/^(0|false|no|n|-)$/i.test(value.trim())) addField(draft, column, "STRING", value);
  };

/** A date in Unix seconds, in milliseconds or in ISO 8601. A value that is not a date becomes a field. */
const dated =
  (attribute: "createdAt" | "updatedAt"): Fill =>
  (draft, { column, value }) => {
    const number = /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : undefined;
    const date = /^\s*\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN; // Date.parse takes many texts for dates
    const time = number === undefined ? date : number < 1e11 ? number * 1000 : number;
    if (Number.isNaN(time)) addField(draft, column, "STRING", value);
    else draft[attribute] = time;
  };

/** Returns a month in the form of MONTH_YEAR, or the text itself if it is not a month. */
export function monthOf(text: string): string {
  const [, month, short, long] = /^(\d{1,2})\s*[/.-]?\s*(?:(\d{2})|(\d{4}))$/.exec(text.trim()) ?? [];
  const [, year, second] = /^(\d{4})[/.-](\d{1,2})$/.exec(text.trim()) ?? [];
  if (month) return `${long ?? `20${short}`}${month.padStart(2, "0")}`;
  return year ? `${year}${second!.padStart(2, "0")}` : text;
}

/** Returns JSON, or `undefined` for a text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Addresses in one cell: a JSON array, or separated by a comma before a scheme. */
const addUrls: Fill = (draft, { column, value }) => {
  const list = jsonOf(value);
  const entries = Array.isArray(list) ? (list as unknown[]) : value.split(/\s*[,\n]\s*(?=[a-z][\w+.-]*:\/\/)/i);
  for (const entry of entries) {
    const url = typeof entry === "object" && entry !== null && "url" in entry ? entry.url : entry;
    if (typeof url === "string") draft.urls.push({ href: url });
    else addField(draft, column, "CONCEALED", JSON.stringify(entry));
  }
};

/** An address beside the first one. The same address again adds nothing. */
export const furtherUrl =
  (label: string): Fill =>
  (draft, { value }) => {
    if (!draft.urls.some(({ href }) => href === value)) draft.urls.push({ href: value, label });
  };

export const field =
  (type: FieldType, label?: string): Fill =>
  (draft, { column, value }) =>
    addField(draft, label ?? column, type, value);

/** A field of a card, an identity or a key, as Bitwarden's items have it. */
export const slot = (part: string, key: string): Fill => {
  const { category, slots } = Object.values(SHAPES).find((shape) => shape.part === part)!;
  const { label, type: fieldType = "STRING" } = slots.find((one) => one.key === key)!;
  return (draft, { value }) => {
    draft.likely ??= category;
    draft.fields.push({ id: key, label, type: fieldType, value });
  };
};

/** A column without a value for a person. A value other than the usual one is counted. */
export const setting =
  (what: string, usual = ""): Fill =>
  (draft, { value }) => {
    if (value !== usual) draft.count(what);
  };

interface Part {
  readonly fill: Fill;
  /** The name for people. Absent: no user can choose the part for a column. */
  readonly label?: string;
}

const folder: Fill = (draft, { value }) => {
  const path = value.replaceAll("\\", "/").replace(/^\/+|\/+$/g, "");
  if (path !== "" && path !== "(none)") draft.tags.push(path);
};

export const PARTS = {
  title: {
    label: "Title",
    fill: (draft, { column, value }) => {
      if (draft.title === "") draft.title = value;
      else addField(draft, column, "STRING", value);
    },
  },
  username: { label: "Username", fill: purposed("USERNAME") },
  password: { label: "Password", fill: purposed("PASSWORD") },
  url: { label: "URL", fill: (draft, { value }) => void draft.urls.push({ href: value }) },
  otp: { label: "One-time password", fill: field("OTP", "one-time password") },
  notes: { label: "Notes", fill: purposed("NOTES") },
  folder: { label: "Folder (becomes a tag)", fill: folder },
  tags: {
    label: "Tags",
    fill: (draft, { value }) => {
      const tags = value.split(/[;,]/).map((tag) => tag.trim());
      draft.tags.push(...tags.filter(Boolean));
    },
  },
  vault: {
    label: "Vault",
    fill: (draft, { column, value }) => {
      if (draft.vault === undefined) draft.vault = value;
      else addField(draft, column, "STRING", value);
    },
  },
  favorite: { label: "Favorite", fill: marked("favorite") },
  text: { label: "Text field", fill: field("STRING") },
  concealed: { label: "Hidden field", fill: field("CONCEALED") },
  ignore: { label: "Do not import", fill: (draft, { column }) => draft.count(`values of the column “${column}”`) },
  urls: { fill: addUrls },
  archived: { fill: marked("archived") },
  kind: { fill: (draft, { value }) => void (draft.kind = value) },
  created: { fill: dated("createdAt") },
  updated: { fill: dated("updatedAt") },
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof PARTS;

/** The parts that a user can choose for a column, with their names for people. */
export const CHOICES = Object.entries<Part>(PARTS).flatMap(([name, { label }]) =>
  label === undefined ? [] : [{ name: name as PartName, label }],
);

/** Returns the part of a name that a user can choose. */
export const choiceOf = (name: string): PartName | undefined =>
  lookup<Part>(PARTS, name)?.label === undefined ? undefined : (name as PartName);
