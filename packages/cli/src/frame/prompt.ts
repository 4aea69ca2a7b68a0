import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CliError } from "./failure.ts";
import { type Io, readAll, write } from "./io.ts";

/** Questions to the user, on stderr. */

/** Returns true if a user can answer. */
export const canAsk = ({ stdin, stderr }: Io): boolean => Boolean(stdin.isTTY && stderr.isTTY);

/**
 * Asks for a line. With `hidden` the terminal does not show it. `instead` says how to answer without a terminal. Throws a CliError without a
 * terminal, and if the input ends.
 */
export async function ask(io: Io, question: string, { hidden = false, instead = "" } = {}): Promise<string> {
  if (!canAsk(io)) throw new CliError("There is no terminal to ask on", { exit: "usage", ...(instead && { hint: instead }) });
  // readline turns off the terminal's echo, and echoes to its output itself. The question is written after that, so that an immediate answer
  // does not show the secret.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: hidden ? silent : io.stderr, terminal: true });
  try {
    const answered = new Promise<string>((answer, reject) => {
      lines.once("line", answer);
      lines.once("SIGINT", () => reject(new CliError("Interrupted")));
      lines.once("close", () => reject(new CliError("The input ended without an answer")));
    });
    const [answer] = await Promise.all([answered, write(io.stderr, question)]);
    return answer;
  } finally {
    lines.close();
    if (hidden) await write(io.stderr, "\n");
  }
}

/** Asks before an act that cannot be undone. Throws a CliError unless the user says yes or `yes` is set. `stays` ends its message. */
export async function confirm(io: Io, question: string, yes = false, stays = "nothing was changed"): Promise<void> {
  if (yes) return;
  const answer = await ask(io, `${question} [y/N] `, { instead: "Add --yes." });
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(`Canceled: ${stays}`);
}

/** A secret: typed without being shown, or all of stdin when that is no terminal, without a line break at its end. */
export async function askSecret(io: Io, question: string): Promise<string> {
  if (io.stdin.isTTY) return ask(io, question, { hidden: true });
  return (await readAll(io.stdin)).toString("utf8").replace(/\r?\n$/, "");
}
