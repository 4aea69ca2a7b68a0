/**
 * `npm run bundle`: prints the size of what `wrangler deploy` would upload, and fails when it is over the budget, or when the package of the
 * command line would deploy another script. `-- --hash` prints the SHA-256 of the script instead.
 */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleCode } from "./build/worker.ts";

/** KiB of gzip: 5 % more than the bundle had when the budget was set. */
const BUDGET = 220;

const args = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", "--outdir=dist"];
const { stdout, stderr } = spawnSync(process.execPath, args, {
  encoding: "utf8",
  env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
});
const [line, size] = /Total Upload: .*gzip: ([\d.]+) KiB/.exec(stdout) ?? [];
if (line === undefined) throw new Error(`wrangler did not print a size:\n${stdout}${stderr}`);
const sha256 = hash("sha256", readFileSync("dist/index.js"));
const { code } = await bundleCode();
if (hash("sha256", code) !== sha256)
  throw new Error("wrangler and scripts/build/worker.ts make different scripts: their options of esbuild differ");
console.log(process.argv.includes("--hash") ? sha256 : `${line} (budget ${BUDGET} KiB)`);
const over = Number(size) - BUDGET;
if (over > 0) {
  const share = ((over / BUDGET) * 100).toFixed(1);
  console.error(
    `The bundle is ${over.toFixed(2)} KiB (${share} %) over its budget of ${BUDGET} KiB: make it smaller, or raise BUDGET in scripts/bundle.ts`,
  );
  process.exit(1);
}
