import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One folder for everything that a test run stores, which is deleted when the run ends. */

/** A file system in memory, on Linux. The one of a container may have 64 MiB only. */
const MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 ** 30;
const PREFIX = "item-vault-test-";

/**
 * Makes the folder the temporary folder (TMPDIR) of this process and its children: in memory, if there is room. The local D1, R2 and
 * Durable Objects store there, and each of their commits would wait for a disk. Deletes the folders of runs that were killed.
 */
export function useTemporaryFolder(): void {
  const parent = hasMemory() ? MEMORY : tmpdir();
  for (const name of readdirSync(parent)) if (isAbandoned(name)) remove(join(parent, name));
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  process.env["TMPDIR"] = folder;
  process.on("exit", () => remove(folder));
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** Whether a folder is that of a process that runs no more. */
function isAbandoned(name: string): boolean {
  const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
