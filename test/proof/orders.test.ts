import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../support/bindings.ts";
import { checkHistory } from "./history/check.ts";
import { play, type Scenario, WRITES, type Written } from "./exploration/writes.ts";
import { everyOrder, type Turns } from "./exploration/turns.ts";

/**
 * The coordinator's pure core (queue.ts, apply.ts) over a store in memory: concurrent writes to one Item, in every order
 * of their awaits. What the clients see must be one history.
 */

/** Out: how many orders there are, and in how many of them the history is wrong. */
async function explore(scenario: Scenario): Promise<{ orders: number; wrong: number }> {
  let wrong = 0;
  const orders = await everyOrder(async (turns) => {
    if (checkHistory(await play(turns, scenario)).length > 0) wrong++;
  });
  return { orders, wrong };
}

const SINGLE = WRITES.filter((written) => written !== "twice" && written !== "again");
const PAIRS = SINGLE.flatMap((one, at) => SINGLE.slice(at).map((other) => [one, other] as const));
/** Pairs and triples, the coordinators, and the awaits: as many as have thousands of orders, not millions. */
const SCENARIOS: readonly (readonly [string, Omit<Scenario, "writes">, readonly (readonly Written[])[]])[] = [
  ["two writes, one coordinator, one fault", { coordinators: 1, faults: 1 }, PAIRS],
  ["two writes, two coordinators, one fault", { coordinators: 2, faults: 1 }, PAIRS],
  ["one write sent again while the first is on its way, two faults", { coordinators: 2, faults: 2 }, [["again"]]],
  ["one write sent twice with its key, two faults", { coordinators: 2, faults: 2 }, [["twice"]]],
  [
    "one write sent twice and another, two coordinators, one fault",
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

describe("the walk through all orders", () => {
  it.each([
    [2, 3, 20],
    [3, 3, 1_680],
  ])("of %i chains of %i awaits takes each of the %i once", async (chains, awaits, count) => {
    const seen = new Set<string>();
    const runs = await everyOrder(async (turns) => {
      const order: number[] = [];
      const chain = async (name: number) => {
        for (let n = 0; n < awaits; n++) {
          await turns.wait("turn");
          order.push(name);
        }
      };
      await Promise.all(Array.from({ length: chains }, (_, name) => chain(name)));
      seen.add(order.join());
    });
    expect([runs, seen.size]).toEqual([count, count]);
  });
});

describe("every order of the awaits is one history", () => {
  it.each(SCENARIOS)("%s", async (_, scenario, all) => {
    for (const writes of all) {
      const { orders, wrong } = await explore({ ...scenario, writes });
      expect({ writes, wrong }).toEqual({ writes, wrong: 0 });
      expect(orders).toBeGreaterThan(30);
    }
  });

  it.each([
    ["the fence", { coordinators: 2, broken: { fence: true } }],
    ["the log of what took effect", { coordinators: 1, faults: 1, broken: { log: true, before: true } }],
  ])("but not without %s", async (_, scenario) => {
    expect((await explore({ ...scenario, writes: ["patch", "patch"] })).wrong).toBeGreaterThan(0);
  });

  it("but not when a coordinator that remembers does not look at what took effect before", async () => {
    const scenario = { coordinators: 2, faults: 1, awaits: ["arrival", "read", "write"], broken: { before: true } } as const;
    expect((await explore({ ...scenario, writes: ["twice", "put"] })).wrong).toBeGreaterThan(0);
  });
});

const upTo = (max: number, min = 0) => fc.integer({ min, max });

describe("any order that fast-check's scheduler takes", () => {
  it("of two to four writes through one to three coordinators with up to three faults is one history", async () => {
    const writes = fc.array(fc.constantFrom(...WRITES), { minLength: 2, maxLength: 4 });
    const property = fc.asyncProperty(fc.scheduler(), writes, upTo(3, 1), upTo(3), fc.integer(), async (s, ...given) => {
      const [some, coordinators, faults, seed] = given;
      const random = seeded(seed);
      const turns: Turns = {
        wait: (what) => s.schedule(Promise.resolve(), what),
        choose: (count) => Math.floor(random() * count),
      };
      expect(checkHistory(await s.waitFor(play(turns, { writes: some, coordinators, faults })))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 1_000 });
  });
});
