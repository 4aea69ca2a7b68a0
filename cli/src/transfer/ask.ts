import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";

/** Asks for a secret on the terminal, without showing what is typed. Errors: throws a CliError with `hint` when stdin is no terminal. */
export async function askSecret(io: Io, prompt: string, hint: string): Promise<string> {
  if (!io.stdin.isTTY) throw new CliError("A secret is needed, and there is no terminal to ask on", { exit: "usage", hint });
  await write(io.stderr, prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: silent, terminal: true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    await write(io.stderr, "\n");
  }
}
