import { stat } from "node:fs/promises";
import { join } from "node:path";
import { findFile, findItem } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { parseMode, writeWholeFile } from "../frame/output-file.ts";
import { printable, plural } from "../frame/printable.ts";
import { tell } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import { measured, openContent } from "./content.ts";
import type { FILE_GET_OPTIONS } from "./table.ts";

/** `file get`: writes a content to a file or to stdout as it arrives. */
export async function run({ io, args, options, client: connect }: Call<typeof FILE_GET_OPTIONS>): Promise<void> {
  const { output, force = false } = options;
  const mode = parseMode(options["file-mode"]);
  if (output === "-" && io.stdout.isTTY && !force)
    throw new CliError("The content would be written to the terminal", { exit: "usage", hint: "Add --force." });
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault);
  const file = await findFile(client, path, args[1]!);
  const target = output === "-" ? undefined : await targetOf(output, file.name);
  const progress = startProgress(io, file.name, file.size);
  try {
    const { bytes } = measured(await openContent(client, path, file), file.size, progress);
    if (target === undefined) for await (const chunk of bytes) await write(io.stdout, chunk);
    else await writeWholeFile(target, bytes, { mode, force });
  } finally {
    progress.end();
  }
  if (target !== undefined) await tell(io, `Wrote ${printable(target)} (${plural(file.size, "byte")})`);
}

/** The target of a download. */

/**
 * Returns the path of a download: `output`, or the last part of the name of the File, in the folder `output` if that is one. Throws a
 * CliError for a name that no file can have.
 */
async function targetOf(output: string | undefined, name: string): Promise<string> {
  const isFolder = output !== undefined && (output.endsWith("/") || (await stat(output).catch(() => undefined))?.isDirectory());
  return output === undefined || isFolder ? join(output ?? ".", safeName(name)) : output;
}

/** Returns the last part of a name, which may be a path of any system. Throws a CliError if no file can have that name. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  const usable = last !== "" && last !== "." && last !== ".." && !/\p{Cc}/u.test(last) && Buffer.byteLength(last) <= 255;
  if (usable) return last;
  throw new CliError("The name of the file cannot be used on this machine", { exit: "usage", hint: "Name the file with -o." });
}
