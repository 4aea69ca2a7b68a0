import { readFileSync } from "node:fs";

/** The commands of a situation in docs/operations.md. */

/** Out: the lines of the `sh` blocks below a heading. Throws when there is no such heading, or no command. */
export function commandsOf(heading: string): string[] {
  const [, section] = readFileSync("docs/operations.md", "utf8").split(`\n## ${heading}\n`, 2);
  const commands = [...(section ?? "").split("\n## ")[0]!.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block]) =>
    block!.trim().split("\n"),
  );
  if (commands.length === 0) throw new Error(`docs/operations.md has no commands under "${heading}"`);
  return commands;
}
