import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { decodeText } from "@item-vault/transfer/text";
import { checkCredentials, checkScheme, type ConnectionOptions, normalizedHost, timeoutOf } from "./connection.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";

/** Host and tokens. Each comes from the first source that has it: environment, a command of the user's, the config file. */

/** The config file: JSON of mode 0600. */
export interface Config {
  readonly host?: string;
  readonly token?: string;
  /** A program that prints the token, with its arguments: any keyring's. */
  readonly token_command?: readonly string[];
  readonly admin_token?: string;
  readonly admin_token_command?: readonly string[];
}

const HOST = ["ITEM_VAULT_HOST", "OP_CONNECT_HOST"];
const TOKENS = {
  token: ["ITEM_VAULT_TOKEN", "OP_CONNECT_TOKEN"],
  admin_token: ["ITEM_VAULT_ADMIN_TOKEN"],
} as const;

/** The variable with the token of a workload, which is exchanged for one of the service: a job of GitLab gets it by `id_tokens`. */
export const ID_TOKEN_VARIABLE = "ITEM_VAULT_ID_TOKEN";

/** Every variable that holds a token: the children of `run` do not get them. */
export const TOKEN_VARIABLES: readonly string[] = [...TOKENS.token, ...TOKENS.admin_token, ID_TOKEN_VARIABLE];

/** Returns the home folder, or "" if there is none: a container may run as a user that the machine does not know. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}

/**
 * Returns the path of the config file, or undefined without a home folder. A relative path would lead to a file in the current folder, which
 * may name another user's command. A relative XDG_CONFIG_HOME is ignored (XDG Base Directory Specification).
 */
function findConfigPath({ ITEM_VAULT_CONFIG, XDG_CONFIG_HOME = "" }: Io["env"]): string | undefined {
  if (ITEM_VAULT_CONFIG) return ITEM_VAULT_CONFIG;
  const folder = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homeFolder(), ".config");
  return isAbsolute(folder) ? join(folder, "item-vault", "config.json") : undefined;
}

/** Returns the path of the config file, to write it. Throws a CliError without a home folder. */
export function configPath(env: Io["env"]): string {
  const path = findConfigPath(env);
  if (path === undefined)
    throw new CliError("There is no home folder", { exit: "usage", hint: "Set HOME or ITEM_VAULT_CONFIG." });
  return path;
}

/** The address for requests, and the token. */
export interface Access {
  readonly host: string;
  readonly token: string;
  /** Time limit for a silent service, in milliseconds. */
  readonly timeout: number;
  /** The source of the token, for a message: "of ITEM_VAULT_TOKEN". */
  readonly from?: string;
}

export type TokenKind = keyof typeof TOKENS;

/** There is no token for the host. */
export class MissingToken extends CliError {}

/** The command that sets each kind of token. */
const LOGINS = { token: "item-vault login", admin_token: "item-vault login --admin" } as const satisfies Record<
  TokenKind,
  string
>;

/** The service, without a token for it. */
export type Service = Pick<Access, "host" | "timeout">;

/** Returns host and time-out of a request without a token. Throws a CliError that says how to set the host. */
export async function loadService(env: Io["env"], options: ConnectionOptions): Promise<Service> {
  const { host, timeout } = serviceOf(env, options, await loadConfig(env), "token");
  return { host, timeout };
}

/**
 * Returns host, token and time-out of a request. A token of the config file is sent only to the host of the config file. Throws a CliError
 * that explains how to set a missing value.
 */
export async function loadAccess(env: Io["env"], options: ConnectionOptions, kind: TokenKind = "token"): Promise<Access> {
  const config = await loadConfig(env);
  const { host, timeout, isStoredHost } = serviceOf(env, options, config, kind);
  const [variable] = TOKENS[kind];
  const set = TOKENS[kind].find((name) => env[name]?.trim());
  if (set) return { host, token: checkToken(set, env[set]!.trim()), timeout, from: `of ${set}` };
  const none = kind === "token" ? "No token is set" : "No admin token is set";
  const isStored = (config[`${kind}_command`] ?? config[kind]) !== undefined;
  if (isStored && !isStoredHost) {
    checkCredentials(config.host ?? ""); // the message names the host
    throw new MissingToken(`${none} for ${host}: the stored one is for ${config.host ?? "no host"}`, {
      exit: "denied",
      hint: `Set ${variable}, or run \`${LOGINS[kind]} --host ${host}\`.`,
    });
  }
  const command = config[`${kind}_command`];
  const token = (await printedBy(command)) ?? config[kind];
  const from = command ? `of the token command ${command[0]}` : "of the config file";
  if (token) return { host, token: checkToken(`The stored ${kind}`, token), timeout, from };
  throw new MissingToken(none, { exit: "denied", hint: `Set ${variable}, or run \`${LOGINS[kind]}\`.` });
}

