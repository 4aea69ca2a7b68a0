import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../../packages/cli/src/commands.ts";
import type { Command } from "../../../packages/cli/src/frame/command.ts";

/** A command line for each command of the table, for tests of what holds for all of them. A new command is one of them by itself. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-lines-"));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
};
const KEYS = file("production.vars", `ROOT_KEYS='${Buffer.alloc(32, 7).toString("base64")}'\n`);
const CSV = file("chrome.csv", "name,url,username,password\nOne,https://one.example,ada,x\n");
const CONFIGURATION = file("item-vault.yaml", "version: 1\nname: lines\n");
export const REFERENCE = "op://Production/Database/password";

/** The arguments of a placeholder of the table of commands. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  "<reference>": REFERENCE,
  "<path>": CSV,
  "<shell>": "bash",
  "[file]": CSV,
  "[configuration]": CONFIGURATION,
  "[action]": "list",
};

const OTHER = "Other";
const VAULT = ["--vault", "22222222-2222-4222-8222-222222222222=r"];
const RULE = ["--issuer", OTHER, "--claim", "repository_id=1"];

/** What a command needs besides its arguments, to send a request. */
const MORE: Readonly<
  Record<string, { readonly args?: readonly string[]; readonly input?: string; readonly env?: Readonly<Record<string, string>> }>
> = {
  "item create": { args: ["--title", "One"] },
  "item edit": { env: { VISUAL: "sed -i s/true/false/" } }, // changes `favorite`
  "item copy": { args: ["--to", OTHER] },
  "item move": { args: ["--to", OTHER] },
  "vault edit": { args: ["--name", OTHER] },
  "person create": { args: VAULT },
  "person edit": { args: VAULT },
  "token create": { args: VAULT },
  "child create": { args: VAULT },
  import: { args: ["--vault", OTHER] },
  export: { args: ["--format", "item-vault", "--out-file", join(folder, "export"), "--force"] }, // another test may have exported before
  "admin keys": { args: ["--file", KEYS] },
  "admin changes": { args: ["--since", "1h"] },
  login: { input: "token" },
  inject: { input: `x: ${REFERENCE}` },
  "issuer create": { args: ["--preset", "github"] },
  "rule create": { args: [...RULE, ...VAULT] },
  "rule test": { args: RULE },
  "token exchange": { env: { ITEM_VAULT_ID_TOKEN: "e30.e30.c2ln" } },
  run: { args: ["--", "true"], env: { SECRET: REFERENCE } },
};

/** Commands that ask nothing of the service, or Cloudflare first, and those that do not end. */
const OTHERS = new Set(["logout", "completions", "complete", "admin deploy", "admin verify-deployment", "serve", "server"]);

/** The commands that send requests, and end. */
export const ASKING = COMMANDS.filter(({ name }) => !OTHERS.has(name));

export interface Line {
  readonly args: readonly string[];
  readonly input: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What is looked up by its name unless it is named by its id. */
const LOOKED_UP = new Set(["<item>", "<token>", "<person>", "<issuer>", "<rule>"]);

/** In: the name of every vault, Item and so on that the line names, also in options; the id that it has for the Item, token, person and so on. */
export function lineOf({ name, args, options }: Command, named = "Database", id = named): Line {
  const valueOf = (word: string) => (LOOKED_UP.has(word) ? id : word.startsWith("<") ? named : []);
  const given = args.split(" ").flatMap((word) => ARGUMENTS[word] ?? valueOf(word));
  const { args: more = [], input = "", env = {} } = MORE[name] ?? {};
  const yes = options["yes"] ? ["--yes"] : [];
  return { args: [...name.split(" "), ...given, ...yes, ...more.map((word) => (word === OTHER ? named : word))], input, env };
}
