/**
 * `npm run bench` measures the service and compares it with its baselines. It writes docs/performance.md and
 * docs/performance.svg, also when a part has failed, which they then name. `npm run bench -- quick` runs every measurement for a short time, prints the figures and writes no
 * file. `npm run bench -- costs` counts what operations cost, and does nothing else. The script in package.json switches wrangler's local tracing off, because it uses more CPU than the Worker.
 */
import { measureBreakdown } from "./breakdown.ts";
import { measureBursts } from "./burst.ts";
import { drawChart } from "./chart.ts";
import { measureCosts } from "./costs.ts";
import { type CallCounts, countCalls, REPEATED_PATCH } from "./counts.ts";
import { measureEvents } from "./events.ts";
import { measureLatency } from "./latency.ts";
import { ifChanged, runRound } from "./load.ts";
import { measureGroup } from "./measure.ts";
import { measureNeighbours } from "./neighbours.ts";
import { createGroups, deleteItems, FEW_CLIENTS, listItems, listVaults, MIB, patchOneItem } from "./operations.ts";
import { createReferenceGroup } from "./references.ts";
import { formatResults, type Results, writeReport } from "./report.ts";
import { measureScaling } from "./scaling.ts";
import { createFile, createVault, startServer, stopServer, uploadFile } from "./server.ts";
import { measureSize } from "./size.ts";
import { QUICK } from "./statistics.ts";
import { createVersionGroups } from "./versions.ts";

if (process.argv.includes("costs")) {
  await measureCosts();
  process.exit();
}

const start = performance.now();
const logProgress = (step: string) => console.error(`${((performance.now() - start) / 1000).toFixed(0).padStart(4)} s  ${step}`);

logProgress("starting the server");
await startServer();
const [tiny, small, medium, writable, unversioned, large] = [
  await createVault(10),
  await createVault(100),
  await createVault(1_000),
  await createVault(100),
  await createVault(100),
  await createVault(50_000),
];
// The Files have a vault of their own, because the other vaults are measured without Files.
const fileVault = await createVault(1);
const files = [
  { name: "1 MiB", file: await createFile(fileVault, MIB) },
  { name: "10 MiB", file: await createFile(fileVault, 10 * MIB) },
];
logProgress("created the vaults");

const groups = [
  ...createGroups(small, writable, large, files, await ifChanged(listItems(small))),
  ...createVersionGroups(writable, unversioned),
  createReferenceGroup(small),
];
for (const { operations, baselines } of groups) {
  for (const { request } of [...operations, ...baselines]) await runRound(request, FEW_CLIENTS, QUICK ? 50 : 400);
}
logProgress("warmed up");

/** The names of the parts that failed. The others go on, and are written. */
const failed: string[] = [];

/** Returns the result of a part; `undefined` when it failed. */
async function tryPart<T>(name: string, measure: () => T | Promise<T>): Promise<T | undefined> {
  try {
    const result = await measure();
    logProgress(`measured ${name}`);
    return result;
  } catch (error) {
    failed.push(name);
    console.error(`FAILED: ${name}:`, error);
    return undefined;
  }
}

const groupResults: Awaited<ReturnType<typeof measureGroup>>[] = [];
for (const group of groups) {
  const result = await tryPart(group.operations.map(({ name }) => name).join(", "), () => measureGroup(group));
  if (result) groupResults.push(result);
}
const COUNTED = {
  DELETE: async () => deleteItems(await createVault(2)),
  [REPEATED_PATCH]: () => patchOneItem(small),
  "upload 1 MiB": () => uploadFile(small, MIB),
  "list of vaults": () => listVaults(small),
};
const counted: { name: string; counts: CallCounts }[] = [];
for (const [name, request] of Object.entries(COUNTED)) {
  const counts = await tryPart(`the calls of ${name}`, async () => countCalls(await request()));
  if (counts) counted.push({ name, counts });
}
const vaultsBySize = [tiny, medium, large].map((vault, index) => ({ size: [10, 1_000, 50_000][index]!, vault }));
const breakdowns = await tryPart("the time by part", () => measureBreakdown(small, files[0]!.file));
const latency = await tryPart("the simulated latency", () => measureLatency(writable, medium));
const scaling = await tryPart("the effect of the vault size", () => measureScaling(vaultsBySize));
const bursts = await tryPart("the bursts", () => measureBursts(writable, small));
const neighbours = await tryPart("the neighbours of a token at its worst", () => measureNeighbours(writable));
const events = await tryPart("events", () => measureEvents(small));
await stopServer();
const results: Results = {
  operations: groupResults.flatMap(({ operations }) => operations),
  baselines: groupResults.flatMap(({ baselines }) => baselines),
  counted,
  breakdowns,
  latency,
  scaling,
  bursts,
  neighbours,
  events,
  size: await tryPart("the size of the bundle", measureSize),
  failed,
};
console.log(formatResults(results));
if (!QUICK) {
  writeReport(results);
  if (scaling) drawChart({ ...results, scaling });
}
if (failed.length > 0) {
  console.error(`FAILED: ${failed.join("; ")}`);
  process.exitCode = 1;
}
logProgress("finished");
