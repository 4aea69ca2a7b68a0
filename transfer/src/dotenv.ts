import { TransferError } from "./error.ts";

/**
 * Reads and quotes variables of a `.env` file. They are read by the rules of Node (nodejs.org/api/environment_variables.html#dotenv), but
 * for a `#` that no blank precedes: Node cuts the value there, and shells, Docker and python-dotenv do not. `util.parseEnv` itself is not used:
 * its results differ between versions of Node, Node 24 reads the next line as the value of `A= `, and it counts nothing.
 */

/** Is told of what the variables do not have, for example `comments`. */
type OnLoss = (what: string) => void;

/** Out: the variables in the order of the file. Errors: throws a TransferError for a quoted value without an end. */
export function parseDotenv(text: string, onLoss: OnLoss = () => undefined): Map<string, string> {
  const source = text.replaceAll("\r\n", "\n");
  const variables = new Map<string, string>();
  for (let at = 0; at < source.length;) {
    const end = lineEnd(source, at);
    const name = nameIn(source.slice(at, end));
    if (name === undefined) {
      countLine(trimmed(source.slice(at, end)), onLoss);
      at = end + 1;
      continue;
    }
    const value = valueAt(source, source.indexOf("=", at) + 1, onLoss);
    if (variables.has(name)) onLoss("variables that the file sets again later");
    variables.set(name, value.text);
    at = value.end + 1;
  }
  return variables;
}

/** The name that a line sets, if any. */
function nameIn(line: string): string | undefined {
  const [name, value] = line.split("=", 2);
  if (value === undefined || trimmed(name!).startsWith("#")) return undefined;
  return trimmed(trimmed(name!).replace(/^export[ \t]/, "")) || undefined;
}

function countLine(line: string, onLoss: OnLoss): void {
  if (line !== "") onLoss(line.startsWith("#") ? "comments" : "lines that set no variable");
}

interface Value {
  readonly text: string;
  /** The index of the line feed after it. */
  readonly end: number;
}

/** In: the index after the equals sign. */
function valueAt(source: string, from: number, onLoss: OnLoss): Value {
  let start = from;
  while (isBlank(source[start])) start++;
  const mark = source[start] ?? "";
  if (!["'", '"', "`"].includes(mark)) return plainAt(source, start, onLoss);
  const close = source.indexOf(mark, start + 1);
  if (close === -1) throw new TransferError(`Line ${source.slice(0, start).split("\n").length} has a quote that is not closed`);
  const text = source.slice(start + 1, close);
  const end = lineEnd(source, close);
  const rest = trimmed(source.slice(close + 1, end));
  if (rest !== "") onLoss(rest.startsWith("#") ? "comments" : "texts after a quoted value");
  return { text: mark === '"' ? text.replaceAll(String.raw`\n`, "\n") : text, end };
}

function plainAt(source: string, start: number, onLoss: OnLoss): Value {
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
 * A value in quotes of one kind, because `util.parseEnv` knows no escaped quote: `'…'` is literal for both readers, and `"…"` is, for a
 * value without the characters that `sh` replaces in it. `util.parseEnv` drops carriage returns, and no variable holds a NUL.
 * Out: `undefined` when no quotes do. Back quotes would do for Node alone: `sh` would run the value as a command.
 */
export function quote(value: string): string | undefined {
  if (!/['\r\0]/.test(value)) return `'${value}'`;
  return /["$`\\\r\0]/.test(value) ? undefined : `"${value}"`;
}
