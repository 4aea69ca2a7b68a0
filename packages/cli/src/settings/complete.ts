import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { candidates } from "./candidates.ts";

/** `complete`: what the completions of a shell call. Prints one candidate a line. */
export async function run({ io, rest, commands }: Call): Promise<void> {
  await write(
    io.stdout,
    candidates(commands, rest)
      .map((word) => `${word}\n`)
      .join(""),
  );
}
