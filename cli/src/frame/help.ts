import type { Command, Options } from "./command.ts";
import { GLOBAL_OPTIONS, usageOf } from "./parse.ts";

/** The help, made from the table of commands. */

/** All commands, one a line. */
export function overview(all: readonly Command[]): string {
  const commands = all.filter(({ hidden }) => !hidden);
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return ["Usage: item-vault <command> [options]", "", ...lines, "", "`item-vault <command> --help` shows the options.", ""].join(
    "\n",
  );
}

/** One command with its options and examples. */
export function helpOf(command: Command): string {
  const options = { ...command.options, ...GLOBAL_OPTIONS } as Options;
  const named = Object.entries(options).map(([name, { short, value, summary }]) => ({
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
