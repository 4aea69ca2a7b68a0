import { describe, expect, it } from "vitest";
import { classify } from "../../src/store/d1/errors.ts";

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
