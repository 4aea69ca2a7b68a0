/** What figures depend on: the day, the commit and the machine. Every benchmark states it beside its figures. */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";

const git = (...args: string[]): string => spawnSync("git", args, { encoding: "utf8" }).stdout?.trim() ?? "";

/** For example `commit 0a1b2c3`. */
function nameCommit(): string {
  const commit = git("rev-parse", "--short", "HEAD");
  if (commit === "") return "no commit";
  // docs/ is what benchmarks write.
  return `commit ${commit}${git("status", "--porcelain", "--", ".", ":!docs") === "" ? "" : " with changes"}`;
}

/** Read when this module is loaded, before a benchmark causes load itself: the load of other processes distorts the figures. */
const LOAD = loadavg()[0]!;

/** The day and the commit, for figures that are counts: `2026-11-23, commit 0a1b2c3`. */
export const COMMIT = `${new Date().toISOString().slice(0, 10)}, ${nameCommit()}`;

/** One sentence, for example `2026-11-23, commit 0a1b2c3: 2 cores (Xeon), Node 24.21.0. Load average before the start: 0.1.` */
export const ENVIRONMENT =
  `${COMMIT}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ` +
  `Node ${process.versions.node}. Load average before the start: ${LOAD.toFixed(1)}${LOAD > 1 ? ", so the figures are not reliable" : ""}.`;
