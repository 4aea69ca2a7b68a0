import { expect, it } from "vitest";
import { ok } from "../../src/model/result.ts";
import type { DatabaseLevel } from "../../src/store/database-size.ts";
import type { BatchOutcome } from "../../src/store/database.ts";
import type { Commit } from "../../src/store/write/commit.ts";
import { commitGroup } from "../../src/vault/group.ts";
import type { CommitPorts } from "../../src/vault/ports.ts";
import { changeOf, operationOf } from "./exploration/operations.ts";
import { createStore, NOTHING_KEPT, sealedEntry } from "./exploration/store.ts";

/** A database that becomes full while a group is written (the commit loop that ships, over a model of D1). */

const isLarge = (commit: Commit) => JSON.stringify(commit.items.map(({ after }) => after?.tags)).includes("large");

/** In: the outcome of each attempt that does not reach D1, and the level before each attempt. */
function portsOf(fault: (commit: Commit, attempt: number) => BatchOutcome | undefined, levels: DatabaseLevel[]) {
  const store = createStore();
  let attempts = 0;
  let time = 0;
  const ports: CommitPorts = {
    cached: async () => undefined,
    load: async () => ok(store.read()),
    recordReleased: async () => undefined,
    deleteCommitted: async () => undefined,
    async write(commit) {
      const attempt = ++attempts;
      const outcome = fault(commit, attempt) ?? store.write(commit, attempt);
      return { outcome, entries: new Map(commit.activities.map(({ id }) => [id, sealedEntry(id, attempt)])) };
    },
    backOff: async () => void (time += 1_000),
    clock: () => time,
    databaseLevel: () => levels.shift() ?? "refuse",
    onDefect: (error) => {
      throw error;
    },
    now: 1,
    retention: NOTHING_KEPT,
    random: (size) => new Uint8Array(size),
  };
  return ports;
}

const kindsOf = async (ports: CommitPorts, ...values: string[]) =>
  (
    await commitGroup(
      ports,
      values.map((value) => operationOf(changeOf("patch", value))),
    )
  ).map((answer) => (answer.ok ? "ok" : answer.failure.kind));

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
      portsOf((commit) => (isLarge(commit) ? "full" : undefined), levels),
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
