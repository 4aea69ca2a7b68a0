import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { parseSections, type Section, startShell } from "./support/console.ts";
import { startFewVaults } from "./support/few-vaults.ts";
import { runWithOutput } from "./support/here.ts";
import { type Bindings, expectedText } from "./support/placeholders.ts";
import { CACHE } from "./support/process.ts";

/**
 * Replays docs/cli.md: runs the commands of each section, and compares what they write with what is shown. A shell runs them, with a
 * process for each `item-vault`; but one whose arguments need no shell runs in this process, in the section's folder.
 */

/** Milliseconds for one section: many processes, on a machine that may be busy. */
const LONGEST = 120_000;

const sections = parseSections(readFileSync("docs/cli.md", "utf8"));

/** The vault `Demo` as docs/cli.md describes it. Out: a shell whose token is for this vault alone. `TOKEN_OF_BOTH` also is for an empty vault `Backup`. */
async function demoShell() {
  const vault = await makeVault("Demo");
  const { token } = await admin("POST", "tokens", { name: "demo", vaults: { [vault]: "rwd" } });
  const both = { [vault]: "rwd", [await makeVault("Backup")]: "rwd" };
  const { token: tokenOfBoth } = await admin("POST", "tokens", { name: "demo and backup", vaults: both });
  const fields = [
    { purpose: "USERNAME", value: "app" },
    { purpose: "PASSWORD", value: "correct horse" },
    { id: "host", label: "host", value: "db.example.com" },
  ];
  const urls = [{ href: "https://db.example.com", primary: true }];
  const item = { title: "Database", category: "LOGIN", tags: ["production"], vault: { id: vault }, fields, urls };
  const { id } = (await sendRequest("POST", `v1/vaults/${vault}/items`, token, item)) as { id: string };
  await sendRequest("POST", `v1/vaults/${vault}/items/${id}/files?name=ca.pem`, token, "a certificate\n");
  const home = mkdtempSync(join(tmpdir(), "item-vault-docs-"));
  const bin = join(home, "bin");
  const cwd = join(home, "work");
  for (const folder of [bin, cwd]) mkdirSync(folder);
  writeFileSync(
    join(bin, "item-vault"),
    `#!/bin/sh\nexec ${process.execPath} ${resolve("packages/cli/bin/item-vault.js")} "$@"\n`,
  );
  chmodSync(join(bin, "item-vault"), 0o755);
  const env = {
    PATH: `${bin}:${process.env["PATH"]!}`,
    HOME: home,
    XDG_CACHE_HOME: CACHE,
    ITEM_VAULT_HOST: inject("url").replace(/\/$/, ""),
    ITEM_VAULT_TOKEN: token,
    TOKEN_OF_BOTH: tokenOfBoth,
    ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN,
  };
  return { cwd, env, vault };
}

/** `run` needs a process of its own, because its command may write to the stdout of the process, and `serve`, because it ends at a signal. */
const IN_PROCESS_OF_ITS_OWN = / (?:run|serve) /;

interface PlainCall {
  /** What the shell writes into the pipe to `item-vault`; absent: nothing. */
  readonly before: string | undefined;
  readonly args: readonly string[];
  /** The pipe or redirection after it. */
  readonly rest: string;
}

/**
 * A call of `item-vault` at the start of a command or after `printf … |` or `echo … |`. `undefined`: the command begins otherwise, or
 * needs the shell for the arguments.
 */
function plainCall(command: string): PlainCall | undefined {
  const {
    before,
    plain,
    rest = "",
  } = /^(?:(?<before>(?:printf|echo) [^|]*) \| )?(?<plain>item-vault [^|&;<>(){}$`\\"*?~#]*?)(?: (?<rest>(?:\||2?>)[^]*))?$/.exec(
    command,
  )?.groups ?? {};
  if (plain === undefined || IN_PROCESS_OF_ITS_OWN.test(`${plain} `) || rest.includes("item-vault")) return undefined;
  const words = [...plain.matchAll(/'([^']*)'|([^\s']+)/g)].map(([, quoted, word]) => quoted ?? word!);
  return { before, args: words.slice(1), rest };
}

/** Whether a command changes the variables of the shell for those after it. */
const changesVariables = (command: string): boolean => /^(?:export )?\w+=\S*$/.test(command);

/** The sections whose examples are about all vaults of the service. */
const ABOUT_ALL = new Set(["Backups"]);

async function replay({ heading, examples }: Section) {
  const { cwd, env, vault } = await demoShell();
  const few = ABOUT_ALL.has(heading) ? await startFewVaults(vault) : undefined;
  const ofSection = { ...env, ...(few && { ITEM_VAULT_HOST: few.url }) };
  const shell = startShell({ cwd, env: ofSection });
  const bindings: Bindings = new Map();
  const [actual, expected]: object[][] = [[], []];
  const runExample = async (command: string, inShell: boolean): Promise<string> => {
    const call = inShell ? undefined : plainCall(command);
    if (!call) return shell.run(command);
    const input = call.before === undefined ? "" : await shell.outputOf(call.before);
    const ran = await runWithOutput(call.args, { env: ofSection, cwd, input });
    if (call.rest !== "") return shell.runWith(ran, call.rest);
    shell.setCode(ran.code!);
    return ran.output.replace(/\n$/, "");
  };
  let changed = false; // the shell's variables
  for (const { line, command, shown } of examples) {
    const filled = command.replaceAll(/\{(\w+)\}/g, (whole, name: string) => bindings.get(name) ?? whole);
    changed ||= changesVariables(command);
    const output = await runExample(filled, changed);
    actual!.push({ line, command, output });
    expected!.push({ line, command, output: expectedText(shown, output, bindings) });
  }
  await shell.end();
  await few?.close();
  return { actual, expected };
}

describe("docs/cli.md", () => {
  for (const section of sections)
    it(
      `shows what the commands of "${section.heading}" write`,
      async () => {
        const { actual, expected } = await replay(section);
        expect(actual).toEqual(expected);
      },
      LONGEST,
    );

  it("has an example of every command", () => {
    const commands = sections.flatMap(({ examples }) => examples.map(({ command }) => command)).join("\n");
    const missing = COMMANDS.filter(({ hidden }) => !hidden)
      .map(({ name }) => name)
      .filter((name) => !new RegExp(`\\bitem-vault ${name}\\b`).test(commands));
    expect(missing).toEqual([]);
  });
});
