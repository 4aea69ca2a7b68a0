import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { GLOBAL_OPTIONS } from "../../packages/cli/src/frame/command.ts";
import { findCommand } from "../../packages/cli/src/frame/parse.ts";

/** The commands that the documents name, with their options, are those of the command line. */

const DOCUMENTS = ["README.md", ...readdirSync("docs").map((name) => join("docs", name))].filter((path) => path.endsWith(".md"));

/** Code of a document: the spans in backticks, and the lines of its blocks, without what a command prints. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```(sh|console|yaml)\n([^]*?)^```$/gm)].flatMap(([, kind, block]) =>
    block!.split("\n").filter((line) => kind !== "console" || line.startsWith("$ ")),
  );
  const spans = [...text.replace(/^```[^]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
  return [...blocks, ...spans];
}

/** The words after `item-vault`, up to the end of the command. */
const used = DOCUMENTS.flatMap((path) =>
  codeOf(readFileSync(path, "utf8")).flatMap((line) =>
    [...line.matchAll(/(?:^|[\s`(])item-vault ([a-z][^|;&#`)]*)/g)].map(([, words]) => [path, words!.trim()] as const),
  ),
);
const distinct = [...new Map(used.map(([path, words]) => [words, path])).entries()];

/** A command; or one of those that share the first word, as in `item-vault token`. */
const commandOf = (words: string) =>
  findCommand(COMMANDS, words.split(/\s+/)) ?? COMMANDS.find(({ name }) => name.startsWith(`${words} `));

describe("a command of the documents", () => {
  it("is found in them", () => {
    expect(distinct.length).toBeGreaterThan(100);
  });

  it.each(distinct)("exists with its options: item-vault %s", (words, path) => {
    const command = commandOf(words);
    expect(command, `${path} names a command that does not exist`).toBeDefined();
    const [own] = words.split(" -- ");
    const options = [...own!.matchAll(/(?<= )--([a-z][a-z-]*)/g)].map(([, name]) => name!);
    const known = new Set([...Object.keys(command!.options), ...Object.keys(GLOBAL_OPTIONS)]);
    expect(options.filter((name) => !known.has(name))).toEqual([]);
  });
});
