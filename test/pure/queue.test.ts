import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createQueue, type QueueOptions } from "../../src/vault/queue.ts";

interface Op {
  readonly id: number;
  readonly size: number;
}

const op = (id: number, size = 1): Op => ({ id, size });

function queueOf(options: Partial<QueueOptions<Op, string>>) {
  const groups: number[][] = [];
  const commit = async (group: readonly Op[]) => {
    groups.push(group.map(({ id }) => id));
    return options.commit ? options.commit(group) : group.map(({ id }) => `done ${id}`);
  };
  const limits = { waiting: 256, waitingBytes: 1_000_000, group: 64 };
  return { groups, queue: createQueue<Op, string>({ busy: "busy", failed: () => "failed", ...limits, ...options, commit }) };
}

describe("the queue of a coordinator", () => {
  it("commits a single operation at once, and the operations that arrive during a commit as one group, in order of arrival", async () => {
    const { queue, groups } = queueOf({});
    const answers = await Promise.all([1, 2, 3, 4].map((id) => queue.submit(op(id))));
    expect(answers).toEqual(["done 1", "done 2", "done 3", "done 4"]);
    expect(groups).toEqual([[1], [2, 3, 4]]);
  });

  it("waits for further operations before the commit after a group, but not after a single operation", async () => {
    const { queue, groups } = queueOf({});
    await Promise.all([1, 2, 3].map((id) => queue.submit(op(id))));
    const afterGroup = queue.submit(op(4));
    await Promise.resolve();
    await Promise.all([afterGroup, queue.submit(op(5))]);
    expect(groups).toEqual([[1], [2, 3], [4, 5]]);
    await queue.submit(op(6));
    const single = queue.submit(op(7));
    expect(groups.at(-1)).toEqual([7]);
    await single;
  });

  it("limits the number of operations in a group", async () => {
    const { queue, groups } = queueOf({ group: 2 });
    await Promise.all([1, 2, 3, 4, 5].map((id) => queue.submit(op(id))));
    expect(groups).toEqual([[1], [2, 3], [4, 5]]);
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
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 3 }),
      async (s, count, group) => {
        let running = 0;
        const { queue, groups } = queueOf({
          group,
          commit: async (ops) => {
            expect(++running).toBe(1);
            await s.schedule(Promise.resolve(), "commit");
            running--;
            return ops.map(({ id }) => `done ${id}`);
          },
        });
        const order: number[] = [];
        const submissions = Array.from({ length: count }, async (_, id) => {
          await s.schedule(Promise.resolve(), `arrival ${id}`);
          order.push(id);
          expect(await queue.submit(op(id))).toBe(`done ${id}`);
        });
        await s.waitFor(Promise.all(submissions));
        expect(groups.flat()).toEqual(order);
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});
