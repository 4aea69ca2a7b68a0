import * as fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { createPorts, kindsOf, writesTag } from "./exploration/group.ts";

/** A commit with rows that D1 refuses (the commit loop that ships, over a model of D1). */

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
