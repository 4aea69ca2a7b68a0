import { logFailure } from "../log.ts";
import { describe, type FailureKind } from "../model/failure.ts";
import { fail, type Result } from "../model/result.ts";

const TRIES = 3;

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
      // A Retry-After states that nothing happened (contract 10.14). That holds for this try, not for the try before it.
      const claimsNothing = !answer.ok && describe(answer.failure).retryAfterSeconds !== undefined;
      return attempt > 1 && claimsNothing ? fail(lost) : answer;
    } catch (error) {
      logFailure("A call to a coordinator", error);
      if ((error as { overloaded?: boolean }).overloaded) return fail(attempt === 1 ? "unavailable" : lost);
      if (attempt === TRIES) return fail(lost);
    }
  }
}
