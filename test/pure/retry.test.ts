import { describe, expect, it } from "vitest";
import { callObject } from "../../src/durable-object-calls.ts";
import { describe as describeFailure, FAILURE_KINDS, type FailureKind } from "../../src/model/failure.ts";
import { fail, ok } from "../../src/model/result.ts";

/** The retries of calls to a coordinator (contract 10.14 and 10.15). */

/** Calls a coordinator whose first stubs throw. Out: the answer, and the number of calls. */
async function callAfter(resets: number, answer: ReturnType<typeof ok> | ReturnType<typeof fail>) {
  let calls = 0;
  const result = await callObject(
    () => ++calls,
    "uncertain",
    async (stub) => {
      if (stub <= resets) throw new Error("reset after the commit");
      return answer;
    },
  );
  return { result, calls };
}

/** What a retried write is answered with as it is. */
const FINAL: readonly FailureKind[] = ["overtaken", "idempotency"];

const RETRYABLE = FAILURE_KINDS.filter((kind) => describeFailure({ kind }).retryAfterSeconds !== undefined);

describe("a call to a coordinator that was reset", () => {
  it.each(FAILURE_KINDS.filter((kind) => !FINAL.includes(kind)))(
    "is uncertain when the next try fails with %s: the first may have taken effect, or still take it",
    async (kind) => {
      expect((await callAfter(1, fail(kind))).result).toEqual(fail("uncertain"));
    },
  );

  it.each(FINAL)("gets the refusal %s of the next try, which holds for the first one too", async (kind) => {
    expect((await callAfter(1, fail(kind))).result).toEqual(fail(kind));
  });

  it("is tried three times, and is uncertain then", async () => {
    expect(await callAfter(2, ok("answer"))).toMatchObject({ result: ok("answer"), calls: 3 });
    expect(await callAfter(3, ok("answer"))).toMatchObject({ result: fail("uncertain"), calls: 3 });
  });

  it.each(RETRYABLE)("gets the failure %s of its first try as it is", async (kind) => {
    expect(await callAfter(0, fail(kind))).toMatchObject({ result: fail(kind), calls: 1 });
  });
});
