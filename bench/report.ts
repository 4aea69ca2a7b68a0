/** The figures as text: the block of docs/performance.md between its two markers. */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import type { Costs } from "./costs.ts";
import { AGAIN, type Counts } from "./counts.ts";
import type { Edge } from "./edge.ts";
import type { Flood } from "./flood.ts";
import type { Growth } from "./growth.ts";
import type { Line, Measured } from "./measure.ts";
import { atMost, beside, type Claim, claims, figure, table, verdict } from "./tables.ts";

export interface Results {
  readonly lines: readonly Line[];
  readonly floors: readonly Measured[];
  /** Of operations that have no floor. */
  readonly counted: readonly { readonly name: string; readonly counts: Counts }[];
  readonly costs: readonly Costs[];
  readonly edge: Edge;
  readonly growth: readonly Growth[];
  readonly floods: readonly Flood[];
  readonly size: { readonly bundle: Claim; readonly startUp: string };
}

const FILE = "docs/performance.md";
const [BEGIN, END] = ["<!-- bench:begin -->", "<!-- bench:end -->"];

export function writeReport(results: Results): void {
  const text = readFileSync(FILE, "utf8");
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${FILE} lacks its markers`);
  writeFileSync(FILE, `${text.slice(0, start)}${BEGIN}\n\n${block(results)}\n\n${text.slice(end)}`);
}

export const block = (results: Results): string =>
  [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine()}. ${busy}`,
    "### Beside the floors",
    timed(results.lines),
    "The floors themselves:",
    table(
      ["floor", "requests/s", "p50, ms", "p99, ms"],
      results.floors.map(({ name, rate, p50, p99 }) => [name, figure(rate), figure(p50), figure(p99)]),
    ),
    "### Calls and rows of one request",
    counts(results),
    claims(promised(results)),
    "### Where the time goes",
    spent(results.costs),
    "### The edge, simulated",
    edge(results.edge),
    "### Growth",
    growth(results.growth),
    "### Flood",
    floods(results.floods),
    "### Size",
    `${claims([results.size.bundle])}\n\nStart-up (\`wrangler check startup\`): ${results.size.startUp} active.`,
  ].join("\n\n");

/** Others at work on the machine make the figures worth less; asked before the benchmark makes its own load. */
const busy = `Load before: ${loadavg()[0]!.toFixed(1)}${loadavg()[0]! > 1 ? ", so the figures are noisy" : ""}.`;

const machine = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, the workerd that wrangler brings`;

const timed = (lines: readonly Line[]): string =>
  table(
    ["operation", "requests/s", "p50, ms", "p99, ms", "floor", "of the floor", "reach", "met", "peer"],
    lines.flatMap(({ name, rate, p50, p99, parts }) =>
      parts.map((part, index) => [
        ...(index === 0 ? [name, figure(rate), figure(p50), figure(p99)] : ["", "", "", ""]),
        part.name,
        figure(part.value),
        String(part.reach),
        verdict(part),
        part.peer ?? "",
      ]),
    ),
  );

function counts({ lines, counted }: Results): string {
  const header = ["one request", "D1 calls", "rows read", "rows written", "Durable Object hops", "R2", "queue"];
  return table(
    header,
    [...lines, ...counted].map(({ name, counts: { d1, rowsRead, rowsWritten, hops, r2, queue } }) =>
      [name].concat([d1, rowsRead, rowsWritten, hops, r2, queue].map(figure)),
    ),
  );
}

function promised({ lines, counted }: Results): Claim[] {
  const of = (name: string) => [...lines, ...counted].find((one) => one.name === name)!.counts;
  return [
    atMost("D1 calls of a read", of("GET an Item").d1, 1, "2–4"),
    atMost("D1 calls of a write alone", of(AGAIN).d1, 2, "4"),
    atMost("D1 calls of the first write to an Item", of("PATCH").d1, 2, "4"),
    atMost("D1 calls of an upload", of("upload 1 MiB").d1, 3, "13"),
    atMost("D1 calls of a download", of("download 1 MiB").d1, 1, "4"),
    atMost("rows written for a PATCH", of("PATCH").rowsWritten, 3, "7"),
    atMost("rows read for `title eq` among 50,000, beside the one that it finds", of("`title eq` among 50,000").rowsRead - 1, 4),
  ];
}

const spent = (costs: readonly Costs[]): string =>
  table(
    ["µs a request", "HTTP", "the service's own work", "D1", "queue", "rate limiter", "of the floor without the last two"],
    costs.map(({ name, http, own, d1, queue, rate, rest }) => [
      name,
      ...[http, own, d1, queue, rate].map((cost) => cost.toFixed(0)),
      figure(rest),
    ]),
  );

const edge = ({ claims: all, waits }: Edge): string =>
  `${claims(all)}\n\nA Worker that only waits takes here ${waits
    .map(({ milliseconds, measured }) => `${figure(measured)} ms for ${milliseconds}`)
    .join(", ")}.`;

const LONGER = 1.15;

function growth(all: readonly Growth[]): string {
  const sizes = all[0]!.points.map(({ size }) => size.toLocaleString("en"));
  return table(
    ["", ...sizes.map((size) => `time at ${size}`), "reach", "met", ...sizes.map((size) => `rows read at ${size}`)],
    all.map(({ name, points }) => {
      const worst = atMost(name, Math.max(...points.map(({ time }) => time)), LONGER);
      return [
        name,
        ...points.map(({ time }) => figure(time)),
        String(LONGER),
        verdict(worst),
        ...points.map(({ rowsRead }) => String(rowsRead)),
      ];
    }),
  );
}

const MORE = 1.1;

const floods = (all: readonly Flood[]): string =>
  table(
    ["at once", "GET in another vault before, ms", "meanwhile, ms", "ratio", "answered 200", "answered 503"],
    all.map(({ name, before, during, done, refused }) => [
      name,
      figure(before),
      figure(during),
      beside(atMost(name, during / before, MORE)),
      String(done),
      String(refused),
    ]),
  );
