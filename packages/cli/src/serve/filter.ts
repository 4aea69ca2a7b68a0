import { type Filter, idsOf, itemPasses, titleOf } from "@item-vault/model/filter";
import { type HeldItem, type HeldVault, sortedItems } from "./copy.ts";

/** Lists of Items (contract 5, 11.1, 14.15). */

/** The JSON texts of the summaries that pass. In: the readings of the filter, the preferred one first. */
export function passingItems(vault: HeldVault, readings: readonly Filter[], archived: boolean): string[] {
  const listed = sortedItems(vault).filter(({ summary }) => archived || summary.state !== "ARCHIVED");
  const ids = idsOf(readings);
  const chosen = chooseReadings(listed, readings);
  return listed.filter((item) => (ids ? ids.includes(item.id) : itemPasses(chosen, item.summary))).map(({ text }) => text);
}

/** The readings of the first title that an Item has, else those of the last title (contract 5.6, 5.9). */
function chooseReadings(items: readonly HeldItem[], readings: readonly Filter[]): readonly Filter[] {
  const title = titleOf(readings[0]!);
  const others = readings.filter((reading) => titleOf(reading) !== title);
  if (others.length === 0) return readings;
  return items.some(({ summary }) => summary.title === title)
    ? readings.filter((reading) => titleOf(reading) === title)
    : chooseReadings(items, others);
}
