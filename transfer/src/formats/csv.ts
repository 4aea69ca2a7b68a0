import { emptyState, fieldOfPurpose, urlsOf } from "../item-parts.ts";
import { Losses } from "../losses.ts";
import type { ImportFormat } from "../format.ts";
import type { Transfer, TransferField, TransferItem } from "../item.ts";
import { sourceFault } from "../error.ts";
import { decodeText, headText } from "../text.ts";

/** Passwords that browsers export as CSV (RFC 4180). The header tells whose they are. */

type Row = ReadonlyMap<string, string>;

interface Browser {
  readonly name: string;
  readonly summary: string;
  /** The columns that the header begins with. */
  readonly header: readonly string[];
  /** The columns that `read` reads; another column becomes a field. */
  readonly columns: readonly string[];
  /** Whether a file that does not end with a line feed may be cut off: this browser ends each row with one and quotes no value. */
  readonly endsWithLine: boolean;
  readonly read: (row: Row, losses: Losses) => Partial<TransferItem> & { readonly title: string };
}

/** The host of a URL, as a title. */
const hostOf = (url: string): string => (URL.canParse(url) && new URL(url).host) || url;

/** A date in Unix milliseconds under an attribute. */
const dateOf = <Name extends string>(name: Name, text = "") =>
  (/^\d{1,15}$/.test(text) ? { [name]: Number(text) } : {}) as Partial<Record<Name, number>>;

const CHROME: Browser = {
  name: "chrome",
  summary: "Chrome, Edge, Brave and others: passwords as CSV",
  header: ["name", "url", "username", "password"],
  columns: ["name", "url", "username", "password", "note"],
  endsWithLine: true,
  read: (row) => {
    const [url, title] = [row.get("url") ?? "", row.get("name") ?? ""];
    return { title: title || hostOf(url), urls: urlsOf(url === "" ? [] : [{ href: url }]) };
  },
};

const UUID = /^\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i;

const FIREFOX: Browser = {
  name: "firefox",
  summary: "Firefox: passwords as CSV",
  header: ["url", "username", "password", "httpRealm"],
  columns: "url username password httpRealm formActionOrigin guid timeCreated timeLastUsed timePasswordChanged".split(" "),
  endsWithLine: false,
  read: (row, losses) => {
    const [url, form, realm] = [row.get("url") ?? "", row.get("formActionOrigin") ?? "", row.get("httpRealm") ?? ""];
    const title = hostOf(url);
    if (row.get("timeLastUsed")) losses.add("dates of last use", title);
    const forms = form === "" || form === url ? [] : [{ href: form, label: "form action" }];
    return {
      title,
      urls: urlsOf([...(url === "" ? [] : [{ href: url }]), ...forms]),
      fields: realm === "" ? [] : [{ label: "HTTP realm", type: "STRING", value: realm }],
      sourceId: UUID.exec(row.get("guid") ?? "")?.[1]?.toLowerCase(),
      ...dateOf("createdAt", row.get("timeCreated")),
      ...dateOf("updatedAt", row.get("timePasswordChanged")),
    };
  },
};

const formatOf = (browser: Browser): ImportFormat => ({
  name: browser.name,
  summary: browser.summary,
  matches: (head) => {
    const [line = ""] = headText(head)
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/, 1);
    return line.replaceAll('"', "").startsWith(browser.header.join(","));
  },
  read: async (bytes) => readCsv(decodeText(bytes, "The file"), browser),
});

export const chrome: ImportFormat = formatOf(CHROME);
export const firefox: ImportFormat = formatOf(FIREFOX);

/** A program that has changed the file may have left the line feed out, so the file is not refused. */
const MAYBE_CUT_OFF = "the end of the last value, if the file is cut off: it does not end with a line feed";

async function readCsv(text: string, browser: Browser): Promise<Transfer> {
  const { default: papa } = await import("papaparse");
  const { data, errors } = papa.parse<string[]>(text, { delimiter: ",", skipEmptyLines: true });
  const [header = [], ...rows] = data;
  if (!browser.header.every((name, n) => header[n] === name))
    throw sourceFault("The file", `does not begin with the header ${browser.header.join(",")}`);
  if (errors.length > 0)
    throw sourceFault(`Row ${(errors[0]!.row ?? 0) + 1}`, "has a quote that is not closed, or the file is cut off");
  if (rows.length === 0) throw sourceFault("The file", "has no passwords");
  // A repeated name would hide the values of the column before.
  const names = header.map((name, column) => (header.indexOf(name) === column ? name : `${name} ${column + 1}`));
  const losses = new Losses();
  const seen = new Set<string | undefined>();
  const items = rows.map((values, n): TransferItem => {
    if (values.length !== header.length)
      throw sourceFault(`Row ${n + 2}`, `has ${values.length} values, and the header has ${header.length}`);
    const item = readRow(new Map(names.map((name, column) => [name, values[column] ?? ""])), browser, losses);
    const repeated = seen.has(item.sourceId);
    seen.add(item.sourceId);
    if (browser.endsWithLine && n === rows.length - 1 && !text.endsWith("\n")) losses.add(MAYBE_CUT_OFF, item.title);
    return repeated ? Object.assign(item, { sourceId: undefined }) : item;
  });
  return { source: browser.name, items, losses: losses.list() };
}

function readRow(row: Row, { columns, read }: Browser, losses: Losses): TransferItem {
  const { fields = [], ...known } = read(row, losses);
  const others = [...row].filter(([name, value]) => !columns.includes(name) && value !== "");
  const all: TransferField[] = [
    ...fieldOfPurpose("USERNAME", row.get("username") || undefined),
    ...fieldOfPurpose("PASSWORD", row.get("password") || undefined),
    ...fields,
    ...others.map(([label, value]) => ({ label, type: "CONCEALED", value })),
    ...fieldOfPurpose("NOTES", row.get("note") || undefined),
  ];
  return {
    ...emptyState("", "LOGIN"),
    sourceId: undefined,
    vault: undefined,
    archived: false,
    files: [],
    history: [],
    ...known,
    fields: all,
  };
}
