import type * as fc from "fast-check";
import { expect } from "vitest";
import { createQueue, type QueueOptions } from "../../src/vault/queue.ts";

/** A queue of the coordinator whose commits are recorded. */

export interface Op {
  readonly id: number;
  readonly size: number;
}

type Options = Partial<QueueOptions<Op, string>>;

/** Out: the queue, and the groups that it committed. */
export function queueOf(options: Options) {
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
      return options.commit ? options.commit(group) : group.map(({ id }) => `done ${id}`);
    },
  });
  /** Submits operations of these sizes at once. Their ids count from 0. */
  const submitAll = (sizes: readonly number[]) => Promise.all(sizes.map((size, id) => queue.submit({ id, size })));
  return { groups, queue, submitAll };
}

export const idsOf = (groups: readonly (readonly Op[])[]): number[][] => groups.map((group) => group.map(({ id }) => id));

/**
 * Submits operations of these sizes in the order of a scheduler. Expects one commit at a time, each operation once and in
 * order, and its own answer for each. Out: the groups.
 */
export async function submitInAnyOrder(s: fc.Scheduler, sizes: readonly number[], options: Options) {
  let running = 0;
  const { queue, groups } = queueOf({
    ...options,
    commit: async (ops) => {
      expect(++running).toBe(1);
      await s.schedule(Promise.resolve(), "commit");
      running--;
      return ops.map(({ id }) => `done ${id}`);
    },
  });
  const order: number[] = [];
  const submissions = sizes.map(async (size, id) => {
    await s.schedule(Promise.resolve(), `arrival ${id}`);
    order.push(id);
    expect(await queue.submit({ id, size })).toBe(`done ${id}`);
  });
  await s.waitFor(Promise.all(submissions));
  expect(idsOf(groups).flat()).toEqual(order);
  return groups;
}
