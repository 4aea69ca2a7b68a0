import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../support/bindings.ts";
import { isLong, runs, sample } from "../support/runs.ts";
import { awaitsOf, everyOrder, type Turns } from "./exploration/turns.ts";
import { play, type Scenario, WRITES, type Written } from "./exploration/writes.ts";
import { checkHistory } from "./history/check.ts";

/**
 * Runs the queue and the commit loop of the coordinator over a store in memory: concurrent writes to one Item, in every
 * order of their awaits. The history of each order must be linearizable (contract 10.5).
 */

/** Out: the number of orders, and the number of those whose history has violations. */
async function explore(scenario: Scenario): Promise<{ orders: number; violating: number }> {
  let violating = 0;
  const orders = await everyOrder(async (turns) => {
    if (checkHistory(await play(turns, scenario)).length > 0) violating++;
  });
  return { orders, violating };
}

/** Whether an order has violations. The search ends at the first of them. */
async function isViolated(scenario: Scenario): Promise<boolean> {
  let violated = false;
  const check = async (turns: Turns) => void (violated = checkHistory(await play(turns, scenario)).length > 0);
  await everyOrder(check, () => violated);
  return violated;
}

const SINGLE = WRITES.filter((written) => written !== "twice" && written !== "again");
const PAIRS = SINGLE.flatMap((one, at) => SINGLE.slice(at).map((other) => [one, other] as const));
/** The pairs of the scenario with the most orders: all of them in the long run, those with a PATCH in `npm test`. */
const CONCURRENT_PAIRS = PAIRS.filter((pair) => isLong || pair.includes("patch"));
/** The awaits of the scenarios with the most orders. */
const AWAITS = awaitsOf(["read", "write", "answer"], ["arrival", "late"]);
/**
 * Scenarios with writes, coordinators, faults and awaits, chosen so that each has thousands of orders and not millions. The short run plays
 * half of the scenarios, each with a third of its writes, at least one.
 */
const SCENARIOS: readonly (readonly [string, Omit<Scenario, "writes">, readonly (readonly Written[])[]])[] = [
  ["two writes, one coordinator, one fault", { coordinators: 1, faults: 1 }, PAIRS],
  ["two writes, two coordinators, one fault", { coordinators: 2, faults: 1, awaits: AWAITS }, CONCURRENT_PAIRS],
  ["one operation that two coordinators get, two faults", { coordinators: 2, faults: 2, awaits: AWAITS }, [["again"]]],
  ["one write sent twice with one Idempotency-Key, two faults", { coordinators: 2, faults: 2, awaits: AWAITS }, [["twice"]]],
  [
    "one write sent twice and another write, two coordinators, one fault",
    { coordinators: 2, faults: 1, awaits: ["read", "write", "answer"] },
    [
      ["twice", "put"],
      ["delete", "twice"],
    ],
  ],
  [
    "three writes, one coordinator",
    { coordinators: 1 },
    [
      ["put", "patch", "once"],
      ["patch", "delete", "patch"],
    ],
  ],
  [
    "three writes, two coordinators",
    { coordinators: 2, awaits: ["arrival", "read", "write"] },
    [
      ["put", "patch", "once"],
      ["patch", "delete", "patch"],
    ],
  ],
  [
    "three writes, three coordinators",
    { coordinators: 3, awaits: ["read", "write"] },
    [
      ["put", "patch", "once"],
      ["patch", "delete", "patch"],
      ["patch", "patch", "patch"],
    ],
  ],
];

