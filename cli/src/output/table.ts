import { cut, padded, printable, widthOf } from "./text.ts";

/** Aligned plain text. */

const GAP = "  ";
/** A column is cut to no less than this, also when the terminal is narrower. */
const LEAST = 8;

/**
 * Rows below a heading, each column as wide as its widest cell. `columns`: the width of the terminal; where the table is wider, its
 * widest columns are cut with `…`. Without `columns` nothing is cut. Out: lines, each with a newline; nothing without rows.
 */
export function tableOf(heading: readonly string[], rows: readonly (readonly string[])[], columns?: number): string {
  if (rows.length === 0) return "";
  return linesOf([heading, ...rows], columns);
}

/** Names and values without a heading: what a command shows of one thing. */
export const pairsOf = (pairs: readonly (readonly [string, string])[], columns?: number): string =>
  linesOf(
    pairs.filter(([, value]) => value !== ""),
    columns,
  );

function linesOf(rows: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const cells = rows.map((row) => row.map(printable));
  const natural = (cells[0] ?? []).map((_, place) => cells.reduce((width, row) => Math.max(width, widthOf(row[place]!)), 0));
  const widths = fit(natural, columns - GAP.length * (natural.length - 1));
  const lines = cells.map((row) => row.map((cell, place) => padded(cut(cell, widths[place]!), widths[place]!)).join(GAP));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

/** Takes columns from the widest ones until the sum is at most `room`. */
function fit(widths: readonly number[], room: number): number[] {
  const fitted = [...widths];
  const sum = () => fitted.reduce((total, width) => total + width, 0);
  for (let over = sum() - room; over > 0; over = sum() - room) {
    const widest = Math.max(...fitted);
    if (widest <= LEAST) break;
    const next = Math.max(LEAST, ...fitted.filter((width) => width < widest));
    const place = fitted.indexOf(widest);
    fitted[place] = Math.max(next === widest ? LEAST : next, widest - over);
  }
  return fitted;
}
