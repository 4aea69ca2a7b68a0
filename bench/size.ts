/** The size of the bundle and what it takes to start it: of what `npm run bundle` builds. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atMost, type Claim } from "./tables.ts";

const BUDGET = 100;

export function measureSize(): { bundle: Claim; startUp: string } {
  const [, size] = /gzip: ([\d.]+) KiB/.exec(run("scripts/bundle.ts")) ?? [];
  const directory = mkdtempSync(join(tmpdir(), "item-vault-"));
  const outfile = `--outfile=${join(directory, "startup.cpuprofile")}`;
  const checked = run("node_modules/wrangler/bin/wrangler.js", "check", "startup", "--args=--minify", outfile);
  rmSync(directory, { recursive: true });
  const [, active] = /Active: ([\d.]+ ms)/.exec(checked) ?? [];
  if (size === undefined || active === undefined) throw new Error("wrangler did not print the bundle's size or start-up");
  return { bundle: atMost("bundle, KiB of gzip", Number(size), BUDGET), startUp: active };
}

function run(...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_LOG: "log", NO_COLOR: "1" },
  });
  return stdout + stderr;
}
