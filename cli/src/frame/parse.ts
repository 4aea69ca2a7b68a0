import { parseArgs } from "node:util";
import type { Command, Options, Values } from "./command.ts";
import { CliError } from "./failure.ts";

/** Parses a command line against the table of commands. */

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  host: { type: "string", value: "URL", summary: "the service, instead of ITEM_VAULT_HOST" },
  timeout: { type: "string", value: "SECONDS", summary: "how long the service may be silent, instead of ITEM_VAULT_TIMEOUT" },
  "allow-http": { type: "boolean", summary: "send the token also unencrypted to another machine" },
  help: { type: "boolean", short: "h", summary: "this help" },
} as const satisfies Options;

export interface Parsed {
  readonly command: Command;
  readonly args: readonly string[];
  readonly rest: readonly string[];
  readonly options: Values<typeof GLOBAL_OPTIONS> & Values<Options>;
}

/** Node itself reads this option, also behind the script, up to `--`. */
const ENV_FILE_OF_NODE = /^--env-file(?:-if-exists)?(?:=|$)/;

/** Throws a CliError for an option that Node has obeyed before this program began. */
export function refuseOptionsOfNode(argv: readonly string[]): void {
  const end = argv.indexOf("--");
  if (!argv.slice(0, end === -1 ? argv.length : end).some((word) => ENV_FILE_OF_NODE.test(word))) return;
  const hint = "`item-vault run --env FILE` (-e) reads a file of variables for the command.";
  throw new CliError("--env-file is an option of Node, which has already read the file", { exit: "usage", hint });
}

/** The command of a command line: the longest name of the table that the line begins with. Out: `undefined` without one. */
export function findCommand(commands: readonly Command[], argv: readonly string[]): Command | undefined {
  const matches = commands.filter(({ name }) => name.split(" ").every((word, index) => argv[index] === word));
  return matches.toSorted((one, other) => other.name.length - one.name.length)[0];
}

/** Parses what follows the name of the command. Errors: throws a CliError that names the option, never a value. */
export function parseLine(command: Command, argv: readonly string[]): Parsed {
  const { positionals, values, tokens } = parseStrictly(command, argv.slice(command.name.split(" ").length));
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? Number.POSITIVE_INFINITY;
  const positions = tokens.filter(({ kind }) => kind === "positional").map(({ index }) => index);
  const rest = positionals.filter((_, index) => positions[index]! > end);
  const args = positionals.filter((_, index) => positions[index]! < end);
  // Without a command after it, `--` only ends the options.
  const parsed = command.rest ? { args, rest } : { args: positionals, rest: [] };
  const wanted = command.args.split(" ").filter(Boolean);
  const least = wanted.filter((word) => word.startsWith("<")).length;
  const most = command.args.endsWith("…") ? Number.POSITIVE_INFINITY : wanted.length;
  const wrong = parsed.args.length < least || parsed.args.length > most || (command.rest && rest.length === 0);
  const options = values as Parsed["options"];
  checkChoices(command, options);
  if (wrong && !options.help) throw usage(command, `expected ${usageOf(command)}`);
  return { command, ...parsed, options };
}

/** Errors: throws a CliError that names the option and its values. */
function checkChoices(command: Command, values: Parsed["options"]): void {
  for (const [name, { choices }] of Object.entries(command.options)) {
    const given = [values[name] ?? []].flat();
    if (choices && given.some((value) => !choices.includes(value))) throw usage(command, `--${name} takes ${choices.join(", ")}`);
  }
}

function parseStrictly(command: Command, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...GLOBAL_OPTIONS } as Options).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short ? { short } : {}), ...(multiple ? { multiple } : {}) },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    throw usage(command, (error as Error).message);
  }
}

const usage = ({ name }: Command, message: string) =>
  new CliError(`${name}: ${message}`, { exit: "usage", hint: `Run \`item-vault ${name} --help\`.` });

/** One line: the command with its arguments. */
export const usageOf = ({ name, args, rest }: Command): string =>
  ["item-vault", name, "[options]", args, rest ? "-- <command> [argument]…" : ""].filter(Boolean).join(" ");
