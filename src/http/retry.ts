import { logFailure } from "../log.ts";
import type { FailureKind } from "../model/failure.ts";
import { fail, type Result } from "../model/result.ts";

const TRIES = 3;

/** The failures of which the coordinator knows that nothing happened. */
const NOTHING_HAPPENED: ReadonlySet<FailureKind> = new Set(["busy", "unavailable", "version_skew"]);

/**
 * Calls a coordinator, and again with a new stub when the object was reset: the call has to be idempotent. An overloaded
 * object gets no retry (developers.cloudflare.com/durable-objects/best-practices/error-handling).
 * In: `connect` gives a new stub; `lost` is the failure after a try whose outcome is unknown.
 */
export async function callCoordinator<C, T>(
  connect: () => C,
  lost: FailureKind,
  method: (coordinator: C) => Promise<Result<T>>,
): Promise<Result<T>> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await method(connect());
      // That nothing happened in this try says nothing about the try before.
      return attempt > 1 && !answer.ok && NOTHING_HAPPENED.has(answer.failure.kind) ? fail(lost) : answer;
    } catch (error) {
      logFailure("A call to a coordinator", error);
      if ((error as { overloaded?: boolean }).overloaded) return fail(attempt === 1 ? "unavailable" : lost);
      if (attempt === TRIES) return fail(lost);
    }
  }
}
