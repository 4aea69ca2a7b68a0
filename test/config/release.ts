import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleWorker } from "../../scripts/build/worker.ts";

/** Builds the Worker as the command line carries it, for the tests of the self-hosted server. They get the folder as `release`. */
export default async function buildRelease(project: TestProject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  const { files } = await bundleWorker();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  project.provide("release", join(folder, "worker"));
}
