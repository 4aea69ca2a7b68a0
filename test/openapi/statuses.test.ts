import { beforeAll, describe, expect, it } from "vitest";
import { document, ROWS } from "../../src/api/openapi/document.ts";
import { seen } from "../support/documented.ts";
import type { Reply } from "../support/service.ts";
import { watchTimers } from "../support/timers.ts";
import { endSilences, recipeOf } from "./support/recipes.ts";
import { prepareTarget, type Row, startWorld, type Target, type World } from "./support/targets.ts";

/** Every status that the document has of an operation is one that the operation answers (contract 19.1): a request is sent for each. */

const pendingTimers = watchTimers();
let world: World;
beforeAll(async () => {
  world = await startWorld();
});

/** Errors come first, because the successful request may use up its target. */
const statusesOf = ({ path, method }: Row): number[] =>
  Object.keys(document.paths[path]![method]!.responses)
    .map(Number)
    .toSorted((a, b) => b - a);

describe.each(ROWS.map((row) => [row.operationId, row] as const))("%s", (operationId, row) => {
  it(`answers ${statusesOf(row).toReversed().join(", ")}`, async () => {
    const target: Target = await prepareTarget(world, row);
    for (const status of statusesOf(row)) {
      const name = `${operationId} ${status}`;
      seen.delete(name);
      const reply: Reply = await recipeOf(row, status)({ world, row, target });
      expect([name, reply.status, reply.text.slice(0, 200)]).toEqual([name, status, expect.anything()]);
      // The answer was compared with this operation, not with another one.
      expect(seen).toContain(name);
    }
  });

  it("leaves no timer of a Durable Object behind", async () => {
    endSilences();
    // The object may still deliver webhooks. The shortest timer that could be left rings after 10 seconds.
    await expect.poll(pendingTimers, { timeout: 120_000 }).toEqual([]);
  });
});
