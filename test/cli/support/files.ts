import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Files and folders of a test. */

/** Makes a folder, with a path that is short enough for a socket. The variable TMPDIR of a test does not move it. */
const ROOT = tmpdir();
export const newFolder = (): string => mkdtempSync(join(ROOT, "iv-"));

/** Makes a folder with files, by their paths in it. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>, mode = 0o600): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, { mode });
  }
  return folder;
}

/** Makes a file in a folder of its own. Returns its path. */
export const fileOf = (content: string | Uint8Array, name = "file"): string => join(folderOf({ [name]: content }), name);

/** Makes a folder with a program, which is this shell script. */
export const programOf = (name: string, script: string): string => {
  const folder = newFolder();
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
};

/** Returns the permissions of a file, for example 0o600. */
export const modeOf = (path: string): number => statSync(path).mode & 0o777;
