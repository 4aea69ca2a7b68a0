/** The size of the bundle and its start-up time, as wrangler reports them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost, type TargetResult } from "./tables.ts";

/** Throws when wrangler does not print one of the two. */
export function measureSize(): { bundle: TargetResult; startUp: string } {
  const [, size, budget] = /gzip: ([\d.]+) KiB \(budget (\d+) KiB\)/.exec(run("scripts/bundle.ts")) ?? [];
  const directory = mkdtempSync(join(tmpdir(), "item-vault-"));
  const outfile = `--outfile=${join(directory, "startup.cpuprofile")}`;
  const report = run("node_modules/wrangler/bin/wrangler.js", "check", "startup", "--args=--minify", outfile);
  rmSync(directory, { recursive: true });
  const [, active] = /Active: ([\d.]+ ms)/.exec(report) ?? [];
  if (size === undefined || active === undefined)
    throw new Error("wrangler did not print the size of the bundle or its start-up time");
  return { bundle: atMost("bundle, KiB of gzip", Number(size), Number(budget)), startUp: active };
}

function run(...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_LOG: "log", NO_COLOR: "1" },
  });
  return stdout + stderr;
}
