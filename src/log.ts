import { fail, type Result } from "./model/result.ts";

/**
 * Logs that something failed, without what the error may quote. The messages of D1 name tables and constraints, never
 * bound values (except its type errors, which are bugs). Every other message may hold a part of the input, so only the
 * name and the stack frames of the error are logged. In: what failed, as the subject of a sentence.
 */
export function logFailure(subject: string, error: unknown): void {
  console.warn(`${subject} failed: ${error instanceof Error ? describe(error) : "not an Error"}`);
}

/** Runs what may throw. Errors: also `internal`, when it has thrown, which is logged. In: what it is, as the subject of a sentence. */
export async function catchDefect<T>(subject: string, run: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await run();
  } catch (error) {
    logFailure(subject, error);
    return fail("internal");
  }
}

function describe({ name, message, stack = "" }: Error): string {
  if (message.startsWith("D1_ERROR")) return message.slice(0, 200);
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return [name, ...frames].join("\n");
}
