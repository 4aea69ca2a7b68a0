import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { inject } from "vitest";
import { COMMANDS } from "../../../packages/cli/src/commands.ts";
import { runCli } from "../../../packages/cli/src/frame/cli.ts";
import type { Ran, RunOptions } from "./process.ts";

/** Where the home folders are, also when a test changes TMPDIR for its command. */
const HOMES = tmpdir();

type Options = RunOptions & { readonly input?: string | Uint8Array };

/**
 * Runs the command line in this process, from its sources: for commands that need neither a signal nor a process of their own. A process
 * takes a fifth of a second of the processor. `cwd` becomes the folder of this process while the command runs, so only one such command
 * may run at a time.
 */
export async function runHere(args: readonly string[], options: Options = {}): Promise<Ran> {
  const { output: _output, ...ran } = await runWithOutput(args, options);
  return ran;
}

/** The same. `output` has stdout and stderr in the order of writing. */
export async function runWithOutput(
  args: readonly string[],
  { env = {}, input = "", cwd }: Options = {},
): Promise<Ran & { readonly output: string }> {
  const both: Buffer[] = [];
  const [stdout, stderr] = [collect(both), collect(both)];
  const HOME = mkdtempSync(join(HOMES, "item-vault-home-"));
  const variables = { PATH: process.env["PATH"]!, HOME, ITEM_VAULT_HOST: inject("url"), ...env };
  const io = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    // Node's home folder is that of this process, whose config file is the developer's.
    env: { XDG_CONFIG_HOME: join(variables.HOME, ".config"), ...variables },
  };
  const code = await inFolder(cwd, () => runCli(COMMANDS, args, io));
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text(), output: Buffer.concat(both).toString() };
}

async function inFolder<T>(folder: string | undefined, run: () => Promise<T>): Promise<T> {
  if (folder === undefined) return run();
  const before = process.cwd();
  process.chdir(folder);
  return run().finally(() => process.chdir(before));
}

/** A stream, and what was written to it. Each chunk goes to `both`, too. */
function collect(both: Buffer[]) {
  const chunks: Buffer[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _, done) => (chunks.push(chunk), both.push(chunk), done()) });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
