import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { resolve } from "node:path";
import { inject } from "vitest";
import { newFolder } from "./files.ts";

/** Runs the command line as a process: the launcher and the bundle that are packed. */

const LAUNCHER = resolve("packages/cli/bin/item-vault.js");

/** Where the launcher keeps compiled code. The processes share it, so that they do not compile the command line again. */
export const CACHE = newFolder();

export interface Ran {
  /** The exit code; `null` when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** What the process has written so far. */
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<Ran>;
}

export interface RunOptions {
  /** Variables besides PATH, HOME (an empty folder), XDG_CACHE_HOME and ITEM_VAULT_HOST. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A program with arguments that runs the rest of its arguments as a command, for example with limits. */
  readonly through?: readonly string[];
}

/** Starts `item-vault` with an environment that has nothing of the developer's. */
export function startCli(args: readonly string[], { env = {}, cwd, through = [] }: RunOptions = {}): Running {
  const base = { PATH: process.env["PATH"]!, HOME: newFolder(), XDG_CACHE_HOME: CACHE, ITEM_VAULT_HOST: inject("url") };
  const [program, ...rest] = [...through, process.execPath, LAUNCHER, ...args] as [string, ...string[]];
  const child = spawn(program, rest, { env: { ...base, ...env }, ...(cwd ? { cwd } : {}) });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8");
    child[name].on("data", (text: string) => void (output[name] += text));
  }
  const ended = new Promise<Ran>((end, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => end({ code, signal, ...output }));
  });
  return { child, output, ended };
}

/** Runs `item-vault` to its end. `input`: what it reads from stdin. */
export function runCli(
  args: readonly string[],
  options: RunOptions & { readonly input?: string | Uint8Array } = {},
): Promise<Ran> {
  const { child, ended } = startCli(args, options);
  child.stdin.on("error", () => undefined); // the process may end before it has read everything
  child.stdin.end(options.input ?? "");
  return ended;
}
