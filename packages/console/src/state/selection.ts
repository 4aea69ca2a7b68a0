import { computed, effect, signal } from "@preact/signals";
import { chosenList, listedEntries, query } from "./chosen-list.ts";

/** The Items of the list that are selected, for acts on several at once, by their keys. */

const keys = signal<ReadonlySet<string>>(new Set());

/** The Item from which a range begins. */
let anchor: string | undefined;

/** The selected Items that the list still shows, in its order: an action must not reach Items that the person does not see. */
export const selectedItems = computed(() =>
  keys.value.size === 0 ? [] : listedEntries.value.flatMap(({ key, item }) => (keys.value.has(key) ? [item] : [])),
);

export const isSelected = (key: string): boolean => keys.value.has(key);

export function toggleItem(key: string): void {
  const next = new Set(keys.value);
  if (!next.delete(key)) next.add(key);
  anchor = key;
  keys.value = next;
}

/** Selects the Items of the list from the last chosen one to this one. */
export function selectTo(key: string): void {
  const listed = listedEntries.peek().map((entry) => entry.key);
  const [from, to] = [listed.indexOf(anchor ?? key), listed.indexOf(key)];
  if (to < 0) return;
  const range = from < 0 ? [key] : listed.slice(Math.min(from, to), Math.max(from, to) + 1);
  anchor ??= key;
  keys.value = new Set([...keys.value, ...range]);
}

export function selectListed(): void {
  keys.value = new Set(listedEntries.peek().map(({ key }) => key));
}

export function clearSelection(): void {
  anchor = undefined;
  if (keys.peek().size > 0) keys.value = new Set();
}

// Another list, or another query, begins without a selection.
effect(() => {
  void [chosenList.value, query.value];
  clearSelection();
});
