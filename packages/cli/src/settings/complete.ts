import { optionsOf } from "../frame/advice.ts";
import type { Call, Command } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { findCommand } from "../frame/parse.ts";

/** `complete`: called by a shell's completions. Prints one candidate a line. */
export async function run({ io, rest, commands }: Call): Promise<void> {
  await write(
    io.stdout,
    candidates(commands, rest)
      .map((word) => `${word}\n`)
      .join(""),
  );
}

/** Returns the words that can follow a command line. `words` follow the program; the last one is the beginning of the next word. */
export function candidates(commands: readonly Command[], words: readonly string[]): string[] {
  const before = words.slice(0, -1);
  const beginning = words.at(-1) ?? "";
  const shown = commands.filter(({ hidden }) => !hidden);
  const found = findCommand(shown, before);
  const next = found ? afterCommand(found, before, beginning) : shown.flatMap(({ name }) => nextWord(name.split(" "), before));
  return [...new Set(next)].filter((word) => word.startsWith(beginning));
}

const nextWord = (name: readonly string[], before: readonly string[]): string[] =>
  before.every((word, index) => name[index] === word) ? name.slice(before.length, before.length + 1) : [];

function afterCommand(command: Command, before: readonly string[], beginning: string): readonly string[] {
  if (command.rest && before.includes("--")) return [];
  const all = optionsOf(command);
  const last = before.at(-1)!;
  const option = Object.entries(all).find(([name, { short }]) => last === `--${name}` || last === `-${short}`)?.[1];
  if (option?.type === "string") return option.choices ?? [];
  return beginning.startsWith("-") ? Object.keys(all).map((name) => `--${name}`) : [];
}
