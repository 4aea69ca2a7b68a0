import type { FailureKind } from "./model/failure.ts";
import { type Cause, causeOfDefect, defect, fail, isDefect, type Refusal, type Result } from "./model/result.ts";

/** The place of a failure. */
export interface Trace {
  /** The `Request-Id` of the answer. */
  readonly request?: string;
  /** The operationId of the document, or the kind of the job. */
  readonly operation?: string;
  readonly job?: string;
}

/** Logs one failure as one line of JSON. */
function logLine(kind: FailureKind, cause: Cause | undefined, { request, operation, job }: Trace): void {
  console.warn(JSON.stringify({ request, operation, job, kind, ...cause }));
}

/** Logs an error that no answer reports. `what` is the subject of a sentence. */
export function logFailure(what: string, error: unknown, trace: Trace = {}): void {
  logLine("internal", causeOf(what, error), trace);
}

/** Logs a refusal once, at its end: at the answer to a request, or in work that no client waits for. */
export function logRefusal({ failure, cause }: Refusal, trace: Trace = {}): void {
  logLine(failure.kind, cause, trace);
}

/** Returns an error for the platform, which prints its message. A foreign message may quote input. */
export const printable = (what: string, error: unknown): Error =>
  error instanceof Error && isDefect(error) ? error : defect(`${what} has failed`);

/** Returns the refusal for an error that was caught. The log line of the refusal shows the error. */
export const failedBy = (what: string, error: unknown, kind: FailureKind = "internal"): Refusal => ({
  ...fail(kind),
  cause: causeOf(what, error),
});

/** Runs a function that can throw. Fails with `internal` if it throws. */
export async function catchDefect<T>(what: string, run: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await run();
  } catch (error) {
    return failedBy(what, error);
  }
}

/** The frames of an error that are logged. */
const FRAMES_MAX = 20;

/**
 * Describes an error without text that may quote input. Messages of D1 name tables and constraints, never bound values (its type
 * errors start with other words). Messages of the service contain no value from a user. Every other message may quote the input,
 * as V8 does for invalid JSON.
 */
export function causeOf(what: string, error: unknown): Cause {
  if (!(error instanceof Error)) return { what, class: typeof error, frames: [] };
  const origin = causeOfDefect(error);
  if (origin) return { ...origin, what: `${what}: ${error.message}` };
  const isSafe = isDefect(error) || error.message.startsWith("D1_ERROR");
  // The stack of this function has the callers that wait for a D1 call; the stack of D1's error does not.
  const frames = [...framesOf(error), ...framesOf(new Error("here")).slice(2)];
  return {
    what,
    class: error.name,
    ...(isSafe && { message: error.message.slice(0, 200) }),
    frames: [...new Set(frames)].slice(0, FRAMES_MAX),
  };
}

/** Returns the frames of a stack. The lines before them repeat the message, which may itself look like frames. */
function framesOf({ message, stack = "" }: Error): string[] {
  const header = message === "" ? 0 : stack.indexOf(`: ${message}`);
  if (header === -1) return [];
  return stack
    .slice(header + (message === "" ? 0 : message.length + 2))
    .split("\n")
    .flatMap((line) => /^\s+at (.*)$/.exec(line)?.[1] ?? []);
}
