import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "./failure.ts";

/** Writes secrets into files. */

/** Options of commands that write a file. */
export const FILE_OPTIONS = {
  "out-file": { type: "string", short: "o", value: "FILE", summary: "write to a file instead of stdout" },
  "file-mode": { type: "string", value: "MODE", summary: "the mode of the file in octal, by default 0600" },
  force: { type: "boolean", short: "f", summary: "replace a file that exists" },
} as const;

/** The octal permissions of `--file-mode`. Errors: throws a CliError. */
export function parseMode(text = "0600"): number {
  if (!/^0?[0-7]{3}$/.test(text)) throw new CliError("--file-mode takes octal permissions, for example 0600", { exit: "usage" });
  return Number.parseInt(text, 8);
}

/**
 * Writes a file as a whole: a process that is killed leaves the old file or the new one. What exists and is no regular file, for
 * example a pipe, is written to. Errors: throws a CliError when the file exists, unless `force`,
 * and when it cannot be written.
 */
export async function writeWholeFile(path: string, bytes: string | Uint8Array, { mode = 0o600, force = false }): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const fault = (error: NodeJS.ErrnoException) => new CliError(`${path} cannot be written: ${error.code ?? "unknown fault"}`);
  if (existing && !existing.isFile())
    return writeBytes(path, "w", bytes, mode).catch((error: NodeJS.ErrnoException) => {
      throw fault(error);
    });
  if (existing && !force) throw new CliError(`${path} exists`, { exit: "usage", hint: "--force replaces it." });
  const temporary = join(dirname(path), `.item-vault-${randomUUID()}`);
  try {
    await writeBytes(temporary, "wx", bytes, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fault(error as NodeJS.ErrnoException);
  }
}

async function writeBytes(path: string, flags: string, bytes: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, flags, mode);
  try {
    await file.writeFile(bytes);
    if (flags === "wx") await file.chmod(mode); // the process's umask has cleared bits of it
  } finally {
    await file.close();
  }
}
