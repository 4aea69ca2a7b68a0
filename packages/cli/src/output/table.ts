import { printable } from "../frame/printable.ts";
import { cut, padded, widthOf } from "./text.ts";

/** Aligned plain text. */

const GAP = "  ";
/** Only these columns are cut, because a part of an id, a time or a value is of no use. */
const CUT = new Set(["TITLE", "TAGS", "NAME", "SECTION", "FIELD"]);
/** A column is cut to no less than this, also when the terminal is narrower. */
const COLUMN_WIDTH_MIN = 8;

/**
 * Returns lines: rows below a heading, each column as wide as its widest cell, and nothing without rows. If a table is wider than `columns`, the
 * width of the terminal, its widest columns of names are cut with `…`. Without `columns` nothing is cut.
 */
export function tableOf(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  if (rows.length === 0) return "";
  const cells = [heading, ...rows].map((row) => row.map(printable));
  const widths = widthsOf(cells);
  const room = columns - GAP.length * (widths.length - 1);
  return linesOf(
    cells,
    fit(
      widths,
      heading.map((name) => CUT.has(name)),
      room,
    ),
  );
}

/** Formats names and values without a heading, for a single object. Pairs without a value are left out. */
export function pairsOf(pairs: readonly (readonly [string, string])[]): string {
  const cells = pairs.filter(([, value]) => value !== "").map((pair) => pair.map(printable));
  return linesOf(cells, widthsOf(cells));
}

const widthsOf = (cells: readonly (readonly string[])[]): number[] =>
  (cells[0] ?? []).map((_, index) => cells.reduce((width, row) => Math.max(width, widthOf(row[index]!)), 0));

function linesOf(cells: readonly (readonly string[])[], widths: readonly number[]): string {
  const lines = cells.map((row) => row.map((cell, index) => padded(cut(cell, widths[index]!), widths[index]!)).join(GAP));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/** Takes columns from the widest ones that may be cut until the sum is at most `room`. */
function fit(widths: readonly number[], mayCut: readonly boolean[], room: number): number[] {
  const fitted = [...widths];
  const sum = () => fitted.reduce((total, width) => total + width, 0);
  for (let over = sum() - room; over > 0; over = sum() - room) {
    const widest = Math.max(...fitted.filter((_, index) => mayCut[index]));
    if (widest <= COLUMN_WIDTH_MIN) break; // also -Infinity, without such a column
    const next = Math.max(COLUMN_WIDTH_MIN, ...fitted.filter((width, index) => mayCut[index] && width < widest));
    fitted[fitted.findIndex((width, index) => mayCut[index] && width === widest)] = Math.max(next, widest - over);
  }
  return fitted;
}
