import { stat } from "node:fs/promises";
import { CliError } from "./failure.ts";
import { codeOf, reasonOf } from "./reasons.ts";

/** Failures of paths that the command line names. */

/** Returns a function that throws the failure of an unreadable path. */
export const unreadable =
  (path: string, hint?: string) =>
  (error: unknown): never => {
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}`, { exit: "usage", ...(hint && { hint }) });
  };

/** The codes of a path that can never be written, unlike a full disk's. */
const OF_PATHS = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"]);

/** Returns the failure of a path that cannot be written. A file that does not exist yet lacks its folder. */
export function unwritable(path: string, error: unknown): CliError {
  const code = codeOf(error);
  const reason = code === "ENOENT" ? "its folder does not exist" : reasonOf(error);
  return new CliError(`${path} cannot be written: ${reason}`, { exit: OF_PATHS.has(code) ? "usage" : "failed" });
}

/** Throws a CliError unless an option names a folder. `isMade`: the command makes one that does not exist. */
export async function requireFolder(option: string, path: string, isMade = false): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!isMade || codeOf(error) !== "ENOENT") unreadable(path, `Name a folder with ${option}.`)(error);
  });
  if (found && !found.isDirectory())
    throw new CliError(`${path} is not a folder`, { exit: "usage", hint: `Name a folder with ${option}.` });
}
