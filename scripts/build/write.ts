import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files that the build writes. Builds may run at the same time, and a reader never sees half a file. */

/** Where a file lies until it is complete. On the same file system as its place, so that it can be renamed. */
export const UNFINISHED = "dist/unfinished";

/** Writes a file, if its content is another than before: a watcher of the file is not woken without a reason. */
export function writeFile(path: string, content: string | Uint8Array): void {
  const bytes = Buffer.from(content);
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  const unfinished = join(UNFINISHED, `${process.pid}-${path.replaceAll(/\W/g, "-")}`);
  for (const folder of [UNFINISHED, dirname(path)]) mkdirSync(folder, { recursive: true });
  writeFileSync(unfinished, bytes);
  renameSync(unfinished, path);
}

/** Writes the files of a folder, by their paths in it, and deletes its other files. */
export function writeFolder(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) writeFile(join(folder, path), content);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && files[path.slice(join(folder, "/").length)] === undefined) rmSync(path, { force: true });
  }
}
