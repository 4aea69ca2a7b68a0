import { expect, it } from "vitest";
import type { DatabaseLevel } from "../../src/store/d1/size.ts";
import { createPorts, kindsOf, writesTag } from "./exploration/group.ts";

/** A database that becomes full while a group is written (the commit loop that ships, over a model of D1). */

/** In: the outcome of each attempt that does not reach D1, and the level before each attempt. */
function portsOf(fault: Parameters<typeof createPorts>[0], levels: DatabaseLevel[]) {
  let time = 0;
  return createPorts(fault, {
    backOff: async () => void (time += 1_000),
    clock: () => time,
    databaseLevel: () => levels.shift() ?? "refuse",
  }).ports;
}

it("an operation is refused when the level refuses growth", async () => {
  expect(
    await kindsOf(
      portsOf(() => undefined, []),
      "a",
    ),
  ).toEqual(["database_full"]);
});

it("an operation that an attempt of unknown outcome admitted is not refused later, because that attempt may take effect", async () => {
  expect(
    await kindsOf(
      portsOf((_, attempt) => (attempt === 1 ? "unknown" : undefined), ["ok"]),
      "a",
    ),
  ).toEqual(["ok"]);
});

it("of a group for which D1 has no room, only the operations that do not fit are refused", async () => {
  const levels = Array.from({ length: 20 }, () => "ok" as const);
  expect(
    await kindsOf(
      portsOf((commit) => (writesTag(commit, "large") ? "full" : undefined), levels),
      "large 1",
      "a",
      "large 2",
      "b",
    ),
  ).toEqual(["database_full", "ok", "database_full", "ok"]);
});

it("a D1 without room after an attempt of unknown outcome leaves the outcome unknown", async () => {
  expect(
    await kindsOf(
      portsOf((_, attempt) => (attempt === 1 ? "unknown" : "full"), ["ok", "ok"]),
      "a",
    ),
  ).toEqual(["uncertain"]);
});
