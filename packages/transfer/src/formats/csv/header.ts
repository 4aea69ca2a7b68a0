import { lookup } from "../../lookup.ts";
import { headText } from "../../text.ts";
import { type Dialect, DIALECTS } from "./dialects.ts";
import { choiceOf, type PartName } from "./parts.ts";

/** Reads the header of a CSV file. */

const DELIMITERS = [",", ";", "\t"];

/** Returns the text without a byte order mark and without the first line by which spreadsheets name the delimiter. */
export const bodyOf = (text: string): string => text.replace(/^\uFEFF/, "").replace(/^sep=.\r?\n/i, "");

/** Returns the names of the columns of a file from its text, or from the beginning of its text. */
export function headerOf(text: string): string[] {
  const body = bodyOf(text);
  return split(body, delimiterOf(body));
}

/** The delimiter that gives the header the most columns. */
export const delimiterOf = (body: string): string =>
  DELIMITERS.toSorted((one, other) => split(body, other).length - split(body, one).length)[0]!;

const split = (body: string, delimiter: string): string[] => {
  const [line = ""] = body.split(/\r?\n|\r/, 1);
  return line.split(delimiter).map((name) =>
    name
      .trim()
      .replace(/^"(.*)"$/, "$1")
      .trim(),
  );
};

/**
 * Returns true if a file has a dialect: it has all columns of a sign, and only columns of the dialect. A sign with a column unique to this
 * dialect permits columns of a later release.
 */
export function isOf(dialect: Dialect, head: Uint8Array): boolean {
  const keys = headerOf(headText(head)).flatMap((name) => name.toLowerCase() || []);
  const knowsAll = keys.every((key) => Object.hasOwn(dialect.columns, key));
  const signs = dialect.signs.map((sign) => sign.split(" "));
  return signs.some((sign) => sign.every((key) => keys.includes(key)) && (knowsAll || sign.some(isUnique)));
}

const isUnique = (key: string): boolean => DIALECTS.filter(({ columns }) => Object.hasOwn(columns, key)).length === 1;

/** Names of columns that no program of the table uses. */
const SYNONYMS: Readonly<Record<string, PartName>> = {
  account: "title",
  site: "title",
  "user name": "username",
  user: "username",
  "login name": "username",
  login_name: "username",
  email: "username",
  "e-mail": "username",
  secret: "password",
  website: "url",
  "web site": "url",
  uri: "url",
  urls: "urls",
  comment: "notes",
  comments: "notes",
  description: "notes",
  "2fa": "otp",
  tag: "tags",
};

/** Returns the part that fits the name of a column: a synonym, or the part of the table's first program with such a column. */
export function guess(column: string): PartName | undefined {
  const key = column.trim().toLowerCase();
  const parts = DIALECTS.map(({ columns }) => lookup(columns, key)).filter((part) => typeof part === "string");
  return lookup(SYNONYMS, key) ?? parts.find((part) => choiceOf(part));
}

export interface ColumnChoice {
  readonly column: string;
  /** The part that fits the name of the column. */
  readonly part: PartName | undefined;
}

/** Returns the columns of a file that is CSV by its name, or by the names of at least two columns. Returns `undefined` for another file. */
export function columnsIn(bytes: Uint8Array, fileName: string): ColumnChoice[] | undefined {
  const columns = headerOf(headText(bytes.subarray(0, HEAD_BYTES))).map((column) => ({ column, part: guess(column) }));
  const isCsv = /\.(csv|tsv)$/i.test(fileName) || columns.filter(({ part }) => part).length > 1;
  return isCsv && columns.length > 1 ? columns : undefined;
}

/** Bytes of the longest header that is recognized. */
const HEAD_BYTES = 64 * 1024;
