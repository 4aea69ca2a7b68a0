import { COMMANDS } from "../commands.ts";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { candidates } from "./candidates.ts";

/** `complete`: what the completions of a shell call. Prints one candidate a line. */
export async function run({ io, rest }: Call): Promise<void> {
  await write(
    io.stdout,
    candidates(COMMANDS, rest)
      .map((word) => `${word}\n`)
      .join(""),
  );
}
