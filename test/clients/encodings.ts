/** How the clients' languages write JSON and queries: the same content in other bytes. */

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** As encoding/json of Go: compact, and safe inside HTML. */
export const goJson = (value: unknown): string => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);

/** As json.dumps of Python, with its defaults: a blank after `,` and `:`, nothing but ASCII. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  const entries = Object.entries(value).map(([name, member]) => `${pythonJson(name)}: ${pythonJson(member)}`);
  return `{${entries.join(", ")}}`;
}

/** As url.QueryEscape of Go and urlencode of Python: a blank is `+`, a plus `%2B`. */
export const formEscape = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");

/** The query that connect-sdk-go asks for a title with, of vaults and of Items. */
export const goTitle = (title: string): string => `filter=${formEscape(`title eq "${title}"`)}`;

/** As httpx of Python quotes a query that it is given as text: a blank is `%20`; `+`, `&` and `=` stay. */
export const httpxQuote = (text: string): string =>
  encodeURIComponent(text).replace(/%(24|26|2B|2C|2F|3B|3D|3F)/g, (escape) => decodeURIComponent(escape));
