import { isObeyedVariable } from "@item-vault/model/variables";
import { TransferError } from "./error.ts";

/**
 * Reads and quotes variables of a `.env` file. docs/import.md has the rules, which are those of Docker Compose, python-dotenv and Ruby's
 * dotenv. A value with an ambiguous end is refused, and never cut. `util.parseEnv` is not used: it ends `"a\"b"` at the first quote, and Node
 * 24 reads the next line as the value of `A= `.
 */

/** Called for each text that belongs to no variable. `where` is the name of a variable or a line, never a value. */
export type OnLoss = (what: string, where?: string) => void;

/** The loss of a line that is neither empty nor a comment. */
export const NO_VARIABLE = "lines that set no variable";

/**
 * Returns the variables in the order of the file. `path` names the file in errors. Throws a TransferError with the line of a NUL character, and
 * of a quoted value without a clear end.
 */
export function parseDotenv(text: string, path: string, onLoss: OnLoss = () => undefined): Map<string, string> {
  const source = text.replaceAll("\r\n", "\n");
  const lineOf = lineCounter(source);
  const refuse = (at: number, fault: string) => new TransferError(`${path}: line ${lineOf(at)} ${fault}`);
  const nul = source.indexOf("\0");
  if (nul !== -1) throw refuse(nul, "has a NUL character, which no variable can hold");
  const variables = new Map<string, string>();
  for (let at = 0; at < source.length;) {
    const end = lineEnd(source, at);
    const name = nameIn(source.slice(at, end));
    if (name === undefined) {
      const line = trimmed(source.slice(at, end));
      if (line.startsWith("#")) onLoss("comments");
      else if (line !== "") onLoss(NO_VARIABLE, `line ${lineOf(at)}`);
      at = end + 1;
      continue;
    }
    const value = valueAt(source, source.indexOf("=", at) + 1, (what) => onLoss(what, name));
    if (typeof value === "string") throw refuse(at, value);
    if (variables.has(name)) onLoss("variables that the file sets again later", name);
    variables.set(name, value.text);
    at = value.end + 1;
  }
  return variables;
}

/** Returns the numbers of lines, for positions that only grow. */
function lineCounter(source: string): (at: number) => number {
  let [line, counted] = [1, 0];
  return (at) => {
    for (; counted < at; counted++) if (source[counted] === "\n") line++;
    return line;
  };
}

/** The name that a line sets, if any. */
function nameIn(line: string): string | undefined {
  const [name, value] = line.split("=", 2);
  if (value === undefined || trimmed(name!).startsWith("#")) return undefined;
  return trimmed(trimmed(name!).replace(/^export[ \t]/, "")) || undefined;
}

interface Value {
  readonly text: string;
  /** The following index; for a whole value, the index of the line feed. */
  readonly end: number;
}

type Reading = (source: string, start: number) => Value | undefined;

/** The possible readings of a value, by its first character. */
const READINGS: ReadonlyMap<string | undefined, readonly Reading[]> = new Map([
  ['"', [readWord]],
  ["'", [readWord, readEscapedSingle]],
  ["`", [readLiteral]],
]);

