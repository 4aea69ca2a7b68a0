import { readFile, stat } from "node:fs/promises";
import { parseDotenv } from "@item-vault/transfer/dotenv";
import { CliError } from "../../frame/failure.ts";
import { writeWholeFile } from "../../frame/output-file.ts";
import { type KeyDocument, parseDocument, textOf } from "./document.ts";

/** The file of secrets that has ROOT_KEYS: lines `NAME=value`, of mode 0600. */

export const DEFAULT_FILE = "production.vars";

export interface KeyFile {
  readonly path: string;
  readonly text: string;
  readonly document: KeyDocument;
}

const LINE = /^[ \t]*(?:export[ \t]+)?ROOT_KEYS[ \t]*=.*$/gm;

/** Throws a CliError if there is no such file, if others can read it, or if ROOT_KEYS is missing or malformed. */
export async function loadKeyFile(path = DEFAULT_FILE): Promise<KeyFile> {
  const found = await stat(path).catch(() => undefined);
  const hint = "Name the file that has the ROOT_KEYS of the service with --file.";
  if (!found?.isFile()) throw new CliError(`There is no file ${path}`, { exit: "usage", hint });
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    throw new CliError(`Other users can read ${path}`, { exit: "usage", hint: `Run \`chmod 600 ${path}\`.` });
  const text = await readFile(path, "utf8");
  const value = parseDotenv(text, path).get("ROOT_KEYS");
  if (value === undefined) throw new CliError(`${path} has no ROOT_KEYS`, { exit: "usage", hint });
  if (text.match(LINE)?.length !== 1) throw new CliError(`${path} has more than one line with ROOT_KEYS`, { exit: "usage" });
  return { path, text, document: parseDocument(value, path) };
}

/** Replaces ROOT_KEYS and leaves the other lines unchanged. A process that is killed leaves the old file or the new one. */
export async function saveKeyFile({ path, text }: KeyFile, document: KeyDocument): Promise<void> {
  const value = textOf(document);
  const replaced = text.replace(LINE, () => `ROOT_KEYS='${value}'`);
  // For example a value of several lines: only its first line would have been replaced.
  const variables = parseDotenv(replaced, path);
  if (variables.get("ROOT_KEYS") !== value || variables.size !== parseDotenv(text, path).size)
    throw new CliError(`${path}: ROOT_KEYS is not on one line`, { exit: "usage" });
  await writeWholeFile(path, replaced, { force: true });
}
