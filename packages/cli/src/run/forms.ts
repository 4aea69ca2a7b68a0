import { urlFormsOf } from "./url-forms.ts";

/** The forms that programs give to a text when they write it into another language: each of them escapes other characters. */

/** Returns a text and its forms, some of them several times. The text has no half of a surrogate pair. */
export function formsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const backslashed = new Set(BACKSLASHED.map((characters) => text.replaceAll(characters, String.raw`\$&`)));
  return [
    text,
    ...JSON_WRITERS.map((write) => write(json)),
    ...[...backslashed].flatMap((escaped) => NOTATIONS.map((write) => write(escaped))),
    ...[...QUOTE_WRITERS, ...MARKUP_WRITERS].map((write) => write(text)),
    ...urlFormsOf(text),
  ];
}

/** Returns a function that replaces each of these characters. */
const escaping =
  (characters: RegExp, escape: (character: string) => string) =>
  (text: string): string =>
    text.replaceAll(characters, escape);

const hex = (character: string, digits: number): string => character.codePointAt(0)!.toString(16).padStart(digits, "0");
const escapeUnit = (unit: string): string => String.raw`\u${hex(unit, 4)}`;
const escapeUnitInCapitals = (unit: string): string => String.raw`\u${hex(unit, 4).toUpperCase()}`;
const escapeSlash = escaping(/\//g, () => String.raw`\/`);
const escapeUnits = escaping(/[^\x20-\x7e]/g, escapeUnit);

/** Further escapes of programs in a string of JSON, besides those of `JSON.stringify`. */
const JSON_WRITERS: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => JSON.stringify(json).slice(1, -1), // JSON in a string of JSON, as in logs
  escapeUnits, // json.dumps of Python
  escaping(/[<>&\u2028\u2029]/g, escapeUnit), // json.Marshal of Go
  escaping(/[<>&='\u2028\u2029]/g, escapeUnit), // Gson
  escapeSlash, // PHP with JSON_UNESCAPED_UNICODE
  (json) => escapeUnits(escapeSlash(json)), // PHP
  (json) => escaping(/[^\x20-\x7e]|[<>&'+`]/g, escapeUnitInCapitals)(json.replaceAll(String.raw`\"`, String.raw`\u0022`)), // .NET
];

/** Characters escaped by a backslash: in quotes of one kind and of the other, in double quotes of a shell, and in a word of bash (`%q`). */
const BACKSLASHED: readonly RegExp[] = [
  /\\/g,
  /[\\']/g,
  /[\\"]/g,
  /[\\"$`]/g,
  /[\\"$@]/g,
  /[^\w@%+=:./~#\u0080-\uffff\n-]|^[~#]/g,
];

const CONTROL = /\p{Cc}/gu;
/** Characters that Python and Go do not print: controls, unassigned characters, and blanks but for the space. */
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;
const NAMES = new Map(
  Object.entries({ "\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f", "\v": "v", "\x07": "a", "\x1b": "e" }),
);
/** Returns a function that writes a control character by its name if that is one of `names`, else by `escape`. */
const named = (names: string, escape: (character: string) => string) => (character: string) =>
  names.includes(NAMES.get(character) ?? "?") ? `\\${NAMES.get(character)!}` : escape(character);
const octal = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!;
  return code < 0x100 ? `\\x${hex(character, 2)}` : code < 0x1_0000 ? escapeUnit(character) : `\\U${hex(character, 8)}`;
};

/** Notations of programs for characters outside printable ASCII. */
const NOTATIONS: readonly ((text: string) => string)[] = [
  (text) => text,
  escaping(UNPRINTABLE, named("ntr", escapeCharacter)), // repr of Python
  escaping(/[^\x20-\x7e]/gu, named("ntr", escapeCharacter)), // ascii of Python
  escaping(
    CONTROL,
    named("ntrbf", (character) => `\\x${hex(character, 2).toUpperCase()}`),
  ), // inspect of Node
  escaping(UNPRINTABLE, named("ntrbfva", escapeCharacter)), // %q of Go
  escaping(
    CONTROL,
    named("ntrbfva", (character) => (character === "\x1b" ? String.raw`\E` : octal(character))),
  ), // $'…' of bash
  escaping(/[^\x20-\x7e]/gu, named("ntrbfvae", octal)), // the same without UTF-8, and Perl
];

/** Notations of quotes within quotes. */
const QUOTE_WRITERS: readonly ((text: string) => string)[] = [
  escaping(/'/g, () => String.raw`'\''`), // bash
  escaping(/'+/g, (quotes) => `'${String.raw`\'`.repeat(quotes.length)}'`), // zsh
  escaping(/'/g, () => `'"'"'`), // shlex.quote of Python
  escaping(/'+/g, (quotes) => `'"${quotes}"'`), // dash
  escaping(/'/g, () => "''"), // YAML, SQL, PowerShell
  escaping(/"/g, () => '""'), // CSV
];

/** Returns a function that writes these characters as entities. */
const entities = (table: Readonly<Record<string, string>>) =>
  escaping(/[&<>"'`=/+\n\r\t]/g, (character) => (table[character] === undefined ? character : `&${table[character]};`));
const BRACKETS = { "&": "amp", "<": "lt", ">": "gt" };
const LAYOUT = { "\n": "#10", "\r": "#13", "\t": "#9" };
const LAYOUT_IN_HEX = { "\n": "#xA", "\r": "#xD", "\t": "#x9" };

const MARKUP_WRITERS: readonly ((text: string) => string)[] = [
  BRACKETS, // the content of an element
  { ...BRACKETS, '"': "quot" }, // DOM, attributes
  { ...BRACKETS, '"': "quot", "'": "apos" }, // XML
  { ...BRACKETS, ...LAYOUT }, // an attribute in single quotes
  { ...BRACKETS, ...LAYOUT, '"': "quot" }, // an attribute in double quotes
  { ...BRACKETS, ...LAYOUT_IN_HEX, '"': "quot" }, // canonical XML
  { ...BRACKETS, '"': "quot", "'": "#39" }, // lodash, Jinja2 before 3, Ruby
  { ...BRACKETS, '"': "quot", "'": "#039" }, // PHP
  { ...BRACKETS, '"': "quot", "'": "#x27" }, // html.escape of Python
  { ...BRACKETS, '"': "quot", "'": "#x27", "`": "#x60", "=": "#x3D" }, // Handlebars
  { ...BRACKETS, '"': "quot", "'": "#39", "`": "#x60", "=": "#x3D", "/": "#x2F" }, // Mustache
  { ...BRACKETS, '"': "#34", "'": "#39" }, // MarkupSafe, html.EscapeString of Go
  { ...BRACKETS, '"': "#34", "'": "#39", "+": "#43" }, // html/template of Go
].map(entities);

/** Returns the characters of base64 and base64url that the text alone determines, at each of the three offsets in a larger text. */
export const base64FormsOf = (text: string): string[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const [start, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return [bytes.toString("base64").slice(start, end), bytes.toString("base64url").slice(start, end)];
  });
