import { optionsOf } from "./advice.ts";
import type { Command } from "./command.ts";
import { usageOf } from "./parse.ts";

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
