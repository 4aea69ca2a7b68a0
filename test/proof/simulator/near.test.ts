import { expect, it } from "vitest";
import { type NearRun, runNear } from "./near.ts";
import { NO_PLANT } from "./plants.ts";

/** Reads of tokens with `stale` from replicas, beside writers and stalls of the primary: few seeds, and many in the long run. */

const SEEDS = process.env["LONG_RUN"] === "1" ? 100 : 2;
const READS = process.env["LONG_RUN"] === "1" ? 400 : 200;

it("a near read is never older than `stale`, nor than what the client has seen, also while the primary stalls", async () => {
  const runs: NearRun[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = await runNear(seed, READS);
    expect(run.violations, `seed ${seed}`).toEqual([]);
    runs.push(run);
  }
  const sum = (count: (run: NearRun) => number) => runs.reduce((total, run) => total + count(run), 0);
  const [reads, fromReplicas] = [sum((run) => run.reads), sum((run) => run.fromReplicas)];
  console.log(`${reads} near reads, ${fromReplicas} from replicas`);
  console.log(`while the primary stalls, with \`stale\`: ${describeWaits(runs.map((run) => run.duringStalls))}`);
  console.log(`while the primary stalls, without: ${describeWaits(runs.map((run) => run.plainDuringStalls))}`);
  expect(fromReplicas).toBeGreaterThan(reads / 4);
});

function describeWaits(waits: readonly NearRun["duringStalls"][]): string {
  const answered = waits.flatMap((wait) => wait.answered).toSorted((a, b) => a - b);
  const sent = waits.reduce((total, wait) => total + wait.sent, 0);
  const quantile = (share: number) => Math.round(answered[Math.floor(answered.length * share)] ?? 0);
  return `${answered.length} of ${sent} answered, p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`;
}

it("a session that claims a bookmark which it has not reached is found", async () => {
  const { violations } = await runNear(1, READS, { ...NO_PLANT, ignoresBookmarks: true });
  const rules = new Set(violations.map(({ rule }) => rule));
  expect(rules).toEqual(
    new Set(["read is older than `stale`", "read is older than its age", "read goes back behind a bookmark"]),
  );
});
