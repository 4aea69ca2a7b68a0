import type { Failure, FailureKind } from "./failure.ts";

/** A value, or the failure that prevents it. http/refuse.ts turns failures into responses. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;
export type Refusal = {
  readonly ok: false;
  readonly failure: Failure;
  /** `false`: the same call would fail again, or add to the load of an overloaded D1. */
  readonly retry?: false;
};

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

export const fail = (kind: FailureKind, detail?: string): Refusal => ({
  ok: false,
  failure: detail === undefined ? { kind } : { kind, detail },
});

/**
 * The value of a result in work that no client waits for: a failure is thrown, so that the run shows as failed, or the queue delivers
 * again. In: what was to be done, as in "delete expired rows", which the error names.
 */
export function must<T>(what: string, result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(`could not ${what}: ${result.failure.detail ?? result.failure.kind}`);
}

/** A 400. In: the fault and where it is, never a value of the client's. */
export const invalid = (message: string): Refusal => fail("invalid", message);
