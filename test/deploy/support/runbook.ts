import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The commands of a situation in docs/operations.md. */

const PARTS = "docs/operations";

/** Out: the lines of the `sh` blocks below a heading. Throws when there is no such heading, or no command. */
export function commandsOf(heading: string): string[] {
  const parts = existsSync(PARTS) ? readdirSync(PARTS).map((name) => join(PARTS, name)) : [];
  const text = [...parts, "docs/operations.md"].map((path) => readFileSync(path, "utf8")).join("\n");
  const [, section] = text.split(`\n## ${heading}\n`, 2);
  const commands = [...(section ?? "").split("\n## ")[0]!.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block]) =>
    block!.trim().split("\n"),
  );
  if (commands.length === 0) throw new Error(`The documents have no commands under "${heading}"`);
  return commands;
}
