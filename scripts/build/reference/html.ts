/** HTML as a value of its own type, so that no text gets into it unescaped. */

export interface Html {
  readonly html: string;
}

type Value = Html | string | false | undefined | readonly Value[];

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

function write(value: Value): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escape(value);
  return "html" in value ? value.html : value.map(write).join("");
}

/** The template is HTML. What is inserted is escaped, unless it is `Html` itself; `undefined` and `false` insert nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  html: parts.map((part, index) => part + write(values[index])).join(""),
});

/** The values, with something between each two of them. */
export const joined = (values: readonly Html[], between: Html | string): Html =>
  html`${values.map((value, index) => (index === 0 ? value : html`${between}${value}`))}`;
