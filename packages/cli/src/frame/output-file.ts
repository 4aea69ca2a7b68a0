import { link, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, failureOf } from "./failure.ts";
import { unwritable } from "./paths.ts";
import { codeOf } from "./reasons.ts";
import { removeAtSignal } from "./signals.ts";

/** Writes secrets into files. */

/** Options of commands that write a file. */
export const FILE_OPTIONS = {
  "out-file": { type: "string", short: "o", value: "FILE", summary: "write to a file instead of stdout" },
  "file-mode": { type: "string", value: "MODE", summary: "mode of the file in octal (default: 0600)" },
  force: { type: "boolean", short: "f", summary: "overwrite an existing file" },
} as const;

/** Returns the octal permissions of `--file-mode`. Throws a CliError for another text. */
export function parseMode(text = "0600"): number {
  if (!/^0?[0-7]{3}$/.test(text)) throw new CliError("--file-mode takes octal permissions, for example 0600", { exit: "usage" });
  return Number.parseInt(text, 8);
}

export type Content = string | Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Writes a file as a whole, through a temporary file in its folder. A process that is killed leaves the old file or the new one. A signal
 * that can be caught, or a content that fails, leaves no temporary file. A pipe or device is written to. The umask does not narrow `mode`.
 * Throws a CliError if the file exists, unless `force` is set. Throws the error of a content that cannot be read.
 */
export async function writeWholeFile(path: string, content: Content, { mode = 0o600, force = false }): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isFile()) return writeContent(path, "w", content, mode).catch(failWriting(path));
  if (existing && !force) throw exists(path);
  const temporary = join(dirname(path), `.item-vault-${crypto.randomUUID()}`);
  const release = removeAtSignal(temporary);
  try {
    await writeContent(temporary, "wx", content, mode);
    await (force ? rename(temporary, path) : linkOrRename(temporary, path));
  } catch (error) {
    failWriting(path)(error);
  } finally {
    await rm(temporary, { force: true });
    release();
  }
}

const exists = (path: string) => new CliError(`${path} already exists`, { exit: "usage", hint: "Add --force to overwrite it." });

const failWriting = (path: string) => (error: unknown) => {
  if (codeOf(error) === "EEXIST") throw exists(path);
  throw error instanceof Error && "syscall" in error ? unwritable(path, error) : (failureOf(error) ?? unwritable(path, error));
};

/**
 * Returns whether a regular file begins otherwise than with `magic`. An empty file, or the beginning of `magic`, may be an unfinished file
 * of this program. Throws the error of the file system.
 */
export async function beginsOtherwise(path: string, magic: Buffer): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return false;
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return !buffer.subarray(0, bytesRead).equals(magic.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function writeContent(path: string, flags: string, content: Content, mode: number): Promise<void> {
  const file = await open(path, flags, mode);
  try {
    if (flags === "wx") await file.chmod(mode); // the process's umask has cleared bits of it
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** The errors of a file system without hard links, for example FAT. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Gives a file its name. link fails if the name exists by now; rename would replace it. */
async function linkOrRename(temporary: string, path: string): Promise<void> {
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    if (!NO_LINKS.has(error.code ?? "")) throw error;
    return rename(temporary, path);
  });
}