const RETENTION = { versionsKept: 2, deletedRetention: 1_000_000 };
const SAVED = { retention: RETENTION, awaits: ["arrival", "read", "write", "answer"] } as const;
const LONG_TRIPLES: readonly (readonly Written[])[] = [
  ["delete", "undelete", "delete"],
  ["restore", "destroy", "delete"],
  ["put", "restore", "undelete"],
];
/** Writes to versions and deleted Items, beside others. */
const VERSION_SCENARIOS: readonly (readonly [string, Omit<Scenario, "writes">, readonly (readonly Written[])[]])[] = [
  [
    "two coordinators, one fault",
    { ...SAVED, coordinators: 2, faults: 1 },
    [
      ["restore", "patch"],
      ["delete", "undelete"],
      ["restore", "destroy"],
    ],
  ],
  [
    "three writes, two coordinators",
    { ...SAVED, coordinators: 2, awaits: ["arrival", "read", "write"] },
    [["delete", "undelete", "patch"], ["delete", "purge", "undelete"], ...(isLong ? LONG_TRIPLES : [])],
  ],
];

describe("everyOrder", () => {
  it.each([
    [2, 3, 20],
    [3, 3, 1_680],
  ])("runs %i chains of %i awaits in each of the %i orders once", async (chains, awaits, count) => {
    const orders = new Set<string>();
    const played = await everyOrder(async (turns) => {
      const order: number[] = [];
      const chain = async (name: number) => {
        for (let n = 0; n < awaits; n++) {
          await turns.wait("turn");
          order.push(name);
        }
      };
      await Promise.all(Array.from({ length: chains }, (_, name) => chain(name)));
      orders.add(order.join());
    });
    expect([played, orders.size]).toEqual([count, count]);
  });
});

describe("every order of the awaits", () => {
  it.each(sample(SCENARIOS, 2))("gives a linearizable history: %s", async (_, scenario, all) => {
    for (const writes of sample(all, 3)) {
      const { orders, violating } = await explore({ ...scenario, writes });
      expect({ writes, violating }).toEqual({ writes, violating: 0 });
      expect(orders).toBeGreaterThan(30);
    }
  });

  it.each(sample(VERSION_SCENARIOS, 2))(
    "gives a linearizable history of versions and deleted Items: %s",
    async (_, scenario, all) => {
      for (const writes of sample(all, 3)) {
        const { orders, violating } = await explore({ ...scenario, writes });
        expect({ writes, violating }).toEqual({ writes, violating: 0 });
        expect(orders).toBeGreaterThan(30);
      }
    },
  );

  it("does not always give one of versions and deleted Items without the fence", async () => {
    const scenario = { retention: RETENTION, coordinators: 2, broken: { fence: true } };
    expect((await explore({ ...scenario, writes: ["restore", "patch"] })).violating).toBeGreaterThan(0);
  });

  it.each([
    ["the fence", { coordinators: 2, broken: { fence: true } }],
    ["the log of the operations that took effect", { coordinators: 1, faults: 1, broken: { log: true, before: true } }],
  ])("does not always give a linearizable history without %s", async (_, scenario) => {
    expect(await isViolated({ ...scenario, writes: ["patch", "patch"] })).toBe(true);
  });

  it("does not always give a linearizable history when the fence does not check which operations took effect before", async () => {
    const scenario = { coordinators: 2, faults: 1, awaits: ["arrival", "read", "write"], broken: { before: true } } as const;
    expect(await isViolated({ ...scenario, writes: ["twice", "put"] })).toBe(true);
  });
});

const upTo = (max: number, min = 0) => fc.integer({ min, max });

describe("a random order of the awaits", () => {
  it("of two to four writes, one to three coordinators and up to three faults gives a linearizable history", async () => {
    const writes = fc.array(fc.constantFrom(...WRITES), { minLength: 2, maxLength: 4 });
    const property = fc.asyncProperty(fc.scheduler(), writes, upTo(3, 1), upTo(3), fc.integer(), async (s, ...drawn) => {
      const [operations, coordinators, faults, seed] = drawn;
      const random = seeded(seed);
      const turns: Turns = {
        wait: (what) => s.schedule(Promise.resolve(), what),
        choose: (count) => Math.floor(random() * count),
      };
      expect(checkHistory(await s.waitFor(play(turns, { writes: operations, coordinators, faults })))).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs(25, 1_000) });
  });
});
