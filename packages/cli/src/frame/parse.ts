import { parseArgs } from "node:util";
import { adviceForArguments, adviceForOption, flagOf, optionsOf } from "./advice.ts";
import type { Command, GLOBAL_OPTIONS, Options, Values } from "./command.ts";
import { CliError } from "./failure.ts";

/** Parses a command line against the table of commands. */

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

/** Returns the command with the longest name with which the command line begins, or undefined. */
export function findCommand(commands: readonly Command[], argv: readonly string[]): Command | undefined {
  const matches = commands.filter(({ name }) => name.split(" ").every((word, index) => argv[index] === word));
  return matches.toSorted((one, other) => other.name.length - one.name.length)[0];
}

/** Returns the command line with its command first: options may come before it, and `help` before a command asks for its help. */
export function withCommandFirst(commands: readonly Command[], argv: readonly string[]): readonly string[] {
  if (argv[0] === "help" && argv.length > 1) return withCommandFirst(commands, [...argv.slice(1), "--help"]);
  let at = 0;
  while (argv[at]?.startsWith("-") && argv[at] !== "--") at += takesValue(commands, argv[at]!) ? 2 : 1;
  const line = argv.slice(at);
  const words = findCommand(commands, line)?.name.split(" ").length ?? 0;
  if (line.length === 0) return argv;
  return words === 0 ? [...line, ...argv.slice(0, at)] : [...line.slice(0, words), ...argv.slice(0, at), ...line.slice(words)];
}

const takesValue = (commands: readonly Command[], word: string): boolean =>
  commands.some((command) =>
    Object.entries(optionsOf(command)).some(
      ([name, { type, short }]) => type === "string" && (word === `--${name}` || word === `-${short}`),
    ),
  );

/** Parses the words after the name of the command. Throws a CliError that names the option, never a value. */
export function parseLine(commands: readonly Command[], command: Command, argv: readonly string[]): Parsed {
  const line = argv.slice(command.name.split(" ").length);
  const { positionals, values, tokens } = parseLoosely(command, line);
  checkOptions(commands, command, line, tokens);
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
  parseChoices(command, values);
  if (options.help) return { command, ...parsed, options };
  const advice = adviceForArguments(command, parsed.args);
  if (wrong || advice)
    throw usage(command, `expected ${usageOf(command)}`, advice ?? adviceForNumber(command, parsed.args.length > most));
  const empty = Object.entries(optionsOf(command)).find(([name, spec]) => !spec.mayBeEmpty && [values[name]].flat().includes(""));
  if (empty) throw usage(command, `--${empty[0]} is empty`, SPACED);
  const missing = requiredOf(command).find(([name]) => values[name] === undefined);
  if (missing) throw usage(command, `${flagOf(...missing)} is missing`);
  return { command, ...parsed, options };
}

const SPACED = "A name or a value with blanks needs quotes, and no blanks around `=`.";
const BEFORE_COMMAND = "Write `--` before the command that is to run.";

function adviceForNumber({ args, rest }: Command, isMany: boolean): string | undefined {
  if (!isMany) return undefined;
  if (rest) return BEFORE_COMMAND;
  return args === "" ? "It takes no arguments." : SPACED;
}

/** Parses without refusing anything, because the messages of Node's parser are for programmers. */
const parseLoosely = (command: Command, line: readonly string[]) =>
  parseArgs({ args: [...line], options: specsOf(command), allowPositionals: true, strict: false, tokens: true });

type Token = ReturnType<typeof parseLoosely>["tokens"][number];

/** Words that people write after an option without a value. */
const ANSWER = /^(?:true|false|yes|no|on|off)$/i;

/** Throws a CliError for an option that the command lacks, and for one without its value or with a value that it does not take. */
function checkOptions(commands: readonly Command[], command: Command, line: readonly string[], tokens: readonly Token[]): void {
  const options = optionsOf(command);
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "option-terminator") return;
    if (token.kind !== "option") continue;
    const { name, rawName, value, index } = token;
    const word = line[index]!;
    const [, long] = /^-([a-z][\w-]+)(?:=|$)/.exec(word) ?? [];
    if (long !== undefined && Object.hasOwn(options, long)) throw unknown(command, `-${long}`, `Did you mean \`--${long}\`?`);
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option) {
      const joined = /^-\w=?(.+)$/s.exec(word)?.[1]; // to a short option
      const isOfCommand = command.rest && tokens.slice(0, at).some(({ kind }) => kind === "positional");
      const typed = { name, value: value ?? joined ?? line[index + 1] };
      throw unknown(command, rawName, isOfCommand ? BEFORE_COMMAND : adviceForOption(commands, command, typed));
    }
    if (value === "=" || (rawName.length === 2 && value?.startsWith("=")))
      throw usage(command, `${rawName} has a value that begins with =`, `Write \`${rawName} VALUE\` or \`--${name}=VALUE\`.`);
    const next = tokens[at + 1];
    if (option.type === "boolean" && (value !== undefined || (next?.kind === "positional" && ANSWER.test(next.value))))
      throw usage(command, `${rawName} takes no value`);
    const isOption = token.inlineValue === false && /^-./.test(value ?? "");
    if (option.type === "string" && (value === undefined || isOption))
      throw usage(
        command,
        `${rawName} needs a value: ${option.value}`,
        isOption ? `Write one that begins with a hyphen as \`--${name}=VALUE\`.` : undefined,
      );
  }
}

const unknown = (command: Command, option: string, advice?: string) => usage(command, `there is no option ${option}`, advice);

/** Replaces a choice in another case by the choice. Throws a CliError that names the option and its values. */
function parseChoices(command: Command, values: Record<string, unknown>): void {
  for (const [name, { choices }] of Object.entries(command.options)) {
    const given = values[name];
    if (!choices || typeof given !== "string") continue;
    const chosen = choices.find((choice) => choice.toLowerCase() === given.toLowerCase());
    if (chosen === undefined) throw usage(command, `--${name} takes ${choices.join(", ")}`);
    values[name] = chosen;
  }
}

const specsOf = (command: Command) =>
  Object.fromEntries(
    Object.entries(optionsOf(command)).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short ? { short } : {}), ...(multiple ? { multiple } : {}) },
    ]),
  );

const usage = ({ name }: Command, message: string, advice?: string) =>
  new CliError(`${name}: ${message}`, {
    exit: "usage",
    hint: [advice, `Run \`item-vault ${name} --help\`.`].filter(Boolean).join("\n"),
  });

const requiredOf = ({ options }: Command) => Object.entries(options).filter(([, { required }]) => required);

/** One line: the command with its arguments and the options that it needs. */
export function usageOf(command: Command): string {
  const { name, args, rest } = command;
  const required = requiredOf(command).map((option) => flagOf(...option));
  return ["item-vault", name, ...required, "[options]", args, rest ? "-- <command> [argument]…" : ""].filter(Boolean).join(" ");
}
