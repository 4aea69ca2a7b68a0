import type { Category, ItemSummary } from "@item-vault/client";
import { computed, effect, signal } from "@preact/signals";
import { byChanged, type Entry, search } from "./search.ts";
import { entries, vaultName } from "./items.ts";

/** Which Items the list shows: those of one of the lists in the sidebar that the query matches. */

/** A list of the sidebar. `value` is the id of a vault, a tag or a category. */
export type ChosenList =
  | { readonly kind: "all" | "favorites" | "recent" | "archived" }
  | { readonly kind: "vault" | "tag"; readonly value: string }
  | { readonly kind: "category"; readonly value: Category };

export const ALL: ChosenList = { kind: "all" };
export const chosenList = signal<ChosenList>(ALL);
export const query = signal("");

export const isSameList = (a: ChosenList, b: ChosenList): boolean => keyOfList(a) === keyOfList(b);

/** A text that no two lists share. */
export const keyOfList = (list: ChosenList): string => ("value" in list ? `${list.kind} ${list.value}` : list.kind);

/** Number of Items in the list of those that were changed last. */
const RECENT_MAX = 50;

const isActive = ({ state }: ItemSummary): boolean => state === undefined;

/** Which Items each kind of list has. Only one of them has archived Items. */
const RULES: Readonly<Record<ChosenList["kind"], (item: ItemSummary, value: string) => boolean>> = {
  all: isActive,
  recent: isActive,
  favorites: (item) => isActive(item) && item.favorite,
  archived: ({ state }) => state === "ARCHIVED",
  vault: (item, value) => isActive(item) && item.vault.id === value,
  tag: (item, value) => isActive(item) && item.tags.includes(value),
  category: (item, value) => isActive(item) && item.category === value,
};

const inList = computed((): readonly Entry[] => {
  const list = chosenList.value;
  const value = "value" in list ? list.value : "";
  const has = RULES[list.kind];
  const all = entries.value.filter(({ item }) => has(item, value));
  return list.kind === "recent" ? all.toSorted(byChanged).slice(0, RECENT_MAX) : all;
});

/** What the list shows. */
export const listedEntries = computed(() => search(inList.value, query.value));

/** The vault of a new Item: that of the list, if it is the list of a vault. */
export function listedVault(): string | undefined {
  const list = chosenList.value;
  return list.kind === "vault" ? list.value : undefined;
}

const LABELS = { all: "All Items", favorites: "Favourites", recent: "Recent", archived: "Archive" } as const;

/** The name of a list, for people. In: the label of a category. */
export function nameOfList(list: ChosenList, labelOf: (category: Category) => string): string {
  if (list.kind === "vault") return vaultName(list.value);
  if (list.kind === "tag") return list.value;
  return list.kind === "category" ? labelOf(list.value) : LABELS[list.kind];
}

/** The number of Items in each list, by its key. */
export const countsOfLists = signal<ReadonlyMap<string, number>>(new Map());

/** The tags, or the categories, that have Items. */
export const valuesOfLists = (kind: "tag" | "category"): string[] =>
  [...countsOfLists.value.keys()].flatMap((key) => (key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : []));

/** So much later than the list of Items, which is what the person waits for, in milliseconds. */
const COUNTED_AFTER = 400;

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const all = entries.value;
  clearTimeout(timer);
  timer = setTimeout(() => (countsOfLists.value = countLists(all)), COUNTED_AFTER);
});

function countLists(all: readonly Entry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { item } of all) {
    if (!isActive(item)) {
      add("archived");
      continue;
    }
    add("all");
    if (item.favorite) add("favorites");
    add(`vault ${item.vault.id}`);
    add(`category ${item.category}`);
    for (const tag of item.tags) add(`tag ${tag}`);
  }
  return counts;
}
