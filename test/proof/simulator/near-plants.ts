import { type Beside, EVERYTHING, STALLS_ONLY } from "./near.ts";
import { NO_PLANT, type Plant } from "./plants.ts";
import type { Rule } from "./violations.ts";

/** Bugs that near.test.ts plants. */
interface NearPlant {
  readonly plant: Plant;
  readonly beside: Beside;
  /** The rule that has to find it, and those that may find it too. */
  readonly rule: Rule;
  readonly others: readonly Rule[];
}

/** The time that never goes back, which makes an isolate trust its states after its clock went back. */
function latestTime(): NonNullable<Plant["lookAt"]> {
  const latest = new WeakMap<D1Database, number>();
  return (db, now) => {
    const time = Math.max(now, latest.get(db) ?? 0);
    latest.set(db, time);
    return time;
  };
}

export const NEAR_PLANTS: Readonly<Record<string, NearPlant>> = {
  "bookmarks: a session claims one that it has not reached": {
    plant: { ...NO_PLANT, ignoresBookmarks: true },
    beside: STALLS_ONLY,
    rule: "read is older than `stale`",
    others: [
      "read is older than its age",
      "read goes back behind a bookmark",
      "accepted although the token was revoked",
      "calls of an answer are in no order of states",
      "unavailable although the primary has answered",
      "refused although the token was not revoked",
      "unexpected answer",
    ],
  },
  "revocation: replicas never learn of one": {
    plant: { ...NO_PLANT, isReplicated: (sql) => !/DELETE FROM tokens\b/.test(sql), seed: 8 },
    beside: STALLS_ONLY,
    rule: "accepted although the token was revoked",
    others: [],
  },
  "age: an answer is said to be as old as its call": {
    plant: { ...NO_PLANT, served: (served, { clock }) => ({ ...served, at: clock() }) },
    beside: STALLS_ONLY,
    rule: "read is older than its age",
    others: [],
  },
  "clock: one that went back is trusted": {
    plant: { ...NO_PLANT, lookAt: latestTime(), seed: 16 },
    beside: EVERYTHING,
    rule: "read is older than `stale`",
    others: ["read is older than its age", "accepted although the token was revoked", "answer lacks what it must have"],
  },
};
