import type { Purpose } from "@item-vault/model/purposes";
import { sourceFault, TransferError } from "../../error.ts";
import { emptyState, urlsOf } from "../../item-parts.ts";
import type { Transfer, TransferField, TransferItem } from "../../item.ts";
import { lookup } from "../../lookup.ts";
import { Losses } from "../../losses.ts";
import { readApart } from "../../read-apart.ts";
import type { Dialect } from "./dialects.ts";
import { bodyOf, delimiterOf, guess } from "./header.ts";
import { choiceOf, type Cell, type Draft, type Fill, PARTS } from "./parts.ts";

/** Reads a CSV file (RFC 4180) by the table of its columns. */

/** A program that has changed the file may have left the line break out, so the file is not refused. */
const MAYBE_CUT_OFF = "the file does not end with a line break: check that its last value is complete";

interface Column {
  readonly name: string;
  readonly fill: Fill;
}

/**
 * Reads the Items of a CSV file. The dialect is `undefined` for a file of no known program. `chosen` has the parts that the user chose, by the
 * name of the column in lower case.
 */
export async function readCsv(
  text: string,
  dialect: Dialect | undefined,
  chosen: ReadonlyMap<string, string> = new Map(),
): Promise<Transfer> {
  const { default: papa } = await import("papaparse");
  const body = bodyOf(text);
  const { data, errors } = papa.parse<string[]>(body, {
    delimiter: delimiterOf(body),
    newline: body.includes("\n") ? "\n" : "\r",
  });
  for (const values of data) values[values.length - 1] = values.at(-1)!.replace(/\r$/, ""); // lines may end in both ways
  const [header = [], ...rows] = data;
  const columns = columnsOf(header, dialect, chosen);
  if (errors.length > 0)
    throw sourceFault(`Row ${(errors[0]!.row ?? 0) + 1}`, "has a quote that is not closed, or the file is cut off");
  const filled = [...rows.entries()].filter(([, values]) => values.some((value) => value.trim() !== ""));
  if (filled.length === 0) throw sourceFault("The file", "has no passwords");
  const [losses, unfit] = [new Losses(), []];
  const folders = new Set<string>();
  const titleAt = columns.findIndex(({ fill }) => fill === PARTS.title.fill);
  const seen = new Set<string | undefined>();
  const items = filled.flatMap(([n, values]): TransferItem[] => {
    const about = { title: values[titleAt]?.trim() || `Row ${n + 2}`, path: "" };
    const item = readApart({ losses, unfit }, about, (own) => readRow(values, columns, { dialect, losses: own, folders }));
    if (!item) return [];
    const isRepeated = seen.has(item.sourceId);
    seen.add(item.sourceId);
    return [isRepeated ? Object.assign(item, { sourceId: undefined }) : item];
  });
  const tags = new Set(items.flatMap((item) => item.tags));
  for (const folder of folders) if (!tags.has(folder)) losses.add("folders without Items", folder);
  if (dialect?.endsWithLine && !text.endsWith("\n")) losses.add(MAYBE_CUT_OFF, items.at(-1)?.title);
  return { source: dialect?.name ?? "csv", items, losses: losses.list(), unfit };
}

/**
 * Returns the columns of a header. The user's choice of a part comes first, then the dialect or the name of the column. Any other column becomes a
 * concealed field and is counted.
 */
function columnsOf(header: readonly string[], dialect: Dialect | undefined, chosen: ReadonlyMap<string, string>): Column[] {
  const names = header.map((name) => name.trim().replace(/^\uFEFF/, ""));
  const keys = names.map((name) => name.toLowerCase());
  const missing = dialect?.signs.every((sign) => sign.split(" ").some((key) => !keys.includes(key)));
  if (missing) throw sourceFault("The file", `does not have the columns of ${dialect!.program}`);
  const absent = [...chosen.keys()].find((key) => !keys.includes(key));
  if (absent !== undefined) throw sourceFault("The header", `has no column “${absent}”`);
  const known = keys.map((key) => choiceOf(chosen.get(key) ?? "") ?? (dialect ? lookup(dialect.columns, key) : guess(key)));
  if (!known.some(Boolean)) throw new TransferError("The header has no column whose name says what it is", NAME_COLUMNS);
  return known.map((part, n) => {
    // With a repeated name, a field's column would be ambiguous.
    const name = keys.indexOf(keys[n]!) === n ? names[n]! : `${names[n]} ${n + 1}`;
    return { name, fill: part === undefined ? unknown : typeof part === "function" ? part : PARTS[part].fill };
  });
}

const NAME_COLUMNS = "Nothing was imported. In the command line, name the columns, for example --map 'Login=username'.";

