import { describe, expect, it } from "vitest";
import { type Hooks, withoutFence } from "../support/bindings.ts";
import { hammer, type Outcome } from "../support/hammer.ts";
import { runs } from "../support/runs.ts";

/** 500 in the long run. What they cost grows with their square: each reads and writes the fields of all before it. */
const MANY = { clients: 50, each: runs(4, 10) };
const ALL = MANY.clients * MANY.each;
const versions = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Nothing lost, nothing twice: each acknowledged write has a version of its own, and its field is there once. */
function expectExact({ acknowledged, refused, promised, item, logged }: Outcome): void {
  expect(refused.map((reply) => reply.text)).toEqual([]);
  expect(acknowledged.map((reply) => reply.body.version).toSorted((a, b) => a - b)).toEqual(versions(2, ALL + 1));
  expect(item.version).toBe(ALL + 1);
  expect(item.fields.map((field) => field.id).toSorted()).toEqual(promised.toSorted());
  expect(logged).toBe(ALL + 1);
}

/** One D1 call in ten throws: half of them before anything happened, half when all of it has. */
function failing(random: () => number): Hooks {
  const fail = () => {
    if (random() < 0.05) throw new Error("D1_ERROR: Network connection lost.");
  };
  return { before: fail, after: fail };
}

describe(`${ALL} PATCHes of one Item by 50 clients`, () => {
  it("all take effect, once each, in one order", async () => {
    expectExact(await hammer(MANY));
  });

  it("all take effect, once each, with two coordinators over the vault", async () => {
    expectExact(await hammer({ ...MANY, coordinators: 2 }));
  });

  it("all take effect, once each, when one D1 call in ten fails before or after its commit", async () => {
    expectExact(await hammer({ ...MANY, hooks: failing }));
  });

  it("all take effect, once each, with two coordinators and failing D1 calls", async () => {
    expectExact(await hammer({ ...MANY, coordinators: 2, hooks: failing, seed: 2 }));
  });

  it("need no Idempotency-Key for that: the coordinator finds out what became of an attempt", async () => {
    expectExact(await hammer({ ...MANY, hooks: failing, keyed: false, seed: 5 }));
  });

  it("are lost without the fence: this test can fail", async () => {
    const { promised, item } = await hammer({ ...MANY, coordinators: 2, hooks: () => ({ rewrite: withoutFence }) });
    expect(item.fields.length).toBeLessThan(promised.length);
  });
});
