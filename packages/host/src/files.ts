import { mkdir, open, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Changes of folders that outlast a loss of power. */

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** The codes of errors at a path where no file is. */
const MISSING = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"]);

/** Returns undefined if the error says that there is no such file. Throws every other error. */
export function unlessMissing(error: unknown): undefined {
  if (!MISSING.has(codeOf(error) ?? "")) throw error;
}

/** Writes the names in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Makes a folder and the missing folders above it, and writes their names to the disk. Only their owner can access them. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Removes a folder and the empty folders above it, up to `root`. Returns the first folder that stays. */
export async function removeEmptyFolders(root: string, path: string): Promise<string> {
  let folder = path;
  while (folder !== root) {
    const code = await rmdir(folder).then(() => undefined, codeOf);
    if (code !== undefined && code !== "ENOENT") break;
    folder = dirname(folder);
  }
  return folder;
}
