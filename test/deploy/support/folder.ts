import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { COMMANDS } from "../../../packages/cli/src/commands.ts";
import { runCli } from "../../../packages/cli/src/frame/cli.ts";
import { releaseOf, within } from "../../../scripts/build/release.ts";
import { bundleWorker, FOLDER } from "../../../scripts/build/worker.ts";
import type { Cloudflare } from "./cloudflare.ts";

/** A folder with what the command line carries of the Worker, and the processes that deploy it. */

/** The sources of the command line, so that the tests need no build of it. */
export const CLI = ["--conditions=source", "--disable-warning=ExperimentalWarning", resolve("packages/cli/src/main.ts")];

export interface Ran {
  readonly code: number | null;
  /** stdout and stderr. */
  readonly output: string;
}

/** A file of the secrets that a deployment needs. */
export const SECRETS = `ADMIN_TOKEN=an-admin-token-of-the-deploy-test
METRICS_TOKEN=a-metrics-token-of-the-deploy-test
ROOT_KEYS='{"active":"k1","keys":{"k1":"${btoa("0123456789abcdef0123456789abcdef")}"}}'
`;

/** Makes the folder. wrangler is that of the checkout. */
export async function makeFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-deploy-"));
  const files = within(`${FOLDER}/`, (await bundleWorker()).files);
  const release = JSON.stringify(releaseOf(files, []));
  for (const [path, content] of Object.entries({ ...files, "release.json": release })) {
    const target = join(folder, path);
    mkdirSync(join(target, ".."), { recursive: true });
    writeFileSync(target, content);
  }
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

export const copyFolder = (folder: string): string => {
  const copy = mkdtempSync(join(tmpdir(), "item-vault-deploy-"));
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
};

/** The environment of a process: nothing of the developer's. */
const envOf = (cloudflare: Cloudflare, home: string) => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  // Where the processes keep compiled code (test/config/compile-cache.ts): wrangler has 15 MB.
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  SHELL: "/bin/sh",
  no_proxy: "127.0.0.1",
  ...cloudflare.env,
});

function start(cloudflare: Cloudflare, cwd: string, program: string, args: readonly string[], input = ""): Promise<Ran> {
  return new Promise((resolvePromise, reject) => {
    const child = spawn(program, args, { cwd, env: envOf(cloudflare, cwd) });
    const texts: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => void texts.push(text));
    child.on("error", reject);
    child.on("close", (code) => resolvePromise({ code, output: texts.join("") }));
    child.stdin.end(input);
  });
}

/** The server with another environment; without a value, a variable is not set. */
export function withEnv(cloudflare: Cloudflare, changes: Readonly<Record<string, string | undefined>>): Cloudflare {
  const env = Object.entries({ ...cloudflare.env, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...cloudflare, env: Object.fromEntries(env) };
}

/** Runs `item-vault` without a terminal, in this process. `folder`: the home folder. */
async function runHere(cloudflare: Cloudflare, folder: string, args: readonly string[]): Promise<Ran> {
  const texts: string[] = [];
  const stream = () => new Writable({ write: (text: Buffer, _, done) => (texts.push(text.toString()), done()) });
  const io = { stdin: Readable.from([]), stdout: stream(), stderr: stream(), env: envOf(cloudflare, folder) };
  const code = await runCli(COMMANDS, args, io);
  return { code, output: texts.join("") };
}

/** Runs `item-vault admin deploy` in this process; wrangler runs in processes of its own. */
export const deploy = (cloudflare: Cloudflare, folder: string, ...args: readonly string[]): Promise<Ran> => {
  const given = ["--from", folder, "--secrets", join(folder, "production.vars"), ...args];
  return runHere(cloudflare, folder, deployArgs(cloudflare, given));
};

const verifyArgs = ({ origin }: Cloudflare, folder: string, args: readonly string[]) => [
  "admin",
  "verify-deployment",
  "--from",
  folder,
  "--host",
  origin,
  ...args,
];

/** Runs `item-vault admin verify-deployment` in this process, with the release of the folder. */
export const verifyDeployment = (cloudflare: Cloudflare, folder: string, ...args: readonly string[]): Promise<Ran> =>
  runHere(cloudflare, folder, verifyArgs(cloudflare, folder, args));

/** The same in a process of its own. */
export const verifyDeploymentInProcess = (cloudflare: Cloudflare, folder: string): Promise<Ran> =>
  start(cloudflare, tmpdir(), process.execPath, [...CLI, ...verifyArgs(cloudflare, folder, [])]);

const deployArgs = ({ origin }: Cloudflare, args: readonly string[]) => [
  "admin",
  "deploy",
  "--url",
  origin,
  "--wait",
  "3s",
  ...args,
];
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same in a terminal, in which `keys` are typed. */
export const deployInTerminal = (cloudflare: Cloudflare, folder: string, keys: string): Promise<Ran> => {
  const line = `exec ${[process.execPath, ...CLI, ...deployArgs(cloudflare, [])].map(quote).join(" ")}`;
  return start(cloudflare, folder, "script", ["-qfec", line, "/dev/null"], keys);
};

/** Runs a line of a runbook. `npx` finds the programs of node_modules, and `npm run deploy` deploys to the server of the test. */
export const runLine = (cloudflare: Cloudflare, folder: string, line: string): Promise<Ran> => {
  const npm = [process.execPath, ...CLI, ...deployArgs(cloudflare, [])].map(quote).join(" ");
  const script = `set -e\nnpx() { "node_modules/.bin/$@"; }\nnpm() { [ "$*" = "run deploy" ] && ${npm}; }\n${line}`;
  return start(cloudflare, folder, "sh", ["-c", script]);
};

/** Runs `npm run deploy` in the checkout. npm writes its logs into the home folder. */
export const deployCheckout = (cloudflare: Cloudflare, ...args: readonly string[]): Promise<Ran> =>
  start(withEnv(cloudflare, { HOME: tmpdir() }), resolve("."), "npm", ["run", "--silent", "deploy", "--", ...args]);
