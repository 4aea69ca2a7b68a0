import type { Client } from "@item-vault/client";
import type { ConnectionOptions } from "./connection.ts";
import type { Io } from "./io.ts";
import type { Access, TokenKind } from "./settings.ts";

/** A command is a row of a table; cli.ts parses the command line and runs the row. */

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** One letter. */
  readonly short?: string;
  /** True if the option may be given several times. */
  readonly multiple?: true;
  /** The placeholder of the value in the help, for example `FILE`. */
  readonly value?: string;
  readonly summary: string;
  /** The only values, for the completions. */
  readonly choices?: readonly string[];
  /** True if the command requires the option. */
  readonly required?: true;
  /** True if the value may be empty. An unset variable of the shell gives an empty value by mistake. */
  readonly mayBeEmpty?: true;
  /** The attribute of the API that the option sets, if its name is not the option's in camel case or its plural. */
  readonly attribute?: string;
}

export type Options = Readonly<Record<string, OptionSpec>>;

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  host: { type: "string", value: "URL", summary: "URL of the service (default: ITEM_VAULT_HOST)" },
  timeout: {
    type: "string",
    value: "SECONDS",
    summary: "how long to wait for the service (default: ITEM_VAULT_TIMEOUT, else 10, or 60 with the admin token)",
  },
  "allow-http": { type: "boolean", summary: "allow unencrypted http to another machine" },
  help: { type: "boolean", short: "h", summary: "show this help" },
} as const satisfies Options;

/** The values of the options of a command line. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]["type"] extends "boolean"
    ? boolean
    : O[Name] extends { multiple: true }
      ? string[]
      : O[Name] extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string;
};

/** One run of a command. */
export interface Call<O extends Options = Options> {
  readonly io: Io;
  /** The arguments that are no options. */
  readonly args: readonly string[];
  /** The words after `--`. */
  readonly rest: readonly string[];
  readonly options: Values<O> & ConnectionOptions;
  /** Every command of the program, for the completions. */
  readonly commands: readonly Command[];
  /** Returns the host, and the token of the user or the admin. Throws if one of them is missing. */
  readonly access: (kind?: TokenKind) => Promise<Access>;
  /** A client with the user's token. Throws when there is no host or no token. */
  readonly client: () => Promise<Client>;
  /** A client with the admin's token, for vaults and tokens. */
  readonly admin: () => Promise<Client>;
  /** A client with a token that the admin has just issued, on the admin's host. */
  readonly issued: (token: string) => Promise<Client>;
}

export interface Command<O extends Options = Options> {
  /** One or two words, for example `item get`. */
  readonly name: string;
  readonly summary: string;
  /** The arguments as the help shows them, for example `<reference>`. `[…]`: optional, `…` after it: any number. */
  readonly args: string;
  /** True if the command takes another command after `--`. */
  readonly rest?: true;
  /** True if the help leaves the command out. */
  readonly hidden?: true;
  readonly options: O;
  readonly examples: readonly string[];
  /** Loads the module of the command, so that a command loads only the modules that it needs. */
  load(): Promise<{ readonly run: (call: Call<O>) => Promise<number | void> }>;
}

/** Checks a row of a table against its own options. */
export const command = <const O extends Options>(row: Command<O>): Command<O> => row;
