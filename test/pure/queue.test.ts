import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createQueue, type QueueOptions } from "../../src/vault/queue.ts";
import { runs } from "../support/runs.ts";

/** The queue of a coordinator: which operations form a group, and what each is answered. */

interface Op {
  readonly id: number;
  readonly size: number;
}

type Options = Partial<QueueOptions<Op, string>>;

/** A queue, and the groups that it has committed. */
function queueOf(options: Options) {
  const groups: (readonly Op[])[] = [];
  const queue = createQueue<Op, string>({
    busy: "busy",
    failed: () => "failed",
    waiting: 256,
    waitingBytes: 1_000_000,
    group: 32,
    ...options,
    commit: async (group) => {
      groups.push(group);
      return options.commit ? options.commit(group) : done(group);
    },
  });
  /** Submits operations of these sizes at once. Their ids count from 0. */
  const submitAll = (sizes: readonly number[]) => Promise.all(sizes.map((size, id) => queue.submit({ id, size })));
  return { groups, queue, submitAll };
}

const done = (group: readonly Op[]) => group.map(({ id }) => `done ${id}`);
const idsOf = (groups: readonly (readonly Op[])[]): number[][] => groups.map((group) => group.map(({ id }) => id));
const sum = (group: readonly Op[]) => group.reduce((bytes, { size }) => bytes + size, 0);

function failFirst() {
  let failed = false;
  return async (group: readonly Op[]) => {
    if (failed) return done(group);
    failed = true;
    throw new Error("a bug");
  };
}

it.each<[string, Options, number[], number[][], Record<number, string>]>([
  ["a single operation commits at once, and those that arrive meanwhile form a group", {}, [1, 1, 1, 1], [[0], [1, 2, 3]], {}],
  ["a group has a limited number of operations", { group: 2 }, [1, 1, 1, 1, 1], [[0], [1, 2], [3, 4]], {}],
  ["the operation beyond the number that may wait is busy", { waiting: 2 }, [1, 1, 1, 1], [[0], [1, 2]], { 3: "busy" }],
  ["an operation beyond the bytes that may wait is busy", { waitingBytes: 10 }, [10, 6, 5, 4], [[0], [1, 3]], { 2: "busy" }],
  [
    "a group of a commit that throws has failed, and the next one commits",
    { commit: failFirst() },
    [1, 1],
    [[0], [1]],
    { 0: "failed" },
  ],
  ["a group closes before it would have too many bytes", { groupBytes: 10 }, [1, 4, 6, 1, 9, 1], [[0], [1, 2], [3, 4], [5]], {}],
  ["an operation larger than a group is one alone", { groupBytes: 10 }, [1, 2, 50, 50, 3], [[0], [1], [2], [3], [4]], {}],
  ["an operation without a body takes no bytes", { groupBytes: 10, group: 3 }, [0, 0, 10, 0, 0, 0], [[0], [1, 2, 3], [4, 5]], {}],
])("%s", async (_, options, sizes, groups, others) => {
  const made = queueOf(options);
  expect(await made.submitAll(sizes)).toEqual(sizes.map((__, id) => others[id] ?? `done ${id}`));
  expect(idsOf(made.groups)).toEqual(groups);
});

it("the queue waits for further operations before the commit after a group, but not after a single operation", async () => {
  const { queue, groups, submitAll } = queueOf({});
  const submit = (id: number) => queue.submit({ id, size: 1 });
  await submitAll([1, 1, 1]);
  const afterGroup = submit(4);
  await Promise.resolve();
  await Promise.all([afterGroup, submit(5)]);
  expect(idsOf(groups)).toEqual([[0], [1, 2], [4, 5]]);
  await submit(6);
  const single = submit(7);
  expect(idsOf(groups).at(-1)).toEqual([7]);
  await single;
});

it("a group that closed at its bytes lets the next one begin at once, without the wait for further writers", async () => {
  const { groups, submitAll } = queueOf({ groupBytes: 10 });
  const answers = submitAll([1, 10, 10, 10]);
  for (let turn = 0; turn < 100; turn++) await Promise.resolve(); // no timer runs meanwhile
  expect(idsOf(groups)).toEqual([[0], [1], [2], [3]]);
  await answers;
});

it("the bytes of the waiting operations are given back: the queue takes as many afterwards", async () => {
  const { queue, submitAll } = queueOf({ groupBytes: 10, waitingBytes: 40 });
  for (let round = 0; round < 3; round++)
    expect(await submitAll([1, 10, 10, 10, 10, 1])).toEqual(["done 0", "done 1", "done 2", "done 3", "done 4", "busy"]);
  expect(await queue.submit({ id: 9, size: 40 })).toBe("done 9");
});

describe("in every order of arrivals and commits", () => {
  it("one commit runs at a time, each operation is answered once, in order, and no group is beyond both bounds", async () => {
    const sizes = fc.array(fc.oneof(fc.nat(4), fc.nat(30)), { minLength: 1, maxLength: 12 });
    const [bound, count] = [fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 4 })];
    const property = fc.asyncProperty(fc.scheduler(), sizes, bound, count, async (s, given, groupBytes, group) => {
      let running = 0;
      const { queue, groups } = queueOf({
        group,
        groupBytes,
        commit: async (ops) => {
          expect(++running).toBe(1);
          await s.schedule(Promise.resolve(), "commit");
          running--;
          return done(ops);
        },
      });
      const order: number[] = [];
      const submissions = given.map(async (size, id) => {
        await s.schedule(Promise.resolve(), `arrival ${id}`);
        order.push(id);
        expect(await queue.submit({ id, size })).toBe(`done ${id}`);
      });
      await s.waitFor(Promise.all(submissions));
      expect(idsOf(groups).flat()).toEqual(order);
      for (const one of groups) {
        expect(one.length).toBeLessThanOrEqual(group);
        expect(one.length === 1 || sum(one) <= groupBytes).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: runs(200, 10_000) });
  });

  it("a group is as large as the bounds allow, when all operations wait", async () => {
    const sizes = fc.array(fc.nat(30), { minLength: 2, maxLength: 40 });
    const property = fc.asyncProperty(sizes, fc.integer({ min: 1, max: 40 }), async (given, groupBytes) => {
      const { groups, submitAll } = queueOf({ group: 8, groupBytes });
      expect(await submitAll(given)).toEqual(given.map((_, id) => `done ${id}`));
      // The first operation arrived alone. Every later group is full, except the last.
      for (const [index, one] of groups.entries()) {
        const next = groups[index + 1]?.[0];
        if (index === 0 || next === undefined) continue;
        expect(one.length === 8 || sum(one) + next.size > groupBytes).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: runs(100, 2_000) });
  });
});
