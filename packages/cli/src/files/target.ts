import { stat } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../frame/failure.ts";

/** Where a download goes. */

/**
 * The path of a download. `output`: the user's path; without one, or with that of a folder, the name of the File counts, of which only
 * the last part is used. Errors: throws a CliError for a name that cannot be one of a file.
 */
export async function targetOf(output: string | undefined, name: string): Promise<string> {
  const isFolder = output !== undefined && (output.endsWith("/") || (await stat(output).catch(() => undefined))?.isDirectory());
  return output === undefined || isFolder ? join(output ?? ".", safeName(name)) : output;
}

/** The last part of a name, of paths of any system. Errors: throws a CliError when nothing usable is left. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  const usable = last !== "" && last !== "." && last !== ".." && !/\p{Cc}/u.test(last) && Buffer.byteLength(last) <= 255;
  if (usable) return last;
  throw new CliError("The name of the file cannot be used on this machine", { exit: "usage", hint: "Name the file with -o." });
}
