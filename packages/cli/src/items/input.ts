import type { FieldInput, FieldType, NewItem, Purpose } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";
import { type Io, readAll } from "../frame/io.ts";
import { type FieldSource, type FieldValue, readInput, textOf } from "./sources.ts";

/** Items that a command sends. */

/** An Item as a user has written it. Only the service knows whether its attributes are of the right types. */
export type WrittenItem = NewItem & { readonly version?: unknown };

/** The labels that stand for a purpose (contract 2.12). */
const PURPOSES: ReadonlyMap<string, Purpose> = new Map([
  ["username", "USERNAME"],
  ["password", "PASSWORD"],
  ["notesplain", "NOTES"],
  ["notes", "NOTES"],
]);

/** The purpose that a label of the command line stands for. */
export const purposeOf = (label: string): Purpose | undefined => PURPOSES.get(label.toLowerCase());

/** A new field of a request. A field without a type is a secret; a user name and notes are not concealed. */
export function newField({ label, type, value }: FieldSource & { value: FieldValue }): FieldInput {
  const purpose = type === undefined ? purposeOf(label) : undefined;
  return purpose ? { purpose, ...value } : { label, type: type === undefined ? "CONCEALED" : typeOf(type), ...value };
}

/** The type that a user has written. The service refuses one that it does not know. */
export const typeOf = (text: string): FieldType => text.toUpperCase() as FieldType;

/** Parses `--version`. Throws a CliError. */
export function versionOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new CliError("--version takes the number of a version", { exit: "usage", hint: "`item versions` lists them." });
}

/** For an option that describes an Item beside a file that does. */
export const withJson = (option: string): CliError =>
  new CliError(`--${option} does not go with a file of JSON, which the argument names`, {
    exit: "usage",
    hint: `Write it in the JSON, or leave the argument out. A value with blanks needs quotes: \`--${option} "…"\`.`,
  });

/** An Item as JSON text, from a file or with `-` from stdin. */
export async function readJson(io: Io, path: string, hint?: string): Promise<WrittenItem> {
  const name = path === "-" ? "stdin" : path;
  const bytes = path === "-" ? await readAll(io.stdin) : await readInput(path, hint);
  return parseItem(textOf(bytes, name), name);
}

/** Throws a CliError without a part of the text, which has values. */
export function parseItem(text: string, name: string): WrittenItem {
  let item: unknown;
  try {
    item = JSON.parse(text.replace(/^\uFEFF/, "")); // a byte order mark, RFC 8259, section 8.1
  } catch (error) {
    throw new CliError(`${name} is not JSON${positionIn(text, (error as Error).message)}`, { exit: "usage" });
  }
  if (typeof item !== "object" || item === null || Array.isArray(item))
    throw new CliError(`${name} is not an item: it has to be one JSON object`, { exit: "usage" });
  return item as WrittenItem;
}

/** Returns the place of the fault, ` (line 3, column 5)`, if V8's message has it. The message itself may quote the text. */
function positionIn(text: string, message: string): string {
  const [, position] = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message) ?? [];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` (line ${before.length}, column ${before.at(-1)!.length + 1})`;
}
