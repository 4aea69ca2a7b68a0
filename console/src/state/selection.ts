import { computed, effect, signal } from "@preact/signals";
import { chosenList, listedEntries, query } from "./chosen-list.ts";

/** The Items of the list that are selected, for acts on several at once. */

const ids = signal<ReadonlySet<string>>(new Set());

/** The Item from which a range begins. */
let anchor: string | undefined;

/** The selected Items that the list shows still, in its order: an act must not reach Items that the person does not see. */
export const selectedItems = computed(() =>
  ids.value.size === 0 ? [] : listedEntries.value.flatMap(({ item }) => (ids.value.has(item.id) ? [item] : [])),
);

export const isSelected = (id: string): boolean => ids.value.has(id);

export function toggleItem(id: string): void {
  const next = new Set(ids.value);
  if (!next.delete(id)) next.add(id);
  anchor = id;
  ids.value = next;
}

/** Selects the Items of the list from the one that was chosen last to this one. */
export function selectTo(id: string): void {
  const listed = listedEntries.peek().map(({ item }) => item.id);
  const [from, to] = [listed.indexOf(anchor ?? id), listed.indexOf(id)];
  if (to < 0) return;
  const range = from < 0 ? [id] : listed.slice(Math.min(from, to), Math.max(from, to) + 1);
  anchor ??= id;
  ids.value = new Set([...ids.value, ...range]);
}

export function selectListed(): void {
  ids.value = new Set(listedEntries.peek().map(({ item }) => item.id));
}

export function clearSelection(): void {
  anchor = undefined;
  if (ids.peek().size > 0) ids.value = new Set();
}

// Another list, or another query, begins without a selection.
effect(() => {
  void [chosenList.value, query.value];
  clearSelection();
});
