import { rmSync } from "node:fs";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError, failureOf } from "../frame/failure.ts";
import type { Bytes } from "./content.ts";

/** Where a download goes. */

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

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
  throw new CliError("The name of the File is no name of a file", { exit: "usage", hint: "Name the file with -o." });
}

interface Saving {
  readonly mode: number;
  /** Whether a file that exists is replaced. */
  readonly force: boolean;
}

/**
 * Writes a stream to a file. The bytes go to a new file beside it, which gets the name when they are complete: a download that fails or
 * is ended by a signal leaves nothing. Errors: throws a CliError when the file exists, without `force`.
 */
export async function saveStream(bytes: Bytes, path: string, { mode, force }: Saving): Promise<void> {
  const exists = () => new CliError(`${path} exists`, { exit: "usage", hint: "Add --force to overwrite it." });
  if (!force && (await stat(path).catch(() => undefined))) throw exists();
  const partial = join(dirname(path), `.${basename(path).slice(0, 100)}.${process.pid}.part`);
  const release = removeAtSignal(partial);
  try {
    const file = await open(partial, "wx", mode);
    try {
      await file.chmod(mode); // the umask does not narrow what the user asked for
      for await (const chunk of bytes) await file.write(chunk);
    } finally {
      await file.close();
    }
    // link fails when the file was made meanwhile; rename would replace it.
    if (force) await rename(partial, path);
    else await link(partial, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw exists();
    if (failureOf(error) || !code) throw failureOf(error) ?? new CliError("The download ended early", { exit: "unavailable" });
    throw new CliError(`${path} cannot be written: ${code}`);
  } finally {
    await rm(partial, { force: true });
    release();
  }
}

function removeAtSignal(path: string): () => void {
  const offs = Object.entries(SIGNALS).map(([signal, number]) => {
    const listener = () => {
      rmSync(path, { force: true });
      process.exit(128 + number);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const off of offs) off();
  };
}
