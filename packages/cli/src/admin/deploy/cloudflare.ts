import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { plural } from "../../frame/printable.ts";
import { removeAtSignal } from "../../frame/signals.ts";

/**
 * An account of Cloudflare. Its API (developers.cloudflare.com/api) shows the existing resources, and wrangler, Cloudflare's own tool, makes
 * every change.
 */

export interface Api {
  readonly account: string;
  /** Returns the `result` of a GET below the account, or undefined if the error has one of the codes `absent`. Throws a CliError with Cloudflare's message. */
  read<T>(path: string, ...absent: readonly number[]): Promise<T | undefined>;
  /** Returns an answer that is not JSON. Throws as `read`. */
  download(path: string): Promise<Response>;
  /** Returns the rows of a read-only statement in a database of the account. Throws as `read`. */
  query<T>(database: string, sql: string): Promise<readonly T[]>;
}

/** A binding of a deployed Worker, as the API shows it. */
export interface Binding {
  readonly type: string;
  readonly name: string;
  /** Only for a database. */
  readonly id?: string;
  readonly bucket_name?: string;
}

/** Cloudflare's codes for a Worker that does not exist. */
export const NO_WORKER: readonly number[] = [10007, 10090];

interface Answer {
  readonly success: boolean;
  readonly result?: unknown;
  readonly errors?: readonly { readonly code: number; readonly message: string }[];
}

/** The headers that authenticate to the API, and the hint if it refuses them. */
export interface Login {
  readonly headers: Readonly<Record<string, string>>;
  readonly hint: string;
}

/** Connects to the account of wrangler.toml or CLOUDFLARE_ACCOUNT_ID, else to the only one. Throws a CliError if the login reaches several. */
export async function connect({ env }: Io, { headers, hint }: Login, configured: string | undefined): Promise<Api> {
  const base = env["CLOUDFLARE_API_BASE_URL"] ?? "https://api.cloudflare.com/client/v4";
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(base + path, { ...init, headers: { ...headers, "Content-Type": "application/json" }, redirect: "error" }).catch(() => {
      throw new CliError("Cloudflare does not answer", { exit: "unavailable" });
    });
  const resultOf = async (path: string, response: Response, absent: readonly number[] = []): Promise<unknown> => {
    const { success, result, errors = [] } = (await response.json().catch(() => ({ success: false }))) as Answer;
    if (success) return result;
    if (errors.some(({ code }) => absent.includes(code))) return undefined;
    const reason = errors.map(({ code, message }) => `${message} [code: ${code}]`).join("; ") || `status ${response.status}`;
    throw new CliError(
      `Cloudflare refused ${path}: ${reason}`,
      response.status < 500 ? { exit: "denied", hint } : { exit: "unavailable" },
    );
  };
  const named = configured ?? env["CLOUDFLARE_ACCOUNT_ID"];
  const account = named ?? onlyAccount(await resultOf("/accounts", await send("/accounts")));
  const below = `/accounts/${account}`;
  return {
    account,
    async read<T>(path: string, ...absent: readonly number[]) {
      return (await resultOf(path, await send(below + path), absent)) as T | undefined;
    },
    async download(path: string) {
      const response = await send(below + path);
      if (!response.ok) await resultOf(path, response);
      return response;
    },
    async query<T>(database: string, sql: string) {
      const path = `/d1/database/${database}/query`;
      const results = await resultOf(path, await send(below + path, { method: "POST", body: JSON.stringify({ sql }) }));
      return (results as { results: T[] }[])[0]?.results ?? [];
    },
  };
}

function onlyAccount(result: unknown): string {
  const accounts = result as { id: string; name: string }[];
  if (accounts.length === 1) return accounts[0]!.id;
  const names = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  const hint = `Set CLOUDFLARE_ACCOUNT_ID to one of them:\n${names}`;
  throw new CliError(`Your login has access to ${plural(accounts.length, "account")}`, { exit: "usage", hint });
}

