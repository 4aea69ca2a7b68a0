/** docs/performance.svg: two charts side by side. The SVG is written as text, so the benchmark needs no chart library. */
import { writeFileSync } from "node:fs";
import type { OperationResult } from "./measure.ts";
import type { ScalingResult } from "./scaling.ts";
import { formatNumber } from "./tables.ts";

const FILE = "docs/performance.svg";
const WIDTH = 960;
const HEIGHT = 400;
/** Room on the left for the longest label. */
const MARGIN = 112;
const TOP = 64;
const BOTTOM = 330;
const COLOURS = ["#0969da", "#bf3989", "#1a7f37", "#9a6700"];
const GREY = "#d0d7de";
const DARK = "#57606a";

interface ChartData {
  readonly operations: readonly OperationResult[];
  readonly scaling: readonly ScalingResult[];
}

export function drawChart({ operations, scaling }: ChartData): void {
  const style =
    "text{font:12px system-ui,sans-serif;fill:#24292f}.h{font-weight:600;font-size:14px}.s{fill:#57606a;font-size:11px}";
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} 0 ${WIDTH + MARGIN} ${HEIGHT}" role="img">`,
    `<title>Requests per second relative to the baseline, and time of a request by vault size</title><style>${style}</style>`,
    `<rect x="${-MARGIN}" width="${WIDTH + MARGIN}" height="${HEIGHT}" rx="8" fill="#ffffff"/>`,
    ...drawBars(operations),
    ...drawCurves(scaling),
    "</svg>",
  ];
  writeFileSync(FILE, `${parts.join("\n")}\n`);
}

const text = (x: number, y: number, content: string, attributes = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("`", "")}</text>`;

const line = (x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): string =>
  `<path d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}" stroke="${colour}" stroke-width="${width}"/>`;

/** The left chart: a grey bar for the baseline, a blue bar for the service, and a dark line at the target. */
function drawBars(operations: readonly OperationResult[]): string[] {
  const [left, width] = [176, 264];
  const rows = operations.flatMap((operation) => operation.comparisons.map((comparison) => ({ operation, comparison })));
  const scale = width / Math.max(1, ...rows.map(({ comparison }) => Math.max(comparison.value, comparison.target)));
  const step = (BOTTOM - TOP + 24) / rows.length;
  return [
    text(24, 28, "Requests per second relative to the baseline", 'class="h"'),
    text(24, 46, "grey: a minimal Worker on the same storage; blue: the service; line: the target", 'class="s"'),
    ...rows.flatMap(({ operation, comparison }, index) => {
      const y = TOP + index * step;
      const bar = (to: number, colour: string, height: number) =>
        `<rect x="${left}" y="${(y + (step - height) / 2).toFixed(1)}" width="${(to * scale).toFixed(1)}" height="${height.toFixed(1)}" fill="${colour}"/>`;
      const textY = y + step / 2 + 4;
      const targetX = left + comparison.target * scale;
      const rates = `${formatNumber(operation.rate)} of ${formatNumber(comparison.baselineRate)}`;
      return [
        text(left - 8, textY, operation.name + comparison.label, 'text-anchor="end"'),
        bar(1, GREY, step * 0.72),
        bar(comparison.value, COLOURS[0]!, step * 0.4),
        line(targetX, y + step * 0.14, targetX, y + step * 0.86, DARK, 2),
        text(left + width + 8, textY, rates, 'class="s"'),
      ];
    }),
    text(24, HEIGHT - 16, "Figures, baselines and machine: docs/performance.md", 'class="s"'),
  ];
}

/** The right chart: the time of a request by the size of the vault, relative to the smallest vault. */
function drawCurves(scaling: readonly ScalingResult[]): string[] {
  const [left, right, maximum] = [600, 900, 1.5];
  const sizes = scaling[0]!.points.map(({ size }) => size);
  const [low, high] = [Math.log(sizes[0]!), Math.log(sizes.at(-1)!)];
  const x = (size: number) => left + ((Math.log(size) - low) / (high - low)) * (right - left);
  const y = (time: number) => BOTTOM - 70 - (Math.min(time, maximum) / maximum) * (BOTTOM - 70 - TOP);
  return [
    text(568, 28, "Time of a request by vault size", 'class="h"'),
    text(568, 46, "relative to a vault of 10 Items; below: rows read at each size", 'class="s"'),
    ...[0, 0.5, 1, 1.5].flatMap((time) => [
      line(left, y(time), right, y(time), GREY),
      text(left - 8, y(time) + 4, time.toFixed(1), 'text-anchor="end" class="s"'),
    ]),
    ...sizes.map((size) => text(x(size), y(0) + 18, `${size.toLocaleString("en")} Items`, 'text-anchor="middle" class="s"')),
    ...scaling.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length]!;
      const path = points.map(({ size, time }) => `${x(size).toFixed(1)} ${y(time).toFixed(1)}`).join("L");
      const legendY = BOTTOM - 28 + index * 18;
      return [
        `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(
          ({ size, time }) => `<circle cx="${x(size).toFixed(1)}" cy="${y(time).toFixed(1)}" r="3" fill="${colour}"/>`,
        ),
        line(left, legendY - 4, left + 16, legendY - 4, colour, 3),
        text(left + 24, legendY, `${name}: ${points.map(({ rowsRead }) => rowsRead).join(", ")} rows read`),
      ];
    }),
  ];
}
