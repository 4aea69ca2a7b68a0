import { readFile } from "node:fs/promises";
import type { CharacterSet, Recipe } from "@item-vault/client";
import { FIELD_TYPE_ALIASES, FIELD_TYPE_NAMES } from "@item-vault/model/field-types";
import { CHARACTER_SET_NAMES, RECIPE_LENGTH } from "@item-vault/model/recipe";
import { adviceForName } from "../frame/advice.ts";
import { CliError } from "../frame/failure.ts";
import { type Io, readAll } from "../frame/io.ts";
import { unreadable } from "../frame/paths.ts";
import { ask } from "../frame/prompt.ts";

/** Fields of a command line, `--field LABEL[TYPE]=SOURCE`: the value comes from the source, never from the command line. */

export interface FieldSource {
  readonly label: string;
  /** The type as the user wrote it; undefined without `[TYPE]`. */
  readonly type: string | undefined;
  readonly source: Source;
}

type Source =
  | { readonly from: "stdin" | "prompt" }
  | { readonly from: "file"; readonly path: string }
  | { readonly from: "generate"; readonly recipe: Recipe };

/** A field's value, or how the service makes it. */
export type FieldValue = { readonly value: string } | { readonly generate: true; readonly recipe: Recipe };

const { least, most } = RECIPE_LENGTH;
const SETS = CHARACTER_SET_NAMES.join(", ").toLowerCase();

const useOf = (label: string): string =>
  `Use \`--field ${label}=prompt\`, \`${label}=-\` (stdin), \`${label}=@FILE\` or \`${label}=generate[:LENGTH[,SET…]]\` (sets: ${SETS}).`;

const TYPES: ReadonlySet<string> = new Set([...FIELD_TYPE_NAMES, ...Object.keys(FIELD_TYPE_ALIASES)]);

/** Throws a CliError that repeats only the label and the type, because the rest may be a value. */
export function parseFieldSource(text: string): FieldSource {
  const [, label, type, source] = /^([^=]*?)(?:\[([A-Za-z_]+)\])?\s*=(.*)$/s.exec(text) ?? [];
  if (!label?.trim())
    throw new CliError("--field takes LABEL=SOURCE or LABEL[TYPE]=SOURCE", { exit: "usage", hint: useOf("LABEL") });
  const wanted = type?.toUpperCase();
  if (wanted !== undefined && !TYPES.has(wanted))
    throw new CliError(`--field ${label.trim()}: there is no type ${type}`, {
      exit: "usage",
      hint: adviceForName([...TYPES], wanted, `The types are ${FIELD_TYPE_NAMES.join(", ")}.`),
    });
  return { label: label.trim(), type, source: parseSource(label.trim(), source!.trim()) };
}

function parseSource(label: string, text: string): Source {
  if (text === "-") return { from: "stdin" };
  if (text === "prompt") return { from: "prompt" };
  if (text.length > 1 && text.startsWith("@")) return { from: "file", path: text.slice(1) };
  if (text === "generate") return { from: "generate", recipe: {} };
  const [, length, sets] = /^generate:(\d{1,9})(?:,([a-z,]+))?$/.exec(text) ?? [];
  const characterSets = sets?.toUpperCase().split(",") as CharacterSet[] | undefined;
  const isInRange = Number(length) >= least && Number(length) <= most;
  if (isInRange && (characterSets ?? []).every((set) => CHARACTER_SET_NAMES.includes(set)))
    return { from: "generate", recipe: { length: Number(length), ...(characterSets && { characterSets }) } };
  const fault = text.startsWith("generate:")
    ? `generate takes a length of ${least} to ${most} and the sets ${SETS}`
    : "do not put values on the command line, where other users can see them";
  throw new CliError(`--field ${label}: ${fault}`, { exit: "usage", hint: useOf(label) });
}

/** Reads the values in the order of the command line. One line break at the end of stdin or a file is not part of the value. */
export async function loadFields(io: Io, sources: readonly FieldSource[]): Promise<(FieldSource & { value: FieldValue })[]> {
  if (sources.filter(({ source }) => source.from === "stdin").length > 1)
    throw new CliError("Only one field can come from stdin", { exit: "usage" });
  const loaded: (FieldSource & { value: FieldValue })[] = [];
  for (const each of sources) loaded.push({ ...each, value: await loadValue(io, each) });
  return loaded;
}

async function loadValue(io: Io, { label, source }: FieldSource): Promise<FieldValue> {
  if (source.from === "generate") return { generate: true, recipe: source.recipe };
  if (source.from === "prompt") return { value: await ask(io, `${label}: `, { hidden: true, instead: "Use `-` or `@FILE`." }) };
  const name = source.from === "file" ? source.path : "stdin";
  const bytes = source.from === "file" ? await readInput(source.path) : await readAll(io.stdin);
  return { value: textOf(bytes, name, "Store it as a file.").replace(/\r?\n$/, "") };
}

/** The bytes of a file that the command line names. */
export async function readInput(path: string, hint?: string): Promise<Buffer> {
  return readFile(path).catch(unreadable(path, hint));
}

/** Throws a CliError for invalid UTF-8. */
export function textOf(bytes: Uint8Array, name: string, hint = "Save it as UTF-8."): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError(`${name} is not UTF-8 text`, { exit: "usage", hint });
  }
}
