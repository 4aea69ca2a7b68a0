import type { Failure, FailureKind } from "./failure.ts";

/** A value or the reason why there is none. Failures are values until the edge of the Worker. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;
export type Refusal = { readonly ok: false; readonly failure: Failure };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

export const fail = (kind: FailureKind, detail?: string): Refusal => ({
  ok: false,
  failure: detail === undefined ? { kind } : { kind, detail },
});

/** A 400: what is wrong and where, never a value. */
export const invalid = (message: string): Refusal => fail("invalid", message);
