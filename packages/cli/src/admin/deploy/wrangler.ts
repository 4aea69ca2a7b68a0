import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { removeAtSignal } from "../../frame/signals.ts";

/** Runs wrangler, Cloudflare's own tool: whatever changes something in an account is done by it. */

/** The version that a command line without a checkout starts. package.json of the repository pins the same. */
export const WRANGLER_VERSION = "4.155.0";

export interface Wrangler {
  /** Runs a command to its end. Out: what it printed to stdout. Errors: throws a CliError with what it printed. */
  run(args: readonly string[], more?: Readonly<Record<string, string>>): Promise<string>;
}

/** Without a terminal wrangler asks nothing, and it writes no ids into wrangler.toml. */
const SETTINGS = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  // Its log file has the requests; this leaves out their bodies.
  WRANGLER_LOG_SANITIZE: "true",
  NO_UPDATE_NOTIFIER: "1",
  NO_COLOR: "1",
  CI: "true",
};

/** In: the folder that has, or has no, installed wrangler; where its commands run. */
export function createWrangler({ env }: Io, folder: string): Wrangler {
  const [program, ...first] = wranglerIn(folder);
  return {
    run: (args, more = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(program!, [...first, ...args], {
          cwd: folder,
          env: { ...env, ...SETTINGS, ...more },
          stdio: ["ignore", "pipe", "pipe"],
        });
        const [printed, all]: [string[], string[]] = [[], []];
        child.stdout.setEncoding("utf8").on("data", (text: string) => void (printed.push(text), all.push(text)));
        child.stderr.setEncoding("utf8").on("data", (text: string) => void all.push(text));
        child.on("error", ({ message }) => reject(new CliError(`wrangler does not start: ${message}`)));
        child.on("close", (code) => {
          if (code === 0) resolve(printed.join(""));
          else reject(new CliError(`wrangler ${args[0]} failed:\n${textOf(all.join(""))}`));
        });
      }),
  };
}

/**
 * The program and its first arguments: that of the folder's node_modules by its path; without it the release that this program names, which `npx` installs. wrangler
 * needs Node 22, this program Node 20.
 */
export function wranglerIn(folder: string): string[] {
  const installed = join(folder, "node_modules/wrangler");
  if (!existsSync(installed)) return ["npx", "--yes", `wrangler@${WRANGLER_VERSION}`];
  const node = join(folder, "node_modules/.bin/node");
  const { bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { bin: { wrangler: string } };
  return [existsSync(node) ? node : process.execPath, join(installed, bin.wrangler)];
}

// oxlint-disable-next-line no-control-regex
const STYLE = /\u001B\[[\d;]*[A-Za-z]/g;

/** The error in an output, without what wrangler has told before it. */
function textOf(output: string): string {
  const lines = output.replaceAll(STYLE, "").split("\n");
  const error = lines.findIndex((line) => line.includes("[ERROR]"));
  return lines
    .filter((line, index) => index >= error && !/Logs were written to|If you think this is a bug|^\s*$/.test(line))
    .join("\n");
}

/**
 * Writes a file that only this user may read, for the time of one action: wrangler takes configurations and secrets from files. The file is
 * removed after it, also when a signal ends the process.
 */
export async function withFile<T>(name: string, text: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "item-vault-deploy-"));
  const path = join(folder, name);
  const release = removeAtSignal(path);
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
    release();
  }
}
