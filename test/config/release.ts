import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleWorker } from "../../scripts/build/worker.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the built Worker. */
    readonly release: string;
  }
}

/** Builds the Worker as the command line carries it, for the tests of the self-hosted server. They get the folder as `release`. */
export default async function buildRelease(project: TestProject): Promise<void> {
  project.provide("release", await releaseFolder());
}

/** Returns the folder, which is built once: the processes of a test run inherit the variable. */
export const releaseFolder = async (): Promise<string> => (process.env["TEST_RELEASE"] ??= await writeRelease());

async function writeRelease(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  const { files } = await bundleWorker();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return join(folder, "worker");
}
