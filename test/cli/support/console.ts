import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Reads the `console` blocks of a document, and runs the commands of a section in one shell. */

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

/**
 * Runs commands one after the other in one shell, so that variables and the folder of one hold for the next. Out: what each wrote
 * to stdout and stderr. `$?` of a command is that of the command before it.
 */
export async function runInShell(
  commands: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<string[]> {
  const script = commands.map((command, index) => `(exit $code)\n${command}\ncode=$?; exec >"$OUT.${index + 1}" 2>&1`).join("\n");
  const out = `${options.cwd}.out`;
  const shell = spawn("sh", ["-c", `exec >"$OUT.0" 2>&1; code=0\n${script}`], {
    cwd: options.cwd,
    env: { ...options.env, OUT: out },
    stdio: "ignore",
  });
  await new Promise((end) => shell.on("close", end));
  return commands.map((_, index) => {
    try {
      return readFileSync(`${out}.${index}`, "utf8").replace(/\n$/, "");
    } catch {
      return "(the shell ended before this command)";
    }
  });
}
