/** Formats the results as Markdown. They replace the part of docs/performance.md between two markers. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Breakdown } from "./breakdown.ts";
import type { BurstResult } from "./burst.ts";
import { type CallCounts, REPEATED_PATCH } from "./counts.ts";
import { ENVIRONMENT } from "./environment.ts";
import type { EventsResult } from "./events.ts";
import type { LatencyResult } from "./latency.ts";
import type { OperationResult, Throughput } from "./measure.ts";
import type { NeighbourResult } from "./neighbours.ts";
import type { ScalingResult } from "./scaling.ts";
import { atMost, formatMet, formatNumber, formatTable, formatTargets, formatWithTarget, type TargetResult } from "./tables.ts";

/** What was measured. What is missing has failed. */
export interface Results {
  /** Of the groups that did not fail. */
  readonly operations: readonly OperationResult[];
  readonly baselines: readonly Throughput[];
  /** The counts of operations that are not compared with a baseline. */
  readonly counted: readonly { readonly name: string; readonly counts: CallCounts }[];
  readonly breakdowns?: readonly Breakdown[] | undefined;
  readonly latency?: LatencyResult | undefined;
  readonly scaling?: readonly ScalingResult[] | undefined;
  readonly bursts?: readonly BurstResult[] | undefined;
  readonly neighbours?: readonly NeighbourResult[] | undefined;
  readonly events?: EventsResult | undefined;
  readonly size?: { readonly bundle: TargetResult; readonly startUp: string } | undefined;
  /** The names of the parts that failed. */
  readonly failed: readonly string[];
}

const FILE = "docs/performance.md";
const [BEGIN, END] = ["<!-- bench:begin -->", "<!-- bench:end -->"];

