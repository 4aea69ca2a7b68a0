import { expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { coordinatorsWith } from "../support/worst/asking.ts";
import { changed } from "./support/recipes.ts";
import { prepareTarget, type Row, startWorld, type World } from "./support/targets.ts";

/**
 * The D1 calls that the successful request of each operation takes, and the rows that it writes, by the Worker and the coordinator together,
 * without its log entry, which is flushed after the answer: counts.json. After a change that is meant,
 * `npm test -- test/openapi/counts.test.ts -u` writes it. The rows that are read are not in it: SQLite also reads the entry after the last
 * match of an index, if there is one, and ids are random. test/promises/costs.test.ts and worst-requests.test.ts bound them.
 */

/** Operations of which two runs take different numbers of calls, and why. */
const VARYING: Readonly<Record<string, string>> = {
  getHealth: "its report is shared by all who ask in 5 seconds",
  getAdminHealth: "it is the report of /health",
  listTokenActivity: "it searches the logs until the minute in which the token was issued",
};

interface Cost {
  readonly calls: number;
  /** Rows. */
  readonly written: number;
}

async function costOf(world: World, row: Row): Promise<Cost> {
  const target = await prepareTarget(world, row);
  const { count, db } = countingDatabase();
  const queue = recordingQueue();
  const env = { DB: db, COORDINATOR: coordinatorsWith(db), ACTIVITY: queue.bindings.ACTIVITY };
  const { status, text } = await changed({ env })({ world, row, target });
  queue.drop();
  expect([row.operationId, status < 300, text.slice(0, 200)]).toEqual([row.operationId, true, expect.anything()]);
  return { calls: count.calls, written: count.rowsWritten };
}

it("each operation takes as many D1 calls, and writes as many rows, as counts.json says", async () => {
  const world = await startWorld();
  const costs: string[] = [];
  for (const row of ROWS) {
    if (Object.hasOwn(VARYING, row.operationId)) continue;
    const { calls, written } = await costOf(world, row);
    costs.push(`  "${row.operationId}": { "calls": ${calls}, "written": ${written} }`);
  }
  await expect(`{\n${costs.join(",\n")}\n}\n`).toMatchFileSnapshot("counts.json");
});