/** Returns the header of an API token. */
export const bearer = (token: string): Login["headers"] => ({ Authorization: `Bearer ${token}` });

/** Returns the login of wrangler: an API token, a global key, or the stored login of `wrangler login`. Throws a CliError without one. */
export async function wranglerLogin({ env }: Io, wrangler: Wrangler): Promise<Login> {
  const hint =
    "Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN to a token with these permissions: Workers Scripts, D1, Workers R2 Storage and Queues, each Edit, and Account Settings, Read.";
  const set = env["CLOUDFLARE_API_TOKEN"]?.trim();
  if (set) return { headers: bearer(set), hint };
  const printed = await wrangler(["auth", "token", "--json"]).catch(() => {
    throw new CliError("You are not logged in to Cloudflare", { exit: "denied", hint });
  });
  const { token, key = "", email = "" } = JSON.parse(printed) as { token?: string; key?: string; email?: string };
  return { headers: token === undefined ? { "X-Auth-Key": key, "X-Auth-Email": email } : bearer(token), hint };
}

/** The version that a command line without a checkout starts. package.json of the repository pins the same. */
export const WRANGLER_VERSION = "4.155.0";

/** Runs a command of wrangler to its end, whose errors go to stderr. Returns what it printed to stdout. Throws a CliError if it fails. */
export type Wrangler = (args: readonly string[], more?: Readonly<Record<string, string>>) => Promise<string>;

const AGAIN = "Its error is above. Start the same command again: it goes on with this step.";

/** Without a terminal wrangler asks nothing, and it writes no ids into wrangler.toml. */
const SETTINGS = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  // Its log file has the requests; this leaves out their bodies.
  WRANGLER_LOG_SANITIZE: "true",
  NO_UPDATE_NOTIFIER: "1",
  CI: "true",
};

/** Returns the wrangler of a folder, whose commands run in that folder. */
export function createWrangler({ env, stderr }: Io, folder: string): Wrangler {
  const [program, ...first] = wranglerIn(folder);
  return (args, more = {}) =>
    new Promise((resolve, reject) => {
      const started = { cwd: folder, env: { ...env, ...SETTINGS, ...more } };
      const child = spawn(program!, [...first, ...args], { ...started, stdio: ["ignore", "pipe", "pipe"] });
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => void (printed += text));
      child.stderr.pipe(stderr, { end: false });
      child.on("error", ({ message }) => reject(new CliError(`wrangler does not start: ${message}`)));
      child.on("close", (code) =>
        code === 0 ? resolve(printed) : reject(new CliError(`\`wrangler ${args[0]}\` failed`, { hint: AGAIN })),
      );
    });
}

/**
 * Returns the program and its first arguments: the wrangler in node_modules of the folder, by its path, else WRANGLER_VERSION, which `npx` installs.
 * wrangler needs Node 22, this program Node 20.
 */
export function wranglerIn(folder: string): string[] {
  const installed = join(folder, "node_modules/wrangler");
  if (!existsSync(installed)) return ["npx", "--yes", `wrangler@${WRANGLER_VERSION}`];
  const node = join(folder, "node_modules/.bin/node");
  const { bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { bin: { wrangler: string } };
  return [existsSync(node) ? node : process.execPath, join(installed, bin.wrangler)];
}

/**
 * Writes files that only this user can read, for the duration of one action, which gets their paths in the same order. They are removed
 * when the action ends, or when a signal ends the process.
 */
export async function withFiles<T>(files: Readonly<Record<string, string>>, use: (paths: string[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "item-vault-deploy-"));
  const at = (name: string) => join(folder, name);
  const release = removeAtSignal(folder);
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(at(name), text, { mode: 0o600, flag: "wx" });
    return await use(Object.keys(files).map(at));
  } finally {
    await rm(folder, { recursive: true, force: true });
    release();
  }
}