/** Throws when docs/performance.md does not have both markers. */
export function writeReport(results: Results): void {
  const text = readFileSync(FILE, "utf8");
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${FILE} lacks the markers ${BEGIN} and ${END}`);
  writeFileSync(FILE, `${text.slice(0, start)}${BEGIN}\n\n${formatResults(results)}\n\n${text.slice(end)}`);
}

const FAILED = "Not measured: this part failed.";

const section = <T>(title: string, result: T | undefined, format: (result: T) => string): string =>
  `### ${title}\n\n${result === undefined ? FAILED : format(result)}`;

export const formatResults = (results: Results): string =>
  [
    `Measured on ${ENVIRONMENT}`,
    ...(results.failed.length > 0 ? [`**Failed:** ${results.failed.join("; ")}.`] : []),
    "### Comparison with the baselines",
    formatOperations(results.operations),
    "The baselines:",
    formatTable(
      ["baseline", "requests/s", "p50, ms", "p99, ms"],
      results.baselines.map(({ name, rate, p50, p99 }) => [name, ...[rate, p50, p99].map(formatNumber)]),
    ),
    "### Calls and rows per request",
    formatCounts(results),
    formatTargets(compareCounts(results)),
    section("Time by part of a request", results.breakdowns, formatBreakdowns),
    section("Simulated network latency", results.latency, formatLatency),
    section("Effect of the vault size", results.scaling, formatScaling),
    section("Effect of a burst on another vault", results.bursts, formatBursts),
    section("Effect of one token at its worst on another vault", results.neighbours, formatNeighbours),
    section("Events", results.events, formatEvents),
    section("Size of the bundle", results.size, formatSize),
  ].join("\n\n");

const formatSize = ({ bundle, startUp }: NonNullable<Results["size"]>): string =>
  `${formatTargets([bundle])}\n\nStart-up (\`wrangler check startup\`): ${startUp} active.`;

const formatOperations = (operations: readonly OperationResult[]): string =>
  formatTable(
    ["operation", "requests/s", "p50, ms", "p99, ms", "baseline", "ratio", "target", "met", "peer"],
    operations.flatMap(({ name, rate, p50, p99, comparisons }) =>
      comparisons.map((comparison, index) => [
        ...(index === 0 ? [name, ...[rate, p50, p99].map(formatNumber)] : ["", "", "", ""]),
        comparison.name,
        formatNumber(comparison.value),
        String(comparison.target),
        formatMet(comparison),
        comparison.peer ?? "",
      ]),
    ),
  );

const formatCounts = ({ operations, counted }: Results): string =>
  formatTable(
    [
      "request",
      "D1 calls",
      "rows read",
      "rows written",
      "Durable Object calls",
      "R2 calls",
      "rows written by the flush of the log",
    ],
    [...operations, ...counted].map(({ name, counts: { d1, rowsRead, rowsWritten, objectCalls, r2, flush } }) =>
      [name].concat([d1, rowsRead, rowsWritten, objectCalls, r2, flush.rowsWritten].map(formatNumber)),
    ),
  );

function compareCounts({ operations, counted }: Results): TargetResult[] {
  const measured = [...operations, ...counted];
  const compare = (target: string, request: string, read: (counts: CallCounts) => number, most: number, peer?: string) =>
    measured.filter(({ name }) => name === request).map(({ counts }) => atMost(target, read(counts), most, peer));
  return [
    compare("D1 calls of a read", "GET an Item", ({ d1 }) => d1, 1, "2–4"),
    compare("D1 calls of a write alone", REPEATED_PATCH, ({ d1 }) => d1, 2, "4"),
    compare("D1 calls of the first write to an Item", "PATCH", ({ d1 }) => d1, 2, "4"),
    compare("D1 calls of an upload", "upload 1 MiB", ({ d1 }) => d1, 3, "13"),
    compare("D1 calls of a download", "download 1 MiB", ({ d1 }) => d1, 1, "4"),
    compare("rows written by a PATCH", "PATCH", ({ rowsWritten }) => rowsWritten, 6, "7"),
    compare(
      "rows read by `title eq` among 50,000, without the one that matches",
      "`title eq` among 50,000",
      ({ rowsRead }) => rowsRead - 1,
      4,
    ),
  ].flat();
}

const formatBreakdowns = (breakdowns: readonly Breakdown[]): string =>
  formatTable(
    ["µs per request", "HTTP", "service", "D1", "queue", "rate limiter", "ratio without queue and rate limiter"],
    breakdowns.map(({ name, http, service, d1, queue, rateLimiter, ratioWithStubs }) => [
      name,
      ...[http, service, d1, queue, rateLimiter].map((part) => part.toFixed(0)),
      formatNumber(ratioWithStubs),
    ]),
  );

const formatLatency = ({ targets, waits }: LatencyResult): string =>
  `${formatTargets(targets)}\n\nFor comparison, the p50 of a route that only waits: ${waits
    .map(({ milliseconds, measured }) => `${formatNumber(measured)} ms for ${milliseconds} ms`)
    .join(", ")}.`;

/** The time in any vault relative to that in the smallest. */
const SCALING_TARGET = 1.15;

function formatScaling(results: readonly ScalingResult[]): string {
  const sizes = results[0]!.points.map(({ size }) => size.toLocaleString("en"));
  return formatTable(
    ["", ...sizes.map((size) => `time at ${size}`), "target", "met", ...sizes.map((size) => `rows read at ${size}`)],
    results.map(({ name, points }) => {
      const slowest = atMost(name, Math.max(...points.map(({ time }) => time)), SCALING_TARGET);
      const [times, rows] = [points.map(({ time }) => formatNumber(time)), points.map(({ rowsRead }) => String(rowsRead))];
      return [name, ...times, String(SCALING_TARGET), formatMet(slowest), ...rows];
    }),
  );
}

/** The time of a GET during a burst relative to the time before it. */
const BURST_TARGET = 1.1;

const formatBursts = (bursts: readonly BurstResult[]): string =>
  formatTable(
    ["burst", "GET in another vault before, ms", "during, ms", "ratio", "answered 200", "answered 503"],
    bursts.map(({ name, before, during, succeeded, refused }) => {
      const ratio = formatWithTarget(atMost(name, during / before, BURST_TARGET));
      return [name, formatNumber(before), formatNumber(during), ratio, String(succeeded), String(refused)];
    }),
  );

/** The p99 in another vault during an attack relative to that without it. */
const NEIGHBOUR_TARGET = 3;

const formatNeighbours = (neighbours: readonly NeighbourResult[]): string =>
  formatTable(
    [
      "4 clients of one token send",
      "p99 of a PATCH without it, ms",
      "during, ms",
      "ratio",
      "p99 of a GET without it, ms",
      "during, ms",
      "ratio",
    ],
    neighbours.map(({ name, patch, get }) => {
      const columns = [patch, get].flatMap(([idle, during]) => [
        formatNumber(idle),
        formatNumber(during),
        formatWithTarget(atMost(name, during / idle, NEIGHBOUR_TARGET)),
      ]);
      return [name, ...columns];
    }),
  );

const formatEvents = ({ answer, event, listeners, last, memory }: EventsResult): string =>
  [
    formatTable(
      ["p50 from the request of a PATCH", "ms", "beside the answer"],
      [
        ["to its answer", formatNumber(answer), "1"],
        ["to its event at a listener", formatNumber(event), formatNumber(event / answer)],
        [`to its event at the last of ${listeners} listeners`, formatNumber(last), formatNumber(last / answer)],
      ],
    ),
    formatTargets([memory]),
  ].join("\n\n");
