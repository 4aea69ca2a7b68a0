import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { GLOBAL_OPTIONS } from "../../packages/cli/src/frame/command.ts";
import { EXIT } from "../../packages/cli/src/frame/failure.ts";
import { findCommand } from "../../packages/cli/src/frame/parse.ts";
import { EXPORT_FORMATS, IMPORT_FORMATS } from "../../packages/cli/src/transfer/formats.ts";
import { ends, runHere } from "./support/here.ts";
import { hurryTime } from "./support/hurry.ts";
import { ASKING, lineOf } from "./support/lines.ts";

/** What the help says, to somebody who knows nothing else of the program, and the commands that the documents name. */

const shown = COMMANDS.filter(({ hidden }) => !hidden);
const helpOf = async (name: string) => (await runHere(`${name} --help`)).stdout;

describe("the help", () => {
  it("of all commands has the variables and the exit codes, and that of a group does not", async () => {
    const { stdout } = await runHere("--help");
    for (const part of ["ITEM_VAULT_HOST", "ITEM_VAULT_TOKEN", "ITEM_VAULT_ADMIN_TOKEN", "(admin)", "item-vault login"])
      expect(stdout).toContain(part);
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^  ${code}  \\w`, "m"));
    expect((await runHere("item")).stdout).not.toContain("Exit codes");
  });

  it("has an example of each command that a shell takes as it is, with each option that the command needs", () => {
    for (const { name, options, examples } of shown) {
      expect([name, examples.filter((example) => /<\w+>|[[\]…]/.test(example))]).toEqual([name, []]);
      const required = Object.entries(options).filter(([, option]) => option.required);
      const lacking = required.filter(([option, { short }]) =>
        examples.some((example) => !example.includes(`--${option} `) && !example.includes(` -${short} `)),
      );
      expect([name, lacking]).toEqual([name, []]);
    }
  });

  it("shows the options that a command needs in its first line, and a line without one is refused by its name", async () => {
    for (const command of shown)
      for (const [option, { required, value }] of Object.entries(command.options)) {
        if (!required) continue;
        const flag = `--${option} ${value}`;
        expect((await helpOf(command.name)).split("\n")[0]).toContain(` ${flag} `);
        const args = command.args.split(" ").filter((arg) => arg.startsWith("<"));
        const others = Object.entries(command.options).filter(([other, spec]) => spec.required && other !== option);
        const line = others.flatMap(([other, { choices = ["x"] }]) => [`--${other}`, choices[0]!]);
        expect(await runHere([...command.name.split(" "), ...args, ...line])).toMatchObject(
          ends(2, `${command.name}: ${flag} is missing\n`),
        );
      }
  });

  it("marks the commands that need the admin token", async () => {
    hurryTime();
    const needing: string[] = [];
    const env = { ITEM_VAULT_HOST: "http://127.0.0.1:9", ITEM_VAULT_TOKEN: "t", ITEM_VAULT_TIMEOUT: "0.001" };
    for (const command of ASKING.filter(({ name }) => name !== "login" && name !== "token exchange")) {
      const { args, ...line } = lineOf(command);
      const { stderr } = await runHere(args, { input: line.input, env: { ...env, ...line.env } });
      if (stderr.includes("No admin token is set")) needing.push(command.name);
    }
    const marked = ASKING.filter(({ summary }) => summary.includes("(admin)")).map(({ name }) => name);
    expect(needing).toEqual(marked);
  });

  it("lists the formats of imports and exports", async () => {
    for (const [name, formats] of [
      ["import", IMPORT_FORMATS],
      ["export", EXPORT_FORMATS],
    ] as const) {
      const names = formats.map((format) => format.name);
      expect(COMMANDS.find((command) => command.name === name)!.options["format"]!.choices).toEqual(names);
      expect(await helpOf(name)).toContain(names.join(", "));
    }
  });

  it("says what the letters of permissions stand for", async () => {
    for (const name of ["token create", "child create", "rule create", "person create"])
      expect(await helpOf(name)).toContain("l list, r read (default), w write, d destroy");
  });
});

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
