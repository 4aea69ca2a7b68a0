import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { expect, inject } from "vitest";
import { COMMANDS } from "../../../packages/cli/src/commands.ts";
import { runCli } from "../../../packages/cli/src/frame/cli.ts";
import { newFolder } from "./files.ts";
import type { Ran, RunOptions } from "./process.ts";

type Options = RunOptions & { readonly input?: string | Uint8Array };

/** The variables of a command of the administrator. */
export const ADMIN = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };

/** Matches a run that has ended with this code, with all of these words in stderr. */
export const ends = (code: number, ...words: readonly (string | RegExp)[]) => ({ code, stderr: textWith(words) });

/** The same of stdout. */
export const prints = (code: number, ...words: readonly (string | RegExp)[]) => ({ code, stdout: textWith(words) });

function textWith([first = "", ...more]: readonly (string | RegExp)[]): unknown {
  if (more.length === 0) return typeof first === "string" ? expect.stringContaining(first) : expect.stringMatching(first);
  const parts = [first, ...more].map((one) => `(?=[^]*${typeof one === "string" ? RegExp.escape(one) : one.source})`);
  return expect.stringMatching(parts.join(""));
}

/** Returns the words of a line. A word with blanks is in single quotes. */
export const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));

/**
 * Runs the command line in this process, from its sources: for commands that need neither a signal nor a process of their own. A process
 * takes a fifth of a second of the processor. `cwd` becomes the folder of this process while the command runs, so only one such command
 * may run at a time. The arguments may be one line.
 */
export async function runHere(args: string | readonly string[], options: Options = {}): Promise<Ran> {
  const { output: _output, ...ran } = await runWithOutput(args, options);
  return ran;
}

/** The same. `output` has stdout and stderr in the order of writing. */
export async function runWithOutput(
  args: string | readonly string[],
  { env = {}, input = "", cwd }: Options = {},
): Promise<Ran & { readonly output: string }> {
  const both: Buffer[] = [];
  const [stdout, stderr] = [collect(both), collect(both)];
  const HOME = newFolder();
  const variables = { PATH: process.env["PATH"]!, HOME, ITEM_VAULT_HOST: inject("url"), ...env };
  const io = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    // Node's home folder is that of this process, whose config file is the developer's.
    env: { XDG_CONFIG_HOME: join(variables.HOME, ".config"), ...variables },
  };
  const code = await inFolder(cwd, () => runCli(COMMANDS, typeof args === "string" ? wordsOf(args) : args, io));
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
