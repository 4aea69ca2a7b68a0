/** The encodings of JSON and of queries in the languages of the clients. */

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** JSON as encoding/json of Go writes it: without blanks, and with the characters of HTML escaped. */
export const goJson = (value: unknown): string => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);

/** JSON as json.dumps of Python writes it by default: with a blank after `,` and `:`, and only ASCII characters. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  const entries = Object.entries(value).map(([name, member]) => `${pythonJson(name)}: ${pythonJson(member)}`);
  return `{${entries.join(", ")}}`;
}

/** A query as url.QueryEscape of Go and urlencode of Python encode it: a blank as `+`, a plus as `%2B`. */
export const formEscape = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");

/** The query with which connect-sdk-go finds vaults and Items by title. */
export const goTitle = (title: string): string => `filter=${formEscape(`title eq "${title}"`)}`;

/** A query as httpx of Python encodes a text: a blank as `%20`; `+`, `&` and `=` are not escaped. */
export const httpxQuote = (text: string): string =>
  encodeURIComponent(text).replace(/%(24|26|2B|2C|2F|3B|3D|3F)/g, (escape) => decodeURIComponent(escape));
