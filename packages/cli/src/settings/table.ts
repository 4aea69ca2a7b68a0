import { type Command, command, type Options } from "../frame/command.ts";

/** Options of the commands about the settings of this program. */

export const LOGIN_OPTIONS = {
  admin: {
    type: "boolean",
    summary:
      "store the admin's token, for the commands that make vaults and tokens; with --browser: get one of an hour as an administrator",
  },
  browser: { type: "boolean", summary: "get a token as a person: confirm in the browser of this machine" },
  code: { type: "boolean", summary: "get a token as a person: paste a code that you make in the console on any machine" },
  vault: {
    type: "string",
    short: "v",
    value: "ID[=rwd]",
    multiple: true,
    summary: "with --browser: only this vault, and what the token may do there (default: r); may be repeated",
  },
  "expires-in": { type: "string", value: "TIME", summary: "with --browser: for example 1h (default, and most: 12h)" },
} as const satisfies Options;

const NO_OPTIONS = {} as const satisfies Options;

/** Commands about the settings of this program. */

export const SETTINGS_COMMANDS = [
  command({
    name: "login",
    summary: "store the host and a token in the config file: one that is typed or read from stdin, or one of a person",
    args: "",
    options: LOGIN_OPTIONS,
    examples: [
      "item-vault login --host https://vault.example.com",
      "item-vault login < token.txt",
      "item-vault login --browser",
      "item-vault login --browser --admin",
      "item-vault login --code",
    ],
    load: () => import("./login.ts"),
  }),
  command({
    name: "logout",
    summary: "delete the stored tokens",
    args: "",
    options: NO_OPTIONS,
    examples: ["item-vault logout"],
    load: () => import("./logout.ts"),
  }),
  command({
    name: "whoami",
    summary: "show the host, the token and what it may do",
    args: "",
    options: NO_OPTIONS,
    examples: ["item-vault whoami"],
    load: () => import("./whoami.ts"),
  }),
  command({
    name: "console",
    summary: "print a link that signs in to the web console, as the token, as the admin or as both",
    args: "",
    options: NO_OPTIONS,
    examples: ["item-vault console"],
    load: () => import("./sign-in.ts"),
  }),
  command({
    name: "completions",
    summary: "print the completions of a shell: bash, zsh or fish",
    args: "<shell>",
    options: NO_OPTIONS,
    examples: ["source <(item-vault completions bash)", "item-vault completions fish | source"],
    load: () => import("./completions.ts"),
  }),
  command({
    name: "complete",
    summary: "print the words that can follow",
    args: "",
    rest: true,
    hidden: true,
    options: NO_OPTIONS,
    examples: [],
    load: () => import("./complete.ts"),
  }),
] as readonly Command[];
