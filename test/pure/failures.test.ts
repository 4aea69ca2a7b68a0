import { afterEach, describe, expect, it } from "vitest";
import { callObject } from "../../src/durable-object-calls.ts";
import { presentItem } from "../../src/http/present/items.ts";
import { describe as describeFailure, FAILURE_KINDS, type FailureKind } from "../../src/model/failure.ts";
import type { FieldType } from "../../src/model/field-types.ts";
import { covers } from "../../src/model/permission.ts";
import { fail, ok } from "../../src/model/result.ts";
import { classify } from "../../src/store/d1/errors.ts";
import { databaseLevel, recordDatabaseSize } from "../../src/store/d1/size.ts";

/** What D1's errors say (developers.cloudflare.com/d1/observability/debug-d1). */

describe("an error of D1", () => {
  it.each([
    ["D1_ERROR: NOT NULL constraint failed: activity.vault_id: SQLITE_CONSTRAINT", "stale"],
    ["D1_ERROR: UNIQUE constraint failed: activity.vault_id, activity.id: SQLITE_CONSTRAINT", "stale"],
    ["D1_ERROR: CHECK constraint failed: items >= 0: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)", "refused"],
    ["D1_ERROR: D1 DB is overloaded. Too many requests queued.", "unavailable"],
    ["D1_ERROR: D1 DB is overloaded. Requests queued for too long.", "unavailable"],
    [
      "D1_ERROR: Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid plan or wait until tomorrow",
      "unavailable",
    ],
    ["D1_ERROR: Exceeded maximum DB size", "full"],
    ["D1_ERROR: Exceeded maximum account storage limit", "full"],
    ["D1_ERROR: database or disk is full: SQLITE_FULL", "full"],
    ["D1_ERROR: string or blob too big: SQLITE_TOOBIG", "refused"],
    ["D1_ERROR: No SQL statements detected.", "refused"],
    ["D1_ERROR: too many SQL variables at offset 12: SQLITE_ERROR", "unavailable"],
    ["D1_ERROR: no such table: vaults: SQLITE_ERROR", "unavailable"],
    ["D1_ERROR: table vaults has no column named quota: SQLITE_ERROR", "unavailable"],
    ["D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'", "refused"],
    ["D1_ERROR: Network connection lost.", "unknown"],
    ["D1_ERROR: D1 DB reset because its code was updated.", "unknown"],
    ["D1_ERROR: Internal error in D1 DB storage caused object to be reset.", "unknown"],
    ["D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.", "unknown"],
    ["D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.", "unknown"],
    ["D1_ERROR: Can't read from request stream because client disconnected.", "unknown"],
    ["D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.", "unknown"],
    ["D1_ERROR: D1 DB exceeded its CPU time limit and was reset.", "unknown"],
    ["D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.", "unknown"],
    ["D1_ERROR: no answer in time", "unknown"],
    ["an error of no known words", "unknown"],
  ])("%s is %s", (message, failure) => {
    expect(classify(new Error(message))).toBe(failure);
  });
});

/** The retries of calls to a coordinator (contract 10.14 and 10.15). */

/** Calls a coordinator whose first stubs throw. Returns the answer, and the number of calls. */
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

afterEach(() => recordDatabaseSize(0));

it.each([
  [0, "ok"],
  [799, "ok"],
  [800, "warning"],
  [899, "warning"],
  [900, "archive"],
  [949, "archive"],
  [950, "refuse"],
  [979, "refuse"],
  [980, "shrink"],
  [2000, "shrink"],
] as const)("a database of %d bytes with a limit of 1,000 has the level %s", (size, level) => {
  recordDatabaseSize(size);
  expect(databaseLevel({ databaseLimit: 1000 })).toBe(level);
});

/** What a newer release stores or sends, and this release meets after a rollback or during a deployment. */
describe("a value of a newer release", () => {
  it.each(["uuid", "connect"] as const)("is presented as it is stored when it is the type of a field: %s", (dialect) => {
    const field = { id: "f", type: "PASSKEY" as FieldType, purpose: "", label: "", value: "v" } as const;
    const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
    const item = { id: UUID, vault: UUID, lastEditedBy: UUID, category: "LOGIN", tags: [], urls: [], sections: [], files: [] };
    const shown = presentItem(
      { ...item, fields: [field], vaultName: "Test" } as unknown as Parameters<typeof presentItem>[0],
      dialect,
      0,
    );
    expect(shown).toMatchObject({ fields: [{ type: "PASSKEY", value: "v" }] });
  });

  it("grants nothing when it is a permission", () => {
    expect([covers("rwx", "r"), covers("x", "w"), covers("toString", "r")]).toEqual([false, false, false]);
  });

  it("is described as internal when it is the kind of a failure", () => {
    expect(describeFailure({ kind: "tomorrow" as FailureKind })).toMatchObject({ kind: "internal", status: 500 });
  });
});
