/**
 * `npm run bundle`: prints the size of what `wrangler deploy` would upload, and fails when it is over the budget, or when the package of the
 * command line would deploy another script. `-- --hash` prints the SHA-256 of the script instead.
 */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleCode } from "./build/worker.ts";

const BUDGET = 224; // KiB of gzip

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
if (Number(size) > BUDGET) process.exit(1);
