import { rmSync } from "node:fs";
import { CliError } from "./failure.ts";

/** Signals that end a program: exit codes and clean-up. */

/** The signals that end a program and that it can catch, with their numbers (POSIX): the exit code is 128 more. */
export const ENDING_SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Removes a file or folder when a signal ends the process. If another part of the program handles the signal, too, the process continues.
 * Returns a function that removes the listeners.
 */
export function removeAtSignal(path: string): () => void {
  const offs = Object.entries(ENDING_SIGNALS).map(([signal, number]) => {
    const listener = () => {
      rmSync(path, { recursive: true, force: true });
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const off of offs) off();
  };
}

/** Runs a command that Ctrl-C ends cleanly: the signal aborts, and started work is finished. A second Ctrl-C ends the process. */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new CliError("Interrupted"));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  try {
    return await run(controller.signal);
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
}
