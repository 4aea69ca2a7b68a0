import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Ran } from "./process.ts";

/** Reads the `console` blocks of a document, and runs commands in a shell. */

export interface Example {
  /** The line of the document where the command begins. */
  readonly line: number;
  /** What follows `$ `, with the lines that follow `> `. */
  readonly command: string;
  /** What the document shows below it. */
  readonly shown: string;
}

export interface Section {
  readonly heading: string;
  readonly examples: readonly Example[];
}

/**
 * The sections (`##`) of a document, each with the commands of its `console` blocks. `$ ` begins a command and `> ` continues it.
 * The command of a comment `<!-- first: … -->` is run too, and shows nothing.
 */
export function parseSections(markdown: string): Section[] {
  const sections: { heading: string; examples: Example[] }[] = [];
  for (const match of markdown.matchAll(
    /^## (?<heading>.*)$|^```console\n(?<text>[^]*?)\n?^```$|^<!-- first: (?<first>[^]*?) -->$/gm,
  )) {
    const { heading, text, first } = match.groups!;
    const line = markdown.slice(0, match.index).split("\n").length;
    if (heading !== undefined) sections.push({ heading, examples: [] });
    else if (first !== undefined) sections.at(-1)!.examples.push({ line, command: first, shown: "" });
    else sections.at(-1)!.examples.push(...parseBlock(text!, line + 1));
  }
  return sections.filter(({ examples }) => examples.length > 0);
}

function parseBlock(text: string, first: number): Example[] {
  const examples: { line: number; command: string; shown: string[] }[] = [];
  for (const [offset, line] of text.split("\n").entries()) {
    const last = examples.at(-1);
    if (line.startsWith("$ ")) examples.push({ line: first + offset, command: line.slice(2), shown: [] });
    else if (!last) throw new Error(`line ${first + offset}: a block begins with a command`);
    else if (line.startsWith("> ") && last.shown.length === 0) last.command += `\n${line.slice(2)}`;
    else last.shown.push(line);
  }
  return examples.map(({ line, command, shown }) => ({ line, command, shown: shown.join("\n") }));
}

export interface Shell {
  /** Runs a command, which shares variables and the folder with those before it. Out: what it wrote to stdout and stderr. */
  run(command: string): Promise<string>;
  /** The same, with the newline at the end. */
  outputOf(command: string): Promise<string>;
  /** Runs what follows a program in a command, for example `| grep x`, after a program that wrote this and ended with this code. */
  runWith(program: Pick<Ran, "stdout" | "stderr" | "code">, rest: string): Promise<string>;
  /** Sets `$?` for the next command. */
  setCode(code: number): void;
  end(): Promise<void>;
}

/** Starts `sh`. `$?` of a command is that of the command before it, and its stdin is empty. */
export function startShell({ cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }): Shell {
  const shell = spawn("sh", [], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((end) => void shell.on("close", () => end()));
  const out = `${cwd}.out`;
  shell.stdin.write("code=0\n");
  const outputOf = async (command: string): Promise<string> => {
    shell.stdin.write(`{ (exit $code)\n${command}\n} >${out} 2>&1 </dev/null; code=$?; echo\n`);
    const done = new Promise<void>((next) => void shell.stdout.once("data", () => next()));
    await Promise.race([done, ended]);
    return readFileSync(out, "utf8");
  };
  const run = async (command: string): Promise<string> => (await outputOf(command)).replace(/\n$/, "");
  return {
    run,
    outputOf,
    runWith({ stdout, stderr, code }, rest) {
      const [first, second] = [`${cwd}.stderr`, `${cwd}.stdout`];
      writeFileSync(first, stderr);
      writeFileSync(second, stdout);
      return run(`{ cat ${first} >&2; cat ${second}; (exit ${code}); } ${rest}`);
    },
    setCode: (code) => void shell.stdin.write(`code=${code}\n`),
    async end() {
      shell.stdin.end();
      await ended;
    },
  };
}
