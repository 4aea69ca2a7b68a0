/**
 * `npm run bench`: what the service costs, beside the least that it could cost. Writes docs/performance.md and
 * docs/performance.svg. `npm run bench -- quick` tries everything for a moment, prints the figures and writes nothing.
 * The script in package.json switches off local tracing, which costs more than the Worker.
 */
import { spawnSync } from "node:child_process";
import { drawChart } from "./chart.ts";
import { measureCosts } from "./costs.ts";
import { AGAIN, count } from "./counts.ts";
import { measureEdge } from "./edge.ts";
import { measureFlood } from "./flood.ts";
import { measureGrowth } from "./growth.ts";
import { measureGroup } from "./measure.ts";
import { round } from "./load.ts";
import { FEW, makeGroups, MIB, patchOne, remove, vaults } from "./operations.ts";
import { block, type Results, writeReport } from "./report.ts";
import { makeFile, makeVault, start, stop, upload } from "./server.ts";
import { measureSize } from "./size.ts";
import { quick } from "./statistics.ts";

const began = performance.now();
const say = (what: string) => console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what}`);

say("starting");
await start();
const [tiny, small, middle, busy, large] = [
  await makeVault(10),
  await makeVault(100),
  await makeVault(1_000),
  await makeVault(100),
  await makeVault(50_000),
];
// Not on an Item that is measured without Files.
const filed = await makeVault(1);
const files = [
  { name: "1 MiB", file: await makeFile(filed, MIB) },
  { name: "10 MiB", file: await makeFile(filed, 10 * MIB) },
];
say("the vaults are there");

const measured = makeGroups(small, busy, large, files);
for (const { operations, floors } of measured) {
  for (const { shot } of [...operations, ...floors]) await round(shot, FEW, quick ? 50 : 400);
}
say("the code is warm");

const groups: Awaited<ReturnType<typeof measureGroup>>[] = [];
for (const group of measured) {
  groups.push(await measureGroup(group));
  say(group.operations.map(({ name }) => name).join(", "));
}
const counted = [
  { name: "DELETE", counts: await count(remove(await makeVault(2))) },
  { name: AGAIN, counts: await count(patchOne(small)) },
  { name: "upload 1 MiB", counts: await count(upload(small, MIB)) },
  { name: "list of vaults", counts: await count(vaults(small)) },
];
const costs = await measureCosts(small, files[0]!.file);
say("where the time goes");
const edge = await measureEdge(busy, middle);
say("the edge");
const sized = [tiny, middle, large].map((vault, index) => ({ size: [10, 1_000, 50_000][index]!, vault }));
const growth = await measureGrowth(sized);
say("growth");
const floods = await measureFlood(busy, small);
say("flood");
await stop();
const size = measureSize();
const results: Results = {
  lines: groups.flatMap(({ lines }) => lines),
  floors: groups.flatMap((group) => group.floors),
  counted,
  costs,
  edge,
  growth,
  floods,
  size,
};
console.log(block(results));
if (!quick) {
  writeReport(results);
  drawChart(results);
  spawnSync(process.execPath, ["node_modules/oxfmt/bin/oxfmt", "docs/performance.md"], { stdio: "inherit" });
}
say("done");
