/** Runs wrangler's commands on this machine. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export const WRANGLER = "node_modules/wrangler/bin/wrangler.js";

/** Settings of wrangler for every local run. */
export const LOCAL = {
  WRANGLER_SEND_METRICS: "false",
  NO_UPDATE_NOTIFIER: "1",
  // The local traces hold URLs, and so the titles in filters. The explorer is a console to D1 and R2 without a token.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
  // Example data of `request.cf` is not downloaded. Without a network the download prints a warning and a stack.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
} as const;

/** Runs one command. Throws an error with its output. */
async function runWrangler(...args: string[]): Promise<void> {
  const running = promisify(execFile)(process.execPath, [WRANGLER, ...args], { env: { ...process.env, ...LOCAL } });
  running.child.stdin?.end();
  await running.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
    throw new Error(`wrangler ${args.join(" ")} failed:\n${stdout}${stderr}`);
  });
}

/**
 * Applies the migrations that a local database lacks, and creates the database if there is none.
 * `state`: the folder of the state; without it `.wrangler/state`, which `wrangler dev` uses.
 */
export const applyMigrations = (state?: string): Promise<void> =>
  runWrangler("d1", "migrations", "apply", "DB", "--local", ...(state === undefined ? [] : [`--persist-to=${state}`]));

/** The tables of wrangler.toml about static files and how they are built, with their comments. */
const ASSETS = /(?:^#.*\n)*^\[(?:assets|build)\]\n(?:.+\n)*/gm;

/** wrangler.toml of a Worker that runs without this checkout: without static files and the command that builds them. */
export const standaloneConfiguration = (): string => readFileSync("wrangler.toml", "utf8").replaceAll(ASSETS, "");

/**
 * Builds the Worker of wrangler.toml as `wrangler deploy` does. Writes `index.js` and the `wrangler.toml` with which it runs without
 * this checkout.
 */
export async function buildWorker(folder: string): Promise<void> {
  await runWrangler("deploy", "--dry-run", `--outdir=${folder}`);
  writeFileSync(join(folder, "wrangler.toml"), standaloneConfiguration());
}