const unknown: Fill = (draft, cell) => {
  draft.count(`values of the column “${cell.column}”, kept as hidden fields`);
  PARTS.concealed.fill(draft, cell);
};

interface Context {
  readonly dialect: Dialect | undefined;
  readonly losses: Losses;
  /** Gets the names of rows that are folders. */
  readonly folders: Set<string>;
}

function readRow(
  values: readonly string[],
  columns: readonly Column[],
  { dialect, losses, folders }: Context,
): TransferItem | undefined {
  const counted: string[] = [];
  const draft = newDraft((what) => void counted.push(what));
  for (const { fill, cell } of cellsOf(values, columns, dialect)) {
    const value = dialect?.decode?.(cell.value, draft) ?? cell.value;
    fill(draft, { ...cell, value });
  }
  const category = lookup(dialect?.kinds ?? {}, draft.kind.trim().toLowerCase());
  if (category === "" && draft.fields.length + draft.urls.length === 0) {
    folders.add(draft.title);
    return undefined;
  }
  if (category === undefined && draft.kind !== "") {
    if (dialect?.kinds) counted.push("kinds of Items that are not known, kept as a text field");
    draft.fields.push({ label: "type", type: "STRING", value: draft.kind });
  }
  const item = itemOf(draft, category || undefined);
  for (const what of counted) losses.add(what, item.title);
  return item;
}

/** Returns the cells that are not blank, each with its fill. The kind comes first, because other fills depend on it. */
function cellsOf(
  values: readonly string[],
  columns: readonly Column[],
  dialect: Dialect | undefined,
): { fill: Fill; cell: Cell }[] {
  const further = dialect?.further;
  const extra = values.slice(columns.length).filter((value) => value.trim() !== "");
  if (values.length < columns.length || (extra.length > 0 && !further))
    throw sourceFault("The row", `has ${values.length} values but the header has ${columns.length}`);
  const cells = [
    ...columns.map(({ name, fill }, n) => ({ fill, cell: { column: name, value: values[n]! } })),
    ...extra.map((value) => ({ fill: further!, cell: { column: columns.at(-1)!.name, value } })),
  ];
  const filled = cells.filter(({ cell }) => cell.value.trim() !== "");
  return filled.toSorted((one, other) => Number(other.fill === PARTS.kind.fill) - Number(one.fill === PARTS.kind.fill));
}

const newDraft = (count: Draft["count"]): Draft => ({
  title: "",
  vault: undefined,
  likely: undefined,
  favorite: false,
  archived: false,
  sourceId: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  kind: "",
  tags: [],
  urls: [],
  fields: [],
  count,
});

function itemOf(draft: Draft, named: string | undefined): TransferItem {
  const { title, vault, favorite, archived, sourceId, createdAt, updatedAt, tags, urls, fields, likely } = draft;
  const category = named ?? categoryOf(draft, likely);
  const [first] = urls;
  return {
    ...emptyState(title || (first ? hostOf(first.href) : ""), category),
    sourceId,
    vault,
    archived,
    tags: [...new Set(tags)],
    urls: urlsOf(urls),
    fields: ordered(category === "LOGIN" ? withUsername(fields) : fields),
    files: [],
    history: [],
    ...(favorite ? { favorite } : {}),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  };
}

/** Returns the category of a row without a kind, by the parts that the row fills. */
function categoryOf({ fields, urls }: Draft, likely: string | undefined): string {
  const logsIn =
    urls.length > 0 || fields.some(({ purpose, type }) => purpose === "USERNAME" || purpose === "PASSWORD" || type === "OTP");
  const isNote = fields.length > 0 && fields.every(({ purpose }) => purpose === "NOTES");
  return logsIn ? "LOGIN" : (likely ?? (isNote ? "SECURE_NOTE" : "LOGIN"));
}

/** A login without a username has its email address as one. */
function withUsername(fields: readonly TransferField[]): readonly TransferField[] {
  const at = fields.findIndex(({ type }) => type === "EMAIL");
  if (at === -1 || fields.some(({ purpose }) => purpose === "USERNAME")) return fields;
  return fields.with(at, { purpose: "USERNAME", type: "STRING", value: fields[at]!.value! });
}

const RANKS = { USERNAME: 0, PASSWORD: 1, "": 2, NOTES: 3 } as const satisfies Readonly<Record<Purpose, number>>;

const rankOf = ({ purpose = "" }: TransferField): number => RANKS[purpose as Purpose];

const ordered = (fields: readonly TransferField[]): TransferField[] =>
  fields.toSorted((one, other) => rankOf(one) - rankOf(other));

/** The host of a URL, as a title. */
const hostOf = (url: string): string => (URL.canParse(url) && new URL(url).host) || url;
