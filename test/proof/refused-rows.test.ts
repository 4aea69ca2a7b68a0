import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { DatabaseLevel } from "../../src/store/d1/size.ts";
import { runs } from "../support/runs.ts";
import { createPorts, kindsOf, writesTag } from "./exploration/group.ts";

/** A commit that D1 refuses, because of its rows or because it is full (the commit loop that ships, over a model of D1). */

it("an operation whose rows D1 refuses fails alone, wherever it is in its group", async () => {
  const group = fc.array(fc.boolean(), { minLength: 1, maxLength: 32 });
  const property = fc.asyncProperty(group, async (refused) => {
    const { store, ports, attempts } = createPorts((commit) => (writesTag(commit, "refused") ? "refused" : undefined));
    const values = refused.map((one, index) => (one ? `refused ${index}` : `write ${index}`));
    expect(await kindsOf(ports, ...values)).toEqual(refused.map((one) => (one ? "internal" : "ok")));
    const item = store.read().items.values().next().value;
    const stored = item?.ok ? item.value.tags : [];
    expect(stored).toEqual(["first", ...values.filter((_, index) => !refused[index])]);
    expect(attempts()).toBeLessThanOrEqual(2 * values.length);
  });
  await fc.assert(property, { numRuns: runs(60, 2_000) });
});

const OK: readonly DatabaseLevel[] = Array(20).fill("ok");

/** What D1 answers to an attempt, and the level before each attempt, the last of which refuses growth. */
it.each<[string, Parameters<typeof createPorts>[0], readonly DatabaseLevel[], readonly string[], readonly string[]]>([
  ["an operation is refused when the level refuses growth", () => undefined, [], ["a"], ["database_full"]],
  [
    "an operation that an attempt of unknown outcome admitted is not refused later, because that attempt may take effect",
    (_, attempt) => (attempt === 1 ? "unknown" : undefined),
    ["ok"],
    ["a"],
    ["ok"],
  ],
  [
    "of a group for which D1 has no room, only the operations that do not fit are refused",
    (commit) => (writesTag(commit, "large") ? "full" : undefined),
    OK,
    ["large 1", "a", "large 2", "b"],
    ["database_full", "ok", "database_full", "ok"],
  ],
  [
    "a D1 without room after an attempt of unknown outcome leaves the outcome unknown",
    (_, attempt) => (attempt === 1 ? "unknown" : "full"),
    ["ok", "ok"],
    ["a"],
    ["uncertain"],
  ],
])("%s", async (_, fault, levels, writes, expected) => {
  let time = 0;
  const left = [...levels];
  const { ports } = createPorts(fault, {
    backOff: async () => void (time += 1_000),
    clock: () => time,
    databaseLevel: () => left.shift() ?? "refuse",
  });
  expect(await kindsOf(ports, ...writes)).toEqual(expected);
});
