import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idsOf, type Op, queueOf, submitInAnyOrder } from "../support/queue.ts";
import { runs } from "../support/runs.ts";

const op = (id: number, size = 1): Op => ({ id, size });

describe("the queue of a coordinator", () => {
  it("commits a single operation at once, and the operations that arrive during a commit as one group, in order of arrival", async () => {
    const { queue, groups } = queueOf({});
    const answers = await Promise.all([1, 2, 3, 4].map((id) => queue.submit(op(id))));
    expect(answers).toEqual(["done 1", "done 2", "done 3", "done 4"]);
    expect(idsOf(groups)).toEqual([[1], [2, 3, 4]]);
  });

  it("waits for further operations before the commit after a group, but not after a single operation", async () => {
    const { queue, groups } = queueOf({});
    await Promise.all([1, 2, 3].map((id) => queue.submit(op(id))));
    const afterGroup = queue.submit(op(4));
    await Promise.resolve();
    await Promise.all([afterGroup, queue.submit(op(5))]);
    expect(idsOf(groups)).toEqual([[1], [2, 3], [4, 5]]);
    await queue.submit(op(6));
    const single = queue.submit(op(7));
    expect(idsOf(groups).at(-1)).toEqual([7]);
    await single;
  });

  it("limits the number of operations in a group", async () => {
    const { queue, groups } = queueOf({ group: 2 });
    await Promise.all([1, 2, 3, 4, 5].map((id) => queue.submit(op(id))));
    expect(idsOf(groups)).toEqual([[1], [2, 3], [4, 5]]);
  });

  it("answers busy only to the operation that exceeds the number of waiting operations", async () => {
    const { queue } = queueOf({ waiting: 2 });
    const answers = await Promise.all([1, 2, 3, 4].map((id) => queue.submit(op(id))));
    expect(answers).toEqual(["done 1", "done 2", "done 3", "busy"]);
  });

  it("answers busy to the operation that exceeds the waiting bytes, and accepts a smaller operation after it", async () => {
    const { queue } = queueOf({ waitingBytes: 10 });
    const answers = await Promise.all([op(1, 10), op(2, 6), op(3, 5), op(4, 4)].map((one) => queue.submit(one)));
    expect(answers).toEqual(["done 1", "done 2", "busy", "done 4"]);
    expect(await queue.submit(op(5, 10))).toBe("done 5");
  });

  it("answers failed to the group of a commit that throws, and continues with the next group", async () => {
    let thrown = false;
    const { queue } = queueOf({
      commit: async (group) => {
        if (thrown) return group.map(({ id }) => `done ${id}`);
        thrown = true;
        throw new Error("a bug");
      },
    });
    expect(await Promise.all([1, 2].map((id) => queue.submit(op(id))))).toEqual(["failed", "done 2"]);
  });

  it("runs one commit at a time and each operation once, in order, with its own answer, in every order of arrivals and commits", async () => {
    const [counts, limits] = [fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 3 })];
    const property = fc.asyncProperty(fc.scheduler(), counts, limits, async (s, count, group) => {
      const groups = await submitInAnyOrder(
        s,
        Array.from({ length: count }, () => 1),
        { group },
      );
      expect(groups.every(({ length }) => length <= group)).toBe(true);
    });
    await fc.assert(property, { numRuns: runs(100, 5_000) });
  });
});
