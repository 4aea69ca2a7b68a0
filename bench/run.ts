/**
 * `npm run bench` measures the service and compares it with its baselines. It writes docs/performance.md and
 * docs/performance.svg. `npm run bench -- quick` runs every measurement for a short time, prints the figures and writes no
 * file. `npm run bench -- costs` counts what operations cost, and does nothing else. The script in package.json switches wrangler's local tracing off, because it uses more CPU than the Worker.
 */
import { spawnSync } from "node:child_process";
import { measureBreakdown } from "./breakdown.ts";
import { measureBursts } from "./burst.ts";
import { drawChart } from "./chart.ts";
import { measureCosts } from "./costs.ts";
import { countCalls, REPEATED_PATCH } from "./counts.ts";
import { measureLatency } from "./latency.ts";
import { runRound } from "./load.ts";
import { measureEvents } from "./events.ts";
import { measureGroup } from "./measure.ts";
import { measureNeighbours } from "./neighbours.ts";
import { createGroups, deleteItems, FEW_CLIENTS, listVaults, MIB, patchOneItem } from "./operations.ts";
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
  ...createGroups(small, writable, large, files),
  ...createVersionGroups(writable, unversioned),
  createReferenceGroup(small),
];
for (const { operations, baselines } of groups) {
  for (const { request } of [...operations, ...baselines]) await runRound(request, FEW_CLIENTS, QUICK ? 50 : 400);
}
logProgress("warmed up");

const groupResults: Awaited<ReturnType<typeof measureGroup>>[] = [];
for (const group of groups) {
  groupResults.push(await measureGroup(group));
  logProgress(`measured ${group.operations.map(({ name }) => name).join(", ")}`);
}
const counted = [
  { name: "DELETE", counts: await countCalls(deleteItems(await createVault(2))) },
  { name: REPEATED_PATCH, counts: await countCalls(patchOneItem(small)) },
  { name: "upload 1 MiB", counts: await countCalls(uploadFile(small, MIB)) },
  { name: "list of vaults", counts: await countCalls(listVaults(small)) },
];
const breakdowns = await measureBreakdown(small, files[0]!.file);
logProgress("measured the time by part");
const latency = await measureLatency(writable, medium);
logProgress("measured with simulated latency");
const vaultsBySize = [tiny, medium, large].map((vault, index) => ({ size: [10, 1_000, 50_000][index]!, vault }));
const scaling = await measureScaling(vaultsBySize);
logProgress("measured the effect of the vault size");
const bursts = await measureBursts(writable, small);
logProgress("measured the bursts");
const neighbours = await measureNeighbours(writable);
logProgress("measured the neighbours of a token at its worst");
const events = await measureEvents(small);
logProgress("measured events");
await stopServer();
const size = measureSize();
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
  size,
};
console.log(formatResults(results));
if (!QUICK) {
  writeReport(results);
  drawChart(results);
  spawnSync(process.execPath, ["node_modules/oxfmt/bin/oxfmt", "docs/performance.md"], { stdio: "inherit" });
}
logProgress("finished");
