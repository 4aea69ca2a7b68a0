import type { Failure, FailureKind } from "./failure.ts";

/** A value, or the failure that prevents it. http/refuse.ts turns failures into responses. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;
export type Refusal = {
  readonly ok: false;
  readonly failure: Failure;
  /** `false`: the same call would fail again, or add to the load of an overloaded D1. */
  readonly retry?: false;
  /** The error behind the failure, for the log. */
  readonly cause?: Cause;
};

/** An error as the log shows it. It is plain data, so that it crosses Durable Object RPC. */
export interface Cause {
  /** The failed action: the subject of a sentence. */
  readonly what: string;
  readonly class: string;
  /** Only of D1 and of our own errors: other messages may quote the input. */
  readonly message?: string;
  readonly frames: readonly string[];
}

/** The errors of the service's own code, with the cause of the failure that made them. */
const defects = new WeakMap<Error, Cause | undefined>();

/** Returns an error of our own code. The log shows its message, so it has no value that a user typed. */
export function defect(message: string, cause?: Cause): Error {
  const error = new Error(message);
  defects.set(error, cause);
  return error;
}

export const isDefect = (error: Error): boolean => defects.has(error);

/** Returns the cause of the failure that an error of our own code throws. */
export const causeOfDefect = (error: Error): Cause | undefined => defects.get(error);

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

export const fail = (kind: FailureKind, detail?: string): Refusal => ({
  ok: false,
  failure: detail === undefined ? { kind } : { kind, detail },
});

/** Returns the result with another value, or the failure unchanged. */
export const map = <T, U>(result: Result<T>, make: (value: T) => U): Result<U> => (result.ok ? ok(make(result.value)) : result);

/**
 * Returns the value of a result in work that no client waits for. Throws on a failure, so that the run shows as failed or the
 * queue delivers again. The error names `what`, as in "delete expired rows".
 */
export function must<T>(what: string, result: Result<T>): T {
  if (result.ok) return result.value;
  throw defect(`could not ${what}: ${result.failure.detail ?? result.failure.kind}`, result.cause);
}

/** Refuses with 400. `message` has the fault and its place, never a value from the client. */
export const invalid = (message: string): Refusal => fail("invalid", message);