/** Mistakes in pasted tokens. An admin token may have any printable character. */
const TOKEN_FAULTS: readonly (readonly [pattern: RegExp, fault: string, hint: string])[] = [
  [/^$/, "is empty", "Give the text of a token."],
  [/^(?:export\s+)?[A-Z_]*TOKEN\s*=/, "begins with the name of a variable", "Give only what comes after the =."],
  [/^["'`\u2018-\u201F](?:.*["'`\u2018-\u201F])?$/s, "is in quotes", "Give the token without quotes."],
  [/^(?:authorization:\s*)?bearer\b/i, "begins with Bearer", "Give the token alone."],
  [/[^\x21-\x7E]/, "has a blank or a character that no token has", "Copy the token again, as a whole."],
];

/** Returns the token. Throws a CliError that explains the mistake, without a part of the token. `source` is the source of the token. */
export function checkToken(source: string, token: string): string {
  const wrong = TOKEN_FAULTS.find(([pattern]) => pattern.test(token));
  if (wrong) throw new CliError(`${source} ${wrong[1]}`, { exit: "usage", hint: wrong[2] });
  return token;
}

function serviceOf(env: Io["env"], options: ConnectionOptions, config: Config, kind: TokenKind) {
  const host = hostOf(env, options.host, config);
  if (!host) throw new CliError("No host is set", { exit: "usage", hint: "Set ITEM_VAULT_HOST, or run `item-vault login`." });
  const isStoredHost = config.host !== undefined && normalizedHost(config.host) === normalizedHost(host);
  if (!isStoredHost) checkScheme(env, host, options);
  return { host, timeout: timeoutOf(env, options, kind === "admin_token"), isStoredHost };
}

/** The host of an option, of the environment or of the config file. */
export const hostOf = (env: Io["env"], given: string | undefined, config: Config): string | undefined =>
  given ?? firstOf(env, HOST) ?? config.host;

const firstOf = (env: Io["env"], names: readonly string[]): string | undefined =>
  names.map((name) => env[name]?.trim()).find((value) => value);

/** Returns the config file, or an empty one without a file. Throws a CliError if others can read the file, or if its JSON is malformed. */
export async function loadConfig(env: Io["env"]): Promise<Config> {
  const path = findConfigPath(env);
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (path === undefined || !found) return {};
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    throw new CliError(`Other users can read ${path}`, { exit: "usage", hint: `Run \`chmod 600 ${path}\`.` });
  return parseConfig(await readFile(path), path);
}

const TEXTS = new Set(["host", "token", "admin_token"]);
const COMMANDS = new Set(["token_command", "admin_token_command"]);

/** Returns a config with texts without blanks at their ends. Throws a CliError that names the attribute, never its value. */
export function parseConfig(bytes: Uint8Array, path: string): Config {
  const fault = (what: string) => new CliError(`${path}: ${what}`, { exit: "usage" });
  let config: unknown;
  try {
    config = JSON.parse(decodeText(bytes, path));
  } catch {
    throw fault("is not JSON"); // the message of JSON.parse quotes the text
  }
  if (typeof config !== "object" || config === null || Array.isArray(config)) throw fault("is not a JSON object");
  for (const [name, value] of Object.entries(config)) {
    if (TEXTS.has(name) && typeof value !== "string") throw fault(`${name} is not a text`);
    if (COMMANDS.has(name) && !isCommand(value)) throw fault(`${name} is not an array of texts: the program and its arguments`);
    if (!TEXTS.has(name) && !COMMANDS.has(name)) throw fault("has an unknown attribute");
  }
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]),
  );
}

const isCommand = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string");

/** Returns the output of a token command. */
async function printedBy(command: readonly string[] | undefined): Promise<string | undefined> {
  if (!command) return undefined;
  const [program, ...args] = command as [string, ...string[]];
  const { execFile } = await import("node:child_process"); // a tenth of the start of a command
  const { stdout } = await promisify(execFile)(program, args).catch(() => {
    throw new CliError(`The token command ${program} failed`, { exit: "denied" });
  });
  if (stdout.trim() === "") throw new CliError(`The token command ${program} printed no token`, { exit: "denied" });
  return stdout.trim();
}
