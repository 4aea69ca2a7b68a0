import { logFailure } from "../log.ts";
import type { FailureKind } from "../model/failure.ts";
import { fail, type Result } from "../model/result.ts";

const TRIES = 3;

/** The failures of which the coordinator knows that nothing happened. */
const NOTHING_HAPPENED: ReadonlySet<FailureKind> = new Set(["busy", "unavailable", "version_skew"]);

/** The answer of a coordinator. */
export interface Tried<T> {
  readonly answer: Result<T>;
  /** How often the call was sent. After a second try, the coordinator of the first one may still be carrying it out. */
  readonly tries: number;
}

/**
 * Calls a coordinator, and again with a new stub when the object was reset: the call has to be idempotent. An overloaded
 * object gets no retry (developers.cloudflare.com/durable-objects/best-practices/error-handling).
 * In: `connect` gives a new stub; `lost` is the failure after a try whose outcome is unknown.
 */
export async function tryCoordinator<C, T>(
  connect: () => C,
  lost: FailureKind,
  method: (coordinator: C) => Promise<Result<T>>,
): Promise<Tried<T>> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await method(connect());
      // That nothing happened in this try says nothing about the try before.
      const unknown = tries > 1 && !answer.ok && NOTHING_HAPPENED.has(answer.failure.kind);
      return { answer: unknown ? fail(lost) : answer, tries };
    } catch (error) {
      logFailure("A call to a coordinator", error);
      if ((error as { overloaded?: boolean }).overloaded) return { answer: fail(tries === 1 ? "unavailable" : lost), tries };
      if (tries === TRIES) return { answer: fail(lost), tries };
    }
  }
}

/** Calls a coordinator as `tryCoordinator`. Out: its answer. */
export async function callCoordinator<C, T>(...call: Parameters<typeof tryCoordinator<C, T>>): Promise<Result<T>> {
  return (await tryCoordinator(...call)).answer;
}
