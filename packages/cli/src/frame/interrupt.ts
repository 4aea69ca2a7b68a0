import { CliError } from "./failure.ts";

/** Runs a command that Ctrl-C ends cleanly: the signal aborts, and what has begun is finished. A second Ctrl-C ends the process. */
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