/** Returns the value after an equals sign, or the fault of its line. */
function valueAt(source: string, from: number, onLoss: (what: string) => void): Value | string {
  let start = from;
  while (isBlank(source[start])) start++;
  const readings = READINGS.get(source[start]);
  if (!readings) return plainAt(source, start, onLoss);
  const values = readings.flatMap((read) => read(source, start) ?? []);
  const whole = values.filter(({ end }) => /^(?:#|$)/.test(restOfLine(source, end)));
  const [value, other = value] = whole;
  if (!value) return values.length > 0 ? "has text after a quoted value" : "has a quote that is not closed";
  if (other!.text !== value.text)
    return "has a backslash before a quote that may be the last one: write the value in double quotes";
  if (restOfLine(source, value.end) !== "") onLoss("comments");
  return { text: value.text, end: lineEnd(source, value.end) };
}

/** Reads `'…'`, `"…"`, `\'` and `\"` that follow each other without a blank, as shells do: `'it'\''s'` is `it's`. */
function readWord(source: string, start: number): Value | undefined {
  let text = "";
  for (let at = start; ;) {
    const mark = source[at]!;
    if (mark === "\\" && /['"]/.test(source[at + 1] ?? "")) {
      text += source[at + 1];
      at += 2;
      continue;
    }
    if (mark !== "'" && mark !== '"') return { text, end: at };
    const close = mark === "'" ? source.indexOf(mark, at + 1) : unescapedQuote(source, at);
    if (close === -1) return undefined;
    const inner = source.slice(at + 1, close);
    text += mark === "'" ? inner : inner.replaceAll(/\\([\s\S])/g, (pair, letter: string) => ESCAPES.get(letter) ?? pair);
    at = close + 1;
  }
}

/** Characters escaped by a backslash in double quotes. Before another character the backslash stays. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Array.from("\\\"'`$", (character) => [character, character] as const),
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** Reads `'Let\'s go'`, as Docker Compose and python-dotenv do. */
function readEscapedSingle(source: string, start: number): Value | undefined {
  const close = unescapedQuote(source, start);
  if (close === -1) return undefined;
  const text = source.slice(start + 1, close).replaceAll(/\\([\s\S])/g, (pair, letter: string) => (letter === "'" ? "'" : pair));
  return { text, end: close + 1 };
}

function readLiteral(source: string, start: number): Value | undefined {
  const close = source.indexOf(source[start]!, start + 1);
  return close === -1 ? undefined : { text: source.slice(start + 1, close), end: close + 1 };
}

/** Returns the index of the next quote of the same kind that follows no backslash, or -1. */
function unescapedQuote(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === source[start]) return at;
  }
  return -1;
}

const restOfLine = (source: string, from: number): string => trimmed(source.slice(from, lineEnd(source, from)));

function plainAt(source: string, start: number, onLoss: (what: string) => void): Value {
  const end = lineEnd(source, start);
  const line = source.slice(start - 1, end); // with the character before the value, which may be a blank before a comment
  const comment = line.search(/[ \t\r\f\v]#/);
  const text = trimmed(line.slice(1, comment === -1 ? undefined : Math.max(1, comment)));
  if (comment !== -1) onLoss("comments");
  if (text.includes("#")) onLoss("values with a # after which Node and others read a comment (kept whole)");
  return { text, end };
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end === -1 ? source.length : end;
}

const isBlank = (character: string | undefined): boolean => character !== undefined && " \t\r\f\v".includes(character);

/** Without blanks at both ends. `trim` would remove others, which may be part of a value. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

/**
 * Returns the value in quotes of one kind that `sh`, `util.parseEnv` and `parseDotenv` read alike, or `undefined` if there are none: `'…'` is
 * literal, and so is `"…"` without the characters that `sh` replaces. A backslash at the end would escape the quote for Docker Compose. Node
 * drops carriage returns, no variable holds a NUL, and `sh` would run a value in back quotes.
 */
export function quote(value: string): string | undefined {
  if (!/['\r\0]|\\$/.test(value)) return `'${value}'`;
  return /["$`\\\r\0]/.test(value) ? undefined : `"${value}"`;
}

const NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Returns true if a label can be the name of a variable unchanged. */
export const isVariableName = (label: string): boolean => NAME.test(label) && !isObeyedVariable(label);

/**
 * Returns a function that names a variable for each label. Names are in capitals, with `_` for invalid characters. A name that programs obey
 * gets the prefix `FIELD_`. A repeated name gets `_2`, `_3`…
 */
export function createVariableNames(): (label: string) => string {
  const taken = new Set<string>();
  return (label) => {
    const base = isVariableName(label) ? label : safeName(label);
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}_${number}`;
    taken.add(name);
    return name;
  };
}

function safeName(label: string): string {
  const letters = label.normalize("NFKD").replaceAll(/\p{M}/gu, "").toUpperCase();
  const word = letters.replaceAll(/[^A-Z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  const name = NAME.test(word) ? word : `_${word}`;
  return isObeyedVariable(name) ? `FIELD_${word}`.replace(/_$/, "") : name;
}
