import type { Loss, TransferItem } from "@item-vault/transfer/item";
import { printable, plural } from "../frame/printable.ts";
import { cut } from "../output/text.ts";

/** The output of an import. */

/** The columns of a terminal that a title takes at most. */
const TITLE_WIDTH_MAX = 60;

/** The content of a source in one line. */
export function describeSource(format: string, items: readonly TransferItem[]): string {
  const files = items.reduce((sum, item) => sum + item.files.length, 0);
  const states = items.reduce((sum, item) => sum + item.history.length, 0);
  return `Source: ${format}, ${plural(items.length, "Item")}, ${plural(files, "File")}, ${plural(states, "earlier version")}\n`;
}

/** A value that an import keeps in another form. */
const KEPT = /[,(] ?kept as /;

/** The loss report: a line for each loss with its count. */
export function describeLosses(losses: readonly Loss[]): string {
  const width = Math.max(...losses.map(({ count }) => String(count).length));
  const linesOf = (some: readonly Loss[]) =>
    some.map(({ what, count }) => `  ${String(count).padStart(width)}  ${printable(what)}\n`);
  const kept = losses.filter(({ what }) => KEPT.test(what));
  const lost = losses.filter(({ what }) => !KEPT.test(what));
  const head = lost.length > 0 ? "Not carried over:\n" : "Not carried over: nothing is lost\n";
  return [head, ...linesOf(lost), ...(kept.length > 0 ? ["Carried over in another form:\n", ...linesOf(kept)] : [])].join("");
}

/** In which Items something is lost: titles, for the user's own terminal. */
export function describeExamples(losses: readonly Loss[]): string {
  const named = losses.filter(({ what, examples = [] }) => examples.length > 0 && !what.startsWith("dates of "));
  return named.map(({ what, count, examples = [] }) => `${printable(what)}: ${quoteTitles(examples, count)}\n`).join("");
}

/** Returns the Items that were not written because they exist with other content: titles, for the user's own terminal. */
export const describeDiffering = (titles: readonly string[]): string =>
  titles.length === 0
    ? ""
    : `Already there with different content (not changed): ${quoteTitles(titles.slice(0, 20), titles.length)}\n`;

/** Titles in one line, escaped. `all`: how many there are. */
export function quoteTitles(titles: readonly string[], all = titles.length): string {
  const shown = titles.map((title) => `“${cut(printable(title), TITLE_WIDTH_MAX)}”`).join(", ");
  return all > titles.length ? `${shown} and ${all - titles.length} more` : shown;
}

/** Returns counts by outcome, in the order of `words`, without zeros. */
export function describeCounts(counts: ReadonlyMap<string, number>, words: Readonly<Record<string, string>>): string {
  const parts = Object.entries(words).flatMap(([outcome, word]) => {
    const count = counts.get(outcome) ?? 0;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  return `${parts.join(", ") || "nothing to do"}\n`;
}
