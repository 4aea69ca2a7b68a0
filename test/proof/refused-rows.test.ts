import * as fc from "fast-check";
import { expect, it } from "vitest";
import { ok } from "../../src/model/result.ts";
import type { Commit } from "../../src/store/write/commit.ts";
import { commitGroup } from "../../src/vault/group.ts";
import type { CommitPorts } from "../../src/vault/ports.ts";
import { changeOf, operationOf } from "./exploration/operations.ts";
import { createStore, NOTHING_KEPT, sealedEntry } from "./exploration/store.ts";

/** A commit with rows that D1 refuses (the commit loop that ships, over a model of D1). */

const isRefused = (commit: Commit) => JSON.stringify(commit.items.map(({ after }) => after?.tags)).includes("refused");

function portsOf(store: ReturnType<typeof createStore>): CommitPorts & { readonly writes: () => number } {
  let attempts = 0;
  return {
    cached: async () => undefined,
    load: async () => ok(store.read()),
    recordReleased: async () => undefined,
    deleteCommitted: async () => undefined,
    async write(commit) {
      const attempt = ++attempts;
      const outcome = isRefused(commit) ? "refused" : store.write(commit, attempt);
      return { outcome, entries: new Map(commit.activities.map(({ id }) => [id, sealedEntry(id, attempt)])) };
    },
    backOff: async () => undefined,
    databaseLevel: () => "ok",
    onDefect: (error) => {
      throw error;
    },
    now: 1,
    clock: () => 0,
    retention: NOTHING_KEPT,
    random: (size) => new Uint8Array(size),
    writes: () => attempts,
  };
}

it("an operation whose rows D1 refuses fails alone, wherever it is in its group", async () => {
  const group = fc.array(fc.boolean(), { minLength: 1, maxLength: 32 });
  const property = fc.asyncProperty(group, async (refused) => {
    const store = createStore();
    const ports = portsOf(store);
    const values = refused.map((one, index) => (one ? `refused ${index}` : `write ${index}`));
    const answers = await commitGroup(
      ports,
      values.map((value) => operationOf(changeOf("patch", value))),
    );
    expect(answers.map((answer) => (answer.ok ? "ok" : answer.failure.kind))).toEqual(
      refused.map((one) => (one ? "internal" : "ok")),
    );
    const item = store.read().items.values().next().value;
    const stored = item?.ok ? item.value.tags : [];
    expect(stored).toEqual(["first", ...values.filter((_, index) => !refused[index])]);
    expect(ports.writes()).toBeLessThanOrEqual(2 * values.length);
  });
  await fc.assert(property, { numRuns: 200 });
});
