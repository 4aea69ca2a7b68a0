import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { createMaskStream } from "./mask.ts";

/** Starts the command of `run`. */

export interface Child {
  /** The exit code: that of the command, or 128 and the number of the signal that ended it, as shells have it. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
  /** Reads no more output. Programs that the command has started may keep it open after the command's end. */
  release(): void;
}

/** Every signal that a user or an init system sends to a command. */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/**
 * Starts a command. `masked`: the values to mask in its output; `undefined`: the output is not touched, and a terminal stays a
 * terminal for the command. Errors: `ended` rejects with exit code 127 when there is no such command, 126 when it cannot run.
 */
export function startChild(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  masked: readonly string[] | undefined,
  io: Io,
): Child {
  if (program === "") return { ended: Promise.reject(new NotStarted("ENOENT")), kill: () => undefined, release: () => undefined }; // spawn would throw
  const output = masked ? "pipe" : "inherit";
  const child = spawn(program!, args, { env, stdio: ["inherit", output, output] });
  const piped = masked ? [pipe(child.stdout!, masked, io.stdout), pipe(child.stderr!, masked, io.stderr)] : [];
  const release = () => [child.stdout, child.stderr].forEach((stream) => void stream?.destroy());
  return { ended: exitOf(child, piped), kill: (signal) => void child.kill(signal), release };
}

const ENDING = new Set<NodeJS.Signals>(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]);

/**
 * Forwards signals to the command that runs now. `onEnding` is called for those that ask it to end. Returns the function that removes
 * the listeners.
 */
export function forwardSignals({ stdin }: Io, current: () => Child | undefined, onEnding?: () => void): () => void {
  const listeners = FORWARDED.map((signal) => {
    // The terminal has sent SIGINT and SIGQUIT to the command itself, so sending it again would interrupt the command twice.
    const fromTerminal = stdin.isTTY === true && (signal === "SIGINT" || signal === "SIGQUIT");
    const listener = () => {
      if (ENDING.has(signal)) onEnding?.();
      if (!fromTerminal) current()?.kill(signal);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => listeners.forEach((remove) => void remove());
}

/** A reader that has gone away ends the pipe of the command, which then gets SIGPIPE as it would without masking. */
function pipe(from: Readable, values: readonly string[], to: Writable): Promise<void> {
  // The listener of main.ts would end this process, and the command would go on without it.
  to.removeAllListeners("error").on("error", () => undefined);
  return pipeline(from, createMaskStream(values), to, { end: false }).catch(() => void from.destroy());
}

function exitOf(child: ChildProcess, piped: readonly Promise<void>[]): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) => reject(new NotStarted(error.code)));
    // `close` comes after the last output, `exit` before it.
    child.on("close", (code, signal) => {
      void Promise.all(piped).then(() => resolve(code ?? 128 + constants.signals[signal!]));
    });
  });
}

/** The command did not start. `code`: the exit code that shells give then. */
export class NotStarted extends CliError {
  readonly code: number;

  constructor(fault: string | undefined) {
    super(fault === "ENOENT" ? "The command does not exist" : `The command cannot run: ${fault}`);
    this.code = fault === "ENOENT" ? 127 : 126;
  }
}
