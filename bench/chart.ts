/** docs/performance.svg: two pictures side by side, drawn as text: a library for them would be larger than the service. */
import { writeFileSync } from "node:fs";
import type { Growth } from "./growth.ts";
import type { Line } from "./measure.ts";
import { figure } from "./tables.ts";

const FILE = "docs/performance.svg";
const WIDTH = 960;
const HEIGHT = 400;
const TOP = 64;
const BOTTOM = 330;
const COLOURS = ["#0969da", "#bf3989", "#1a7f37", "#9a6700"];
const GREY = "#d0d7de";
const DARK = "#57606a";

export function drawChart({ lines, growth }: { readonly lines: readonly Line[]; readonly growth: readonly Growth[] }): void {
  const style =
    "text{font:12px system-ui,sans-serif;fill:#24292f}.h{font-weight:600;font-size:14px}.s{fill:#57606a;font-size:11px}";
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>Requests a second beside the floors, and cost against the size of a vault</title><style>${style}</style>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#ffffff"/>`,
    ...bars(lines),
    ...curves(growth),
    "</svg>",
  ];
  writeFileSync(FILE, `${parts.join("\n")}\n`);
}

const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("`", "")}</text>`;

const rule = (x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): string =>
  `<path d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}" stroke="${colour}" stroke-width="${width}"/>`;

/** Requests a second: the floor is the whole width, the service the bar on it, the reach a notch. */
function bars(lines: readonly Line[]): string[] {
  const [left, width] = [176, 264];
  const rows = lines.flatMap((line) => line.parts.map((part) => ({ line, part })));
  const scale = width / Math.max(1, ...rows.map(({ part }) => Math.max(part.value, part.reach)));
  const step = (BOTTOM - TOP + 24) / rows.length;
  return [
    text(24, 28, "Requests a second, beside the floor", 'class="h"'),
    text(24, 46, "grey: the least that a Worker on the same storage could do; notch: what was to be reached", 'class="s"'),
    ...rows.flatMap(({ line, part }, index) => {
      const y = TOP + index * step;
      const bar = (to: number, colour: string, height: number) =>
        `<rect x="${left}" y="${(y + (step - height) / 2).toFixed(1)}" width="${(to * scale).toFixed(1)}" height="${height.toFixed(1)}" fill="${colour}"/>`;
      const middle = y + step / 2 + 4;
      return [
        text(left - 8, middle, line.name + part.mark, 'text-anchor="end"'),
        bar(1, GREY, step * 0.72),
        bar(part.value, COLOURS[0]!, step * 0.4),
        rule(left + part.reach * scale, y + step * 0.14, left + part.reach * scale, y + step * 0.86, DARK, 2),
        text(left + width + 8, middle, `${figure(line.rate)} of ${figure(part.floorRate)}`, 'class="s"'),
      ];
    }),
    text(24, HEIGHT - 16, "Figures, floors and machine: docs/performance.md", 'class="s"'),
  ];
}

/** Time against the size of the vault, relative to the smallest. */
function curves(growth: readonly Growth[]): string[] {
  const [left, right, most] = [600, 900, 1.5];
  const sizes = growth[0]!.points.map(({ size }) => size);
  const [low, high] = [Math.log(sizes[0]!), Math.log(sizes.at(-1)!)];
  const x = (size: number) => left + ((Math.log(size) - low) / (high - low)) * (right - left);
  const y = (time: number) => BOTTOM - 70 - (Math.min(time, most) / most) * (BOTTOM - 70 - TOP);
  return [
    text(568, 28, "Cost against the size of the vault", 'class="h"'),
    text(568, 46, "time of a request, relative to a vault of 10 Items; rows that it reads", 'class="s"'),
    ...[0, 0.5, 1, 1.5].flatMap((time) => [
      rule(left, y(time), right, y(time), GREY),
      text(left - 8, y(time) + 4, time.toFixed(1), 'text-anchor="end" class="s"'),
    ]),
    ...sizes.map((size) => text(x(size), y(0) + 18, `${size.toLocaleString("en")} Items`, 'text-anchor="middle" class="s"')),
    ...growth.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length]!;
      const path = points.map(({ size, time }) => `${x(size).toFixed(1)} ${y(time).toFixed(1)}`).join("L");
      const key = BOTTOM - 28 + index * 18;
      return [
        `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(
          ({ size, time }) => `<circle cx="${x(size).toFixed(1)}" cy="${y(time).toFixed(1)}" r="3" fill="${colour}"/>`,
        ),
        rule(left, key - 4, left + 16, key - 4, colour, 3),
        text(left + 24, key, `${name}: ${points.map(({ rowsRead }) => rowsRead).join(", ")} rows read`),
      ];
    }),
  ];
}
