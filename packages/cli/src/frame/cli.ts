import { ItemVaultError } from "@item-vault/client";
import { adviceForCommand, inOptions, optionsOf } from "./advice.ts";
import type { Call, Command } from "./command.ts";
import { connectTo } from "./connect.ts";
import { CliError, EXIT, type Exit, failureOf, MEANINGS } from "./failure.ts";
import { type Io, write } from "./io.ts";
import { findCommand, type Parsed, parseLine, refuseOptionsOfNode, withCommandFirst, usageOf } from "./parse.ts";
import { printable } from "./printable.ts";
import { proxyHint } from "./proxy.ts";
import { type Access, loadAccess, type TokenKind } from "./settings.ts";
import { VERSION } from "./version.ts";

/** Runs a command line. Returns the exit code. Messages go to stderr, so that stdout has only the requested output. */
export async function runCli(commands: readonly Command[], argv: readonly string[], io: Io): Promise<number> {
  let command: Command | undefined;
  try {
    refuseOptionsOfNode(argv);
    const line = withCommandFirst(commands, argv);
    const found = findCommand(commands, line);
    if (!found) return await withoutCommand(commands, line, io);
    command = found;
    const parsed = parseLine(commands, found, line);
    if (parsed.options.help) {
      await write(io.stdout, helpOf(found));
      return EXIT.ok;
    }
    const { run } = await found.load();
    return (await run(callOf(parsed, commands, io))) ?? EXIT.ok;
  } catch (error) {
    const failure = failureIn(command, error);
    // Without the message of an unknown exception: it may contain a value.
    if (!failure) await write(io.stderr, `item-vault: an unexpected ${(error as Error)?.name ?? "fault"} occurred\n`);
    else await write(io.stderr, textOf(failure, isWithoutAnswer(error) ? proxyHint(io.env) : undefined));
    return EXIT[failure?.exit ?? "failed"];
  }
}

/** Returns the failure of an exception, in the options of the command. */
function failureIn(command: Command | undefined, error: unknown): CliError | undefined {
  const failure = failureOf(error);
  if (!failure || !command || !(error instanceof ItemVaultError && error.kind === "invalid")) return failure;
  return new CliError(inOptions(command, failure.message), { exit: failure.exit });
}

const isWithoutAnswer = (error: unknown): boolean => error instanceof ItemVaultError && error.status === 0;

/** A failure, escaped for a terminal: a message may have a name that the service sent. */
function textOf({ message, hint }: CliError, more?: string): string {
  const lines = [`item-vault: ${message}`, hint, more].filter(Boolean).join("\n").split("\n");
  return lines.map((line) => `${printable(line)}\n`).join("");
}

const HELP = new Set([undefined, "", "help", "--help", "-h"]);

async function withoutCommand(commands: readonly Command[], [word = "", next]: readonly string[], io: Io): Promise<number> {
  if (["version", "--version", "-V"].includes(word)) {
    await write(io.stdout, `${VERSION}\n`);
    return EXIT.ok;
  }
  const group = commands.filter(({ name }) => name.startsWith(`${word} `));
  const asked = HELP.has(word) || (group.length > 0 && HELP.has(next));
  if (!asked)
    throw unknownCommand(
      commands,
      [word, next ?? ""].filter((each) => !each.startsWith("-")),
    );
  await write(word === "" ? io.stderr : io.stdout, group.length > 0 ? overview(group) : overview(commands, GENERAL));
  return word === "" ? EXIT.usage : EXIT.ok;
}

const unknownCommand = (commands: readonly Command[], words: readonly string[]): CliError =>
  new CliError("Unknown command", { exit: "usage", hint: adviceForCommand(commands, words) });

function callOf({ args, rest, options }: Parsed, commands: readonly Command[], io: Io): Call {
  const loaded = new Map<string, Promise<Access>>(); // a token command runs once, because it may ask its user something
  const access = (kind: TokenKind = "token") => {
    const known = loaded.get(kind) ?? loadAccess(io.env, options, kind);
    loaded.set(kind, known);
    return known;
  };
  const connect = async (kind: TokenKind) => connectTo(await access(kind), { admin: kind === "admin_token" });
  return {
    io,
    args,
    rest,
    options,
    commands,
    access,
    client: () => connect("token"),
    admin: () => connect("admin_token"),
    issued: async (token: string) => connectTo({ ...(await access("admin_token")), token, from: "that was just issued" }),
  };
}

/** The help, made from the table of commands. */

/** The general part of the help of all commands. */
const GENERAL = [
  "Settings, which `item-vault login` stores:",
  "  ITEM_VAULT_HOST         the URL of the service; --host goes before it",
  "  ITEM_VAULT_TOKEN        your token",
  "  ITEM_VAULT_ADMIN_TOKEN  the admin token, for the commands marked (admin): `item-vault login --admin`",
  "",
  "Exit codes:",
  ...Object.entries(MEANINGS).map(([exit, meaning]) => `  ${EXIT[exit as Exit]}  ${meaning}`),
  "",
];

/** Commands, one a line. */
function overview(all: readonly Command[], more: readonly string[] = []): string {
  const commands = all.filter(({ hidden }) => !hidden);
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const last = ["`item-vault <command> --help` shows the options, `item-vault --version` the version.", ""];
  return ["Usage: item-vault <command> [options]", "", ...lines, "", ...more, ...last].join("\n");
}

/** One command with its options and examples. */
function helpOf(command: Command): string {
  const named = Object.entries(optionsOf(command)).map(([name, { short, value, summary }]) => ({
    flags: `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`,
    summary,
  }));
  const width = Math.max(...named.map(({ flags }) => flags.length));
  return [
    `Usage: ${usageOf(command)}`,
    "",
    command.summary,
    "",
    ...named.map(({ flags, summary }) => `  ${flags.padEnd(width)}  ${summary}`),
    ...(command.examples.length > 0 ? ["", "Examples:", ...command.examples.map((example) => `  ${example}`)] : []),
    "",
  ].join("\n");
}
