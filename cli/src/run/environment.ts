import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { parseDotenv } from "@item-vault/transfer/dotenv";
import { CliError } from "../frame/failure.ts";
import { TOKEN_VARIABLES } from "../frame/settings.ts";
import { isReference, type Part, parseTemplate, referencesOf, renderTemplate } from "../read/template.ts";

/** The environment of a command that is run: variables, of which some are templates with references. */

type Variables = Readonly<Record<string, string | undefined>>;

export interface Environment {
  /** The variables without a reference. */
  readonly plain: Readonly<Record<string, string>>;
  /** The variables with references, by name. */
  readonly templates: ReadonlyMap<string, readonly Part[]>;
}

/**
 * The variables of this process and of files; a later file replaces an earlier one, and a file replaces the process. In a file a value
 * that contains `op://` is a template; in the process a value that begins with it. The tokens of this program are left
 * out. Errors: throws a CliError with the name of the variable.
 */
export async function loadEnvironment(env: Variables, files: readonly string[]): Promise<Environment> {
  const plain: Record<string, string> = {};
  const templates = new Map<string, Part[]>();
  const set = (name: string, value: string, isTemplate: boolean) => {
    templates.delete(name);
    delete plain[name];
    // In a value that is a reference as a whole, names may have spaces.
    const parts = isReference(value) ? [{ reference: value }] : isTemplate ? parseVariable(name, value, env) : [];
    if (referencesOf(parts).length > 0) templates.set(name, parts);
    else plain[name] = value;
  };
  for (const [name, value] of Object.entries(env)) if (value !== undefined) set(name, value, value.startsWith("op://"));
  for (const path of files)
    for (const [name, value] of Object.entries(await readEnvFile(path))) set(name, value, value.includes("op://"));
  for (const name of TOKEN_VARIABLES) {
    templates.delete(name);
    delete plain[name];
  }
  return { plain, templates };
}

/** The references of an environment, each once. */
export const referencesIn = ({ templates }: Environment): string[] => referencesOf([...templates.values()].flat());

/** The variables with the values of their references. Errors: throws a CliError for a value that no variable can hold. */
export function renderEnvironment(
  { plain, templates }: Environment,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const rendered = [...templates].map(([name, parts]) => [name, renderTemplate(parts, values)] as const);
  const [name] = rendered.find(([, value]) => value.includes("\0")) ?? [];
  if (name !== undefined) throw new CliError(`${name}: the value has a NUL character, which no variable can hold`);
  return { ...plain, ...Object.fromEntries(rendered) };
}

function parseVariable(name: string, value: string, variables: Variables): Part[] {
  try {
    return parseTemplate(value, variables);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${name}: ${error.message}`, { exit: error.exit, ...(error.hint ? { hint: error.hint } : {}) });
  }
}

async function readEnvFile(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The env file ${basename(path)} cannot be read: ${error.code}`, { exit: "usage" });
  });
  return Object.fromEntries(parseDotenv(text.replace(/^\uFEFF/, "")));
}
