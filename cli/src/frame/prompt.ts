import { createInterface } from "node:readline/promises";
import { CliError } from "./failure.ts";
import { type Io, readAll, write } from "./io.ts";

/** Asks the user. Questions go to stderr, so that stdout stays what was asked for. */

/** One line, shown while it is typed. Errors: throws a CliError when stdin is no terminal. */
export async function prompt({ stdin, stderr }: Io, question: string): Promise<string> {
  if (!stdin.isTTY) throw new CliError(`${question} has to be given`, { exit: "usage" });
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return (await lines.question(`${question}: `)).trim();
  } finally {
    lines.close();
  }
}

interface Terminal {
  setRawMode(raw: boolean): void;
}

/** A secret: typed without echo, or all of stdin when that is no terminal, without a newline at its end. */
export async function promptSecret(io: Io, question: string): Promise<string> {
  const { stdin, stderr } = io;
  if (!stdin.isTTY) return (await readAll(stdin)).toString("utf8").replace(/\r?\n$/, "");
  await write(stderr, `${question}: `);
  const terminal = stdin as unknown as Terminal;
  terminal.setRawMode(true);
  try {
    return await readKeys(stdin);
  } finally {
    terminal.setRawMode(false);
    stdin.pause();
    await write(stderr, "\n");
  }
}

const ENTER = new Set(["\r", "\n", "\u0004"]); // also Ctrl-D
const INTERRUPT = "\u0003";
const BACKSPACE = new Set(["\b", "\u007f"]);

async function readKeys(stdin: Io["stdin"]): Promise<string> {
  let typed = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer | string) => {
      for (const key of chunk.toString()) {
        if (ENTER.has(key)) return done(() => resolve(typed));
        if (key === INTERRUPT) return done(() => reject(new CliError("Interrupted")));
        typed = BACKSPACE.has(key) ? typed.slice(0, -1) : typed + key;
      }
      return undefined;
    };
    const done = (finish: () => void) => {
      stdin.off("data", read);
      finish();
    };
    stdin.on("data", read).resume();
  });
}
