import { createReadStream } from "node:fs";
import { isLikeReference } from "@item-vault/model/reference";
import { isObeyedVariable } from "@item-vault/model/variables";
import { NO_VARIABLE, parseDotenv } from "@item-vault/transfer/dotenv";
import { TransferError } from "@item-vault/transfer/error";
import { decodeText } from "@item-vault/transfer/text";
import { CliError } from "../frame/failure.ts";
import { readAll } from "../frame/io.ts";
import { unreadable } from "../frame/paths.ts";
import { TOKEN_VARIABLES } from "../frame/settings.ts";
import { type Part, parseTemplate, referencesOf, renderTemplate } from "../read/template.ts";

/** The environment of a command that is run: variables, of which some are templates with references. */

type Variables = Readonly<Record<string, string | undefined>>;

export interface Environment {
  /** The variables without a reference. */
  readonly plain: Readonly<Record<string, string>>;
  /** The variables with references, by name. */
  readonly templates: ReadonlyMap<string, readonly Part[]>;
}

/**
 * Returns the variables of this process and of files; a later file replaces an earlier one, and a file replaces the process. In a file a value
 * that contains `op://` is a template. In the process a value that begins with it is one reference, and `say` is told of a variable that
 * contains it elsewhere. The tokens of this program are left out. Throws a CliError with the name of the variable.
 */
export async function loadEnvironment(
  env: Variables,
  files: readonly string[],
  say: (message: string) => void,
): Promise<Environment> {
  const plain = new Map<string, string>();
  const templates = new Map<string, readonly Part[]>();
  const set = (name: string, parts: readonly Part[]) => {
    templates.delete(name);
    plain.delete(name);
    if (referencesOf(parts).length > 0) templates.set(name, parts);
    else plain.set(name, renderTemplate(parts, new Map()));
  };
  for (const [name, value = ""] of Object.entries(env))
    if (!TOKEN_VARIABLES.includes(name))
      set(name, isLikeReference(value) ? parseNamed(name, () => parseOne(value, env)) : [{ text: value }]);
  for (const path of files)
    for (const [name, value] of await readEnvFile(path, say))
      if (!TOKEN_VARIABLES.includes(name))
        set(name, hasScheme(value) ? parseNamed(name, () => parseFileValue(value, env)) : [{ text: value }]);
  for (const [name, value] of plain)
    if (value === env[name] && hasScheme(value))
      say(`${name} contains op:// but does not begin with it: it is passed on unchanged`);
  const obeyed = [...plain, ...templates].flatMap(([name, value]) =>
    value !== env[name] && isObeyedVariable(name) ? [name] : [],
  );
  if (obeyed.length > 0) say(`${obeyed.join(", ")} can make programs run other code: check where the value comes from`);
  return { plain: Object.fromEntries(plain), templates };
}

const hasScheme = (value: string): boolean => /op:\/\//i.test(value);

/** The references of an environment, each once. */
export const referencesIn = ({ templates }: Environment): string[] => referencesOf([...templates.values()].flat());

/** Returns the names of variables with a reference whose value passes the test. */
export const variablesWith = (
  { templates }: Environment,
  values: ReadonlyMap<string, string>,
  test: (value: string) => boolean,
): string[] =>
  [...templates].flatMap(([name, parts]) =>
    referencesOf(parts).some((reference) => test(values.get(reference)!)) ? [name] : [],
  );

/** Returns the variables with the values of their references. Throws a CliError for a value with a NUL, which no variable can hold. */
export function renderEnvironment(
  { plain, templates }: Environment,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const rendered = [...templates].map(([name, parts]) => [name, renderTemplate(parts, values)] as const);
  const [name] = rendered.find(([, value]) => value.includes("\0")) ?? [];
  if (name !== undefined) throw new CliError(`${name}: the value has a NUL character, which no variable can hold`);
  return { ...plain, ...Object.fromEntries(rendered) };
}

/** The references and texts of a value that the function parses. Throws its CliError with the name of the variable. */
function parseNamed(name: string, parse: () => Part[]): Part[] {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${name}: ${error.message}`, { exit: error.exit, ...(error.hint ? { hint: error.hint } : {}) });
  }
}

/** Parses a value that is one reference. Names can have spaces; blanks around the reference are dropped. */
function parseOne(value: string, variables: Variables): Part[] {
  const parts = parseTemplate(`{{ ${value.trim()} }}`, variables);
  if (parts.length === 1) return parts;
  throw new CliError("The value is more than one reference", {
    exit: "usage",
    hint: "Put the template into a file, and use --env FILE.",
  });
}

/** A value of a file: one reference, or a template. */
function parseFileValue(value: string, variables: Variables): Part[] {
  if (!isLikeReference(value)) return parseTemplate(value, variables);
  try {
    return parseOne(value, variables);
  } catch {
    const parts = parseTemplate(value.trimStart(), variables);
    const [, next] = parts;
    // The blank may belong to a name whose remaining text has a character that no name can have.
    if (next && "text" in next && next.text.startsWith(" "))
      throw new CliError("The reference may end at the space or go on after it", {
        exit: "usage",
        hint: "Enclose it: {{ op://vault/item/field }}.",
      });
    return parts;
  }
}

/** The files of `run --env`. */

const ENV_FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns the variables of a file, which may be a pipe. `say` is told of lines that are ignored. Throws a CliError with the path, and the line
 * where there is one.
 */
async function readEnvFile(path: string, say: (message: string) => void): Promise<ReadonlyMap<string, string>> {
  // `end` is the index of the last byte, so a file that is too large gives one byte too many.
  const bytes = await readAll(createReadStream(path, { end: ENV_FILE_BYTES_MAX })).catch(unreadable(path, NOT_STARTED));
  if (bytes.length > ENV_FILE_BYTES_MAX) throw refused(`${path} is larger than ${ENV_FILE_BYTES_MAX / 1024 / 1024} MiB`);
  try {
    return parseDotenv(decodeText(bytes, path), path, (what, where) => {
      if (what === NO_VARIABLE) say(`${path}: ${where} sets no variable and is ignored`);
    });
  } catch (error) {
    throw error instanceof TransferError ? refused(error.message) : error;
  }
}

const NOT_STARTED = "The command was not started.";

const refused = (message: string): CliError => new CliError(message, { exit: "usage", hint: NOT_STARTED });
