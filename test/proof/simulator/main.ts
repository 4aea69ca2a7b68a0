import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { NearRun } from "./near.ts";
import { registerService } from "./register.ts";
import type { Run } from "./run.ts";

/**
 * The long run: `npm run simulate [operations] [first seed]`, 300,000 operations by default, on two threads: so many with the reference model
 * (run.ts), and as many with replicas, stalls, clocks that jump and restores of D1 (near.ts).
 * A seed that violates a rule is printed; `npm run simulate 5000 <seed>` repeats it.
 */

const PER_SEED = 5_000;
const THREADS = 2;
/** A line of the summary for so many operations. */
const REPORTED = 100_000;

const [most = 300_000, first = 1] = process.argv.slice(2).map(Number);

/** Runs every second seed, and sends each run to the main thread. */
async function work({ thread, seeds }: { thread: number; seeds: number }): Promise<void> {
  registerService();
  await import("./globals.ts");
  const { runSeed } = await import("./run.ts");
  const { runNear } = await import("./near.ts");
  for (let n = thread; n < seeds; n += THREADS) {
    const operations = Math.min(PER_SEED, most);
    const near = await runNear(first + n, operations);
    parentPort!.postMessage({ ...(await runSeed(first + n, operations)), near }, []);
  }
}

const formatCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

/** Prints the runs. Out: how many violations there are. */
function supervise(): Promise<number> {
  const started = performance.now();
  const totals = {
    operations: 0,
    effects: 0,
    entries: 0,
    backups: 0,
    restores: 0,
    faults: 0,
    lost: 0,
    doubled: 0,
    unlogged: 0,
    violations: 0,
  };
  const nearTotals: Record<string, number> = {};
  const add = ({ near, ...run }: Run & { readonly near: NearRun }): void => {
    const { seed, operations, effects, entries, backups, restores, faults } = run;
    const violations = [...run.violations, ...near.violations];
    const before = totals.operations;
    totals.operations += operations;
    totals.effects += effects;
    totals.entries += entries;
    totals.backups += backups;
    totals.restores += restores;
    totals.faults += [...faults.values()].reduce((sum, count) => sum + count, 0);
    totals.lost += violations.filter(({ rule }) => rule === "acknowledged write is lost").length;
    totals.doubled += violations.filter(({ rule }) => rule === "write took effect twice").length;
    totals.unlogged += violations.filter(({ rule }) => rule === "request is not in the log").length;
    for (const [name, count] of Object.entries({ ...near.counts, violations: near.violations.length }))
      nearTotals[name] = (nearTotals[name] ?? 0) + count;
    totals.violations += violations.length;
    for (const { rule, detail } of violations.slice(0, 10)) console.log(`seed ${seed}: ${rule}: ${detail}`);
    if (Math.floor(before / REPORTED) < Math.floor(totals.operations / REPORTED)) print();
  };
  const print = (): void => {
    const seconds = (performance.now() - started) / 1000;
    const speed = Math.round(totals.operations / seconds);
    console.log(`simulator: ${formatCounts(totals)} in ${Math.round(seconds)} s: ${speed} a second`);
    console.log(`near reads: ${formatCounts(nearTotals)}`);
  };
  const seeds = Math.ceil(most / PER_SEED);
  const threads = Array.from({ length: Math.min(THREADS, seeds) }, (_, thread) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const worker = new Worker(import.meta.filename, { workerData: { thread, seeds }, argv: process.argv.slice(2) });
    worker.on("message", add);
    worker.on("error", reject);
    worker.on("exit", () => resolve());
    return promise;
  });
  return Promise.all(threads).then(() => {
    print();
    return totals.violations;
  });
}

if (isMainThread) process.exitCode = (await supervise()) > 0 ? 1 : 0;
else await work(workerData as { thread: number; seeds: number });
