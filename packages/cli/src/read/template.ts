import { parseReference, PART_CHARACTERS } from "@item-vault/model/reference";
import { CliError } from "../frame/failure.ts";

/**
 * Templates with secret references, in the syntax of developer.1password.com/docs/cli/secrets-template-syntax: `op://vault/item/field` in the
 * text, `{{ op://vault/item/field }}`, variables `$NAME`, `${NAME}` and `${NAME:-default}` in references and in the text, and `{{ "…" }}` for
 * text that stays as it is. Neither the value of a variable nor the value of a reference is searched for references.
 */

export type Part = { readonly text: string } | { readonly reference: string };

/** The possible beginnings of anything but plain text. */
const BEGINNING = /\{\{|\$|op:\/\//gi;
const QUOTED = /\{\{\s*"((?:[^"\\]|\\.)*)"\s*\}\}/y;
const ENCLOSED = /\{\{\s*(?=op:\/\/)/iy;
const END_OF_ENCLOSED = /\s*\}\}/y;
const SCHEME = /op:\/\//iy;
/** A character before `op://` that makes it a part of a longer word. */
const PART_OF_WORD = /[A-Za-z0-9\-+\\.]/;
const PLAIN_CHARACTER = new RegExp(`[${PART_CHARACTERS}?=/]`, "u");
const ENCLOSED_CHARACTER = new RegExp(`[${PART_CHARACTERS}?=/ ]`, "u");
/** Returns true if a text is one reference without variables, with or without blanks around it. */
export const isReference = (text: string): boolean => parseReference(text).ok;

/** Parses a template. Throws a CliError with the line and column of the fault and nothing of the text. */
export function parseTemplate(template: string, variables: Variables): Part[] {
  const lookup = createLookup(variables);
  const parts: Part[] = [];
  let text = "";
  const add = (reference: string) => {
    if (text !== "") parts.push({ text });
    parts.push({ reference });
    text = "";
  };
  for (let at = 0; at < template.length;) {
    const quoted = matchAt(QUOTED, template, at);
    const enclosed = matchAt(ENCLOSED, template, at);
    const variable = variableAt(template, at, lookup);
    if (quoted) {
      text += quoted[1]!.replace(/\\(.)/gs, "$1");
      at += quoted[0].length;
    } else if (enclosed) {
      const { reference, end } = readReference(template, at + enclosed[0].length, ENCLOSED_CHARACTER, lookup);
      const closing = matchAt(END_OF_ENCLOSED, template, end);
      if (!closing || !isReference(reference)) throw malformed(template, at);
      add(reference.trimEnd());
      at = end + closing[0].length;
    } else if (matchAt(SCHEME, template, at) && !PART_OF_WORD.test(template[at - 1] ?? " ")) {
      const { reference, end } = readReference(template, at, PLAIN_CHARACTER, lookup);
      if (!isReference(reference)) throw malformed(template, at);
      add(reference);
      at = end;
    } else if (variable) {
      text += variable.value ?? template.slice(at, variable.end);
      at = variable.end;
    } else {
      const next = matchAt(BEGINNING, template, at + 1)?.index ?? template.length;
      text += template.slice(at, next);
      at = next;
    }
  }
  return text === "" ? parts : [...parts, { text }];
}

/** The text of the template with the values of its references. */
export const renderTemplate = (parts: readonly Part[], values: ReadonlyMap<string, string>): string =>
  parts.map((part) => ("text" in part ? part.text : values.get(part.reference)!)).join("");

/** The references of a template, each once. */
export const referencesOf = (parts: readonly Part[]): string[] => [
  ...new Set(parts.flatMap((part) => ("reference" in part ? [part.reference] : []))),
];

/** A reference from `op://` on, with its variables replaced, up to the first character that it cannot have. */
function readReference(template: string, start: number, allowed: RegExp, lookup: Lookup) {
  let at = start + "op://".length;
  let reference = template.slice(start, at);
  while (at < template.length) {
    const variable = variableAt(template, at, lookup);
    if (variable && variable.value === undefined) throw unset(template, at);
    const character = String.fromCodePoint(template.codePointAt(at)!);
    if (!variable && !allowed.test(character)) break;
    reference += variable?.value ?? character;
    at = variable?.end ?? at + character.length;
  }
  return { reference, end: at };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const malformed = (template: string, at: number) =>
  new CliError(`The reference in ${positionOf(template, at)} is malformed`, {
    exit: "usage",
    hint: 'Write op://vault/item/field, or {{ op://My Vault/item/field }} if a name has spaces. Use ids for names with other characters. {{ "op://…" }} keeps the text.',
  });

const unset = (template: string, at: number) =>
  new CliError(`The variable in the reference in ${positionOf(template, at)} is not set`, {
    exit: "usage",
    hint: "Set it, or give it a default: ${NAME:-default}.",
  });

/** `line 3, column 7`. */
function positionOf(template: string, at: number): string {
  const lines = template.slice(0, at).split("\n");
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
}

/** Variables in templates: `$NAME`, `${NAME}` and `${NAME:-default}`. Names have no case. */

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the value of the variable with exactly this name, else of the one whose name differs only in case. */
type Lookup = (name: string) => string | undefined;

function createLookup(variables: Variables): Lookup {
  let names: Map<string, string> | undefined;
  return (name) => {
    if (Object.hasOwn(variables, name)) return variables[name];
    // Of names that differ in case only, the first one.
    names ??= new Map(
      Object.keys(variables)
        .toReversed()
        .map((key) => [key.toLowerCase(), key]),
    );
    const other = names.get(name.toLowerCase());
    return other === undefined ? undefined : variables[other];
  };
}

const PLAIN_VARIABLE = /\$([A-Za-z_][A-Za-z0-9_]*)/y;
/** A default has at most 1,000 characters: without a limit, each beginning of one is compared with all of the text after it. */
const ENCLOSED_VARIABLE = /\$\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?::-([^}\\]{0,1000}))?\}/y;

/**
 * Returns the variable that begins at `at`, or undefined if none begins there. After a backslash none begins. `value` is undefined if the
 * variable is not set and has no default.
 */
function variableAt(text: string, at: number, lookup: Lookup): { value: string | undefined; end: number } | undefined {
  if (text[at] !== "$" || text[at - 1] === "\\") return undefined;
  for (const pattern of [ENCLOSED_VARIABLE, PLAIN_VARIABLE]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { value: lookup(match[1]!) ?? match[2], end: at + match[0].length };
  }
  return undefined;
}
