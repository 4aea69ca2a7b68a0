/** `npm run bundle`: prints the size of what `wrangler deploy` would upload, and fails when it is over the budget. */
import { spawnSync } from "node:child_process";

const BUDGET = 224; // KiB of gzip

const args = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", "--outdir=dist"];
const { stdout, stderr } = spawnSync(process.execPath, args, {
  encoding: "utf8",
  env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
});
const [line, size] = /Total Upload: .*gzip: ([\d.]+) KiB/.exec(stdout) ?? [];
if (line === undefined) throw new Error(`wrangler did not print a size:\n${stdout}${stderr}`);
console.log(`${line} (budget ${BUDGET} KiB)`);
if (Number(size) > BUDGET) process.exit(1);
