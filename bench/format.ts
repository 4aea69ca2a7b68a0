import { spawnSync } from "node:child_process";

/** Formats a document that a benchmark has written, so that `npm run check` accepts it. */
export function formatDocument(path: string): void {
  spawnSync(process.execPath, ["node_modules/oxfmt/bin/oxfmt", path], { stdio: "inherit" });
}
