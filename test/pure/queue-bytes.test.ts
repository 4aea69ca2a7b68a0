import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idsOf, type Op, queueOf, submitInAnyOrder } from "../support/queue.ts";
import { runs } from "../support/runs.ts";

/** A group of the queue closes at a number of bytes, beside the number of its operations. */

const sum = (group: readonly Op[]) => group.reduce((bytes, { size }) => bytes + size, 0);

describe("a group", () => {
  it("closes before the operation with which it would have too many bytes", async () => {
    const { groups, submitAll } = queueOf({ groupBytes: 10 });
    await submitAll([1, 4, 6, 1, 9, 1]);
    expect(idsOf(groups)).toEqual([[0], [1, 2], [3, 4], [5]]);
  });

  it("is one operation alone when that is larger than a group", async () => {
    const { groups, submitAll } = queueOf({ groupBytes: 10 });
    const answers = await submitAll([1, 2, 50, 50, 3]);
    expect(answers).toEqual([0, 1, 2, 3, 4].map((id) => `done ${id}`));
    expect(idsOf(groups)).toEqual([[0], [1], [2], [3], [4]]);
  });

  it("closes at the number of operations too, of which those without a body take no bytes", async () => {
    const { groups, submitAll } = queueOf({ groupBytes: 10, group: 3 });
    await submitAll([0, 0, 10, 0, 0, 0]);
    expect(idsOf(groups)).toEqual([[0], [1, 2, 3], [4, 5]]);
  });

  it("that closed at its bytes lets the next one begin at once, without the wait for further writers", async () => {
    const { groups, submitAll } = queueOf({ groupBytes: 10 });
    const answers = submitAll([1, 10, 10, 10]);
    for (let turn = 0; turn < 100; turn++) await Promise.resolve(); // no timer runs meanwhile
    expect(idsOf(groups)).toEqual([[0], [1], [2], [3]]);
    await answers;
  });
});

describe("in every order of arrivals and commits", () => {
  it("each operation is answered once, in order, and no group is beyond both bounds", async () => {
    const sizes = fc.array(fc.oneof(fc.nat(4), fc.nat(30)), { minLength: 1, maxLength: 12 });
    const bound = fc.integer({ min: 1, max: 20 });
    const count = fc.integer({ min: 1, max: 4 });
    const property = fc.asyncProperty(fc.scheduler(), sizes, bound, count, async (s, given, groupBytes, group) => {
      const groups = await submitInAnyOrder(s, given, { group, groupBytes });
      for (const one of groups) {
        expect(one.length).toBeLessThanOrEqual(group);
        expect(one.length === 1 || sum(one) <= groupBytes).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: runs(150, 5_000) });
  });

  it("a group is as large as the bounds allow, when all operations wait", async () => {
    const sizes = fc.array(fc.nat(30), { minLength: 2, maxLength: 40 });
    const property = fc.asyncProperty(sizes, fc.integer({ min: 1, max: 40 }), async (given, groupBytes) => {
      const { groups, submitAll } = queueOf({ group: 8, groupBytes });
      const answers = await submitAll(given);
      expect(answers).toEqual(given.map((_, id) => `done ${id}`));
      // The first operation arrived alone. Every later group is full, except the last.
      for (const [index, one] of groups.entries()) {
        const next = groups[index + 1]?.[0];
        if (index === 0 || next === undefined) continue;
        expect(one.length === 8 || sum(one) + next.size > groupBytes).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: runs(100, 2_000) });
  });

  it("the bytes of the waiting operations are given back: the queue takes as many afterwards", async () => {
    const { queue, submitAll } = queueOf({ groupBytes: 10, waitingBytes: 40 });
    for (let round = 0; round < 3; round++) {
      const answers = await submitAll([1, 10, 10, 10, 10, 1]);
      expect(answers).toEqual(["done 0", "done 1", "done 2", "done 3", "done 4", "busy"]);
    }
    expect(await queue.submit({ id: 9, size: 40 })).toBe("done 9");
  });
});
