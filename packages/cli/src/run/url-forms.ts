/** The forms that programs give to a text in a URL: each of them escapes other characters. */

const ENCODERS: readonly ((text: string) => string)[] = [
  encodeURI,
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll("'", "%27"), // the same in a query that is parsed
  escapeAll,
  (text) => escapeAll(text).replaceAll("%2F", "/"), // urllib.parse.quote of Python
  (text) => escapeAll(text).replaceAll("%20", "+"), // url.QueryEscape of Go
  (text) => new URLSearchParams([["", text]]).toString().slice(1),
];

/** Escapes all but the unreserved characters (RFC 3986 section 2.3). */
function escapeAll(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A URL of a special scheme and one of another: the URL standard escapes them differently (section 4.2). */
const BASES = ["https://host/", "x://host/"];

const SETTERS = ["username", "pathname", "search", "hash"] as const;

/** The text before and after a text in a parsed URL. */
const AROUND: readonly (readonly [before: string, after: string])[] = [
  ["x:", ""],
  ["https://", "@host"],
  ...BASES.flatMap((base) => ["", "?", "#"].map((mark) => [`${base}${mark}`, ""] as const)),
];

/** A URL loses blanks and line breaks at its ends, so the text is between two of these. */
const EDGE = "-";

/** Returns the forms of a text in URLs, some of them several times. The text has no half of a surrogate pair. */
export function urlFormsOf(text: string): string[] {
  const edged = EDGE + text + EDGE;
  const urls = [
    ...BASES.flatMap((base) => SETTERS.map((setter) => Object.assign(new URL(base), { [setter]: edged })[setter])),
    ...AROUND.map(([before, after]) => before + edged + after).flatMap((url) => (URL.canParse(url) ? new URL(url).href : [])),
  ];
  const forms = urls.map((url) => url.slice(url.indexOf(EDGE) + EDGE.length, url.lastIndexOf(EDGE)));
  const whole = decode(text);
  const all = [...ENCODERS.map((encoder) => encoder(text)), ...forms.filter((form) => decode(form) === whole)];
  return [...all, ...all.map((form) => form.replaceAll(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase()))]; // HttpUtility of .NET
}

/**
 * Returns the bytes of a text without its escapes, as Latin-1. A form that has lost a part, as a path with `..`, belongs to another text: it
 * would mask other text. A URL of a special scheme has a slash for each backslash.
 */
const decode = (text: string): string =>
  Buffer.from(text)
    .toString("latin1")
    .replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll("\\", "/");
