import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { getSystemErrorMap } from "node:util";
import { CliError } from "../frame/failure.ts";
import { type Io, write } from "../frame/io.ts";
import { createMaskStream } from "./mask.ts";

/** Starts the command of `run`. */

export interface Child {
  /** The exit code of the command, or 128 and the number of the signal that ended it, as in shells. Rejects with NotStarted. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

type Variables = Readonly<Record<string, string>>;

/** Every signal that a user or an init system sends to a command. */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/**
 * Starts a command. `masked` are the values to mask in its output. If it is undefined, the output is not touched, and a terminal stays a
 * terminal for the command.
 */
export function startChild(
  [program = "", ...args]: readonly string[],
  env: Variables,
  masked: readonly string[] | undefined,
  io: Io,
): Child {
  const output = masked ? "pipe" : "inherit";
  const notStarted = (error: NodeJS.ErrnoException) => new NotStarted(program === "" ? { code: "ENOENT" } : error, args, env);
  let child: ChildProcess;
  try {
    child = spawn(program, args, { env, stdio: ["inherit", output, output] });
  } catch (error) {
    return { ended: Promise.reject(notStarted(error as NodeJS.ErrnoException)), kill: () => undefined };
  }
  const outputs = outputsOf(child);
  const piped = outputs.map((stream) => pipe(stream, masked ?? [], stream === child.stdout ? io.stdout : io.stderr));
  const ended = new Promise<number>((resolve, reject) => {
    // Without a process number the error is no failed signal.
    child.on("error", (error) => void (child.pid === undefined && reject(notStarted(error))));
    child.on("exit", (code, signal) => {
      const finish = () => resolve(code ?? 128 + constants.signals[signal!]);
      void Promise.all([...piped, leaveBehind(outputs, Promise.all(piped), io)]).then(finish, finish);
    });
  });
  return { ended, kill: (signal) => void child.kill(signal) };
}

const ENDING = new Set<NodeJS.Signals>(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]);

/**
 * Forwards signals to the running command. `onEnding` is called for signals that ask it to end. Returns the function that removes the
 * listeners.
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

/** Returns the masked outputs. With too many open files Node makes no streams. */
const outputsOf = ({ stdout, stderr }: ChildProcess): Socket[] =>
  [stdout, stderr].flatMap((stream) => (stream as Socket | null) ?? []);

/** A reader that has gone away ends the pipe of the command, which then gets SIGPIPE as it would without masking. */
function pipe(from: Readable, values: readonly string[], to: Writable): Promise<void> {
  // The listener of main.ts would end this process, and the command would continue without it.
  to.removeAllListeners("error").on("error", () => undefined);
  return pipeline(chunksOf(from), createMaskStream(values), to, { end: false }).catch(() => void from.destroy());
}

/** Yields chunks until the end of the stream or until it is destroyed. */
async function* chunksOf(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch {
    // `leaveBehind` has destroyed it.
  }
}

const TICK_MS = 250;
const SILENT_TICKS = 4;
const TICKS_MAX = 40;

/**
 * Reads the output of an ended command until it is silent for 1 s, and for at most 10 s: a background process may hold it open. Counts ticks
 * of the event loop, which stops while the reader of this process is slow. So a slow reader costs no bytes.
 */
async function leaveBehind(outputs: readonly Socket[], ended: Promise<unknown>, { stdout, stderr }: Io): Promise<void> {
  const done = new AbortController();
  void ended.then(() => done.abort());
  const count = () => outputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  let [bytes, ticks, silent] = [count(), 0, 0];
  while (silent < SILENT_TICKS && ticks < TICKS_MAX) {
    await wait(TICK_MS, undefined, { signal: done.signal }).catch(() => undefined);
    if (done.signal.aborted) return;
    if (stdout.writableNeedDrain || stderr.writableNeedDrain) continue;
    const before = bytes;
    bytes = count();
    silent = bytes === before ? silent + 1 : 0;
    ticks++;
  }
  for (const output of outputs) output.destroy();
  await ended;
  await write(stderr, `item-vault: ${LEFT_BEHIND}\n`);
}

const LEFT_BEHIND =
  "the command has ended, but a background process keeps its output open, and the rest of it is lost: redirect it, or use --no-masking";

/** The command did not start. `code` is the exit code of shells for this. */
export class NotStarted extends CliError {
  readonly code: number;

  constructor({ code, errno }: Partial<NodeJS.ErrnoException>, args: readonly string[], env: Variables) {
    const [, reason = "it has an invalid name or argument"] = getSystemErrorMap().get(errno ?? 0) ?? [];
    const largest = code === "E2BIG" ? `; ${largestOf(args, env)}` : "";
    super(
      code === "ENOENT"
        ? "The command, or the interpreter of its script, does not exist"
        : `The command cannot run: ${reason} (${code})${largest}`,
    );
    this.code = code === "ENOENT" ? 127 : 126;
  }
}

/** Names the largest variable or argument: systems limit the size of each text and of all texts together. */
function largestOf(args: readonly string[], env: Variables): string {
  const texts = [
    ...Object.entries(env).map(([name, value]) => [`the variable ${name}`, `${name}=${value}`] as const),
    ...args.map((argument, index) => [`argument ${index + 1}`, argument] as const),
  ];
  const sizes = texts.map(([name, text]) => ({ name, bytes: Buffer.byteLength(text) }));
  const { name, bytes } = sizes.reduce((largest, size) => (size.bytes > largest.bytes ? size : largest));
  return `the largest is ${name}, with ${bytes.toLocaleString("en-US")} bytes`;
}
