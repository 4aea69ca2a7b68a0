import type { ItemSummary } from "@item-vault/client";
import { computed, effect, signal } from "@preact/signals";
import type { Route } from "../routes.ts";
import { entries, listState, vaultName, vaults } from "./items.ts";
import { route } from "./route.ts";
import { byChanged, type Entry, search } from "./search.ts";

/** The shown Items: those of a list in the sidebar that match the query. */

/** A list of the sidebar. `value` is the id of a vault or a tag, or a category; other kinds have none. */
export type ChosenList = Readonly<{ kind: FixedKind | ValueKind; value?: string | undefined }>;

export const query = signal("");

/** A text that no two lists share, for the address. */
export const keyOfList = ({ kind, value }: ChosenList): string => (value === undefined ? kind : `${kind}.${value}`);

export const placeOfList = (list: ChosenList): Route => ({ view: "items", list: keyOfList(list) });

/** Parses a key of `keyOfList`. An unknown key gives the list of all Items. */
function parseList(key: string): ChosenList {
  const [kind = "", value] = key.split(".", 2);
  return hasValue(kind) && value ? { kind, value } : { kind: isFixed(kind) ? kind : "all" };
}

const RECENT_MAX = 50;

const isActive = ({ state }: ItemSummary): boolean => state === undefined;

/** The lists without a value: their names, and which Items they have. Only one of them has archived Items. */
const FIXED = {
  all: { label: "All items", has: isActive },
  recent: { label: "Recent", has: isActive },
  favorites: { label: "Favorites", has: (item: ItemSummary) => isActive(item) && item.favorite },
  archived: { label: "Archive", has: ({ state }: ItemSummary) => state === "ARCHIVED" },
} as const;

/** The lists with a value: the values of an Item that put it into such a list, unless the Item is archived. */
const VALUES: Readonly<Record<"vault" | "category" | "tag", (item: ItemSummary) => readonly string[]>> = {
  vault: ({ vault }) => [vault.id],
  category: ({ category }) => [category],
  tag: ({ tags }) => tags.map(idOfTag),
};

type FixedKind = keyof typeof FIXED;
type ValueKind = keyof typeof VALUES;

const FIXED_KINDS = Object.keys(FIXED) as FixedKind[];
const VALUE_KINDS = Object.keys(VALUES) as ValueKind[];

const isFixed = (kind: string): kind is FixedKind => Object.hasOwn(FIXED, kind);
const hasValue = (kind: string): kind is ValueKind => Object.hasOwn(VALUES, kind);

function ruleOf({ kind, value = "" }: ChosenList): (item: ItemSummary) => boolean {
  if (isFixed(kind)) return FIXED[kind].has;
  const valuesOf = VALUES[kind];
  return (item) => isActive(item) && valuesOf(item).includes(value);
}

const chosenKey = computed(() => route.value.list ?? "all");
export const chosenList = computed(() => parseList(chosenKey.value));

const inList = computed((): readonly Entry[] => {
  const has = ruleOf(chosenList.value);
  const all = entries.value.filter(({ item }) => has(item));
  return chosenList.value.kind === "recent" ? all.toSorted(byChanged).slice(0, RECENT_MAX) : all;
});

export const listedEntries = computed(() => search(inList.value, query.value));

/** The ids of tags, for addresses: a tag is a text of a person, and browsers keep addresses in their history. */
const idsByTag = new Map<string, string>();
const tagsById = new Map<string, string>();

/** The same id each time: FNV-1a with 64 bits (RFC 9923) of the tag in UTF-8, at most 13 letters and digits. */
export function idOfTag(tag: string): string {
  const known = idsByTag.get(tag);
  if (known !== undefined) return known;
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(tag)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const id = hash.toString(36);
  idsByTag.set(tag, id);
  tagsById.set(id, tag);
  return id;
}

const tagOfId = (id: string): string | undefined => tagsById.get(id);

/** Returns the vault for a new Item: that of the list, if it is a vault's list. */
export function listedVault(): string | undefined {
  const list = chosenList.value;
  return list.kind === "vault" ? list.value : undefined;
}

/** Returns true if the list belongs to a vault that the session does not list, or that does not exist. */
export const isOfUnknownVault = ({ kind, value }: ChosenList): boolean =>
  kind === "vault" && listState.value === "loaded" && !vaults.value.some(({ id }) => id === value);

/** Returns the name of a list, for people. `labelOf` returns the label of a category. */
export function nameOfList({ kind, value = "" }: ChosenList, labelOf: (category: string) => string): string {
  if (isFixed(kind)) return FIXED[kind].label;
  if (kind === "category") return labelOf(value);
  if (kind === "vault") return isOfUnknownVault({ kind, value }) ? "Unknown vault" : vaultName(value) || "Vault";
  // The tags are known when the Items are loaded.
  return (listState.value === "loaded" && tagOfId(value)) || "Tag";
}

export const countsOfLists = signal<ReadonlyMap<string, number>>(new Map());

export const listsOf = (kind: "tag" | "category"): ChosenList[] =>
  Array.from(countsOfLists.value.keys(), parseList).filter((list) => list.kind === kind);

/** Delay after the list of Items, for which the person waits, in milliseconds. */
const COUNTED_AFTER = 400;

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const all = entries.value;
  clearTimeout(timer);
  timer = setTimeout(() => (countsOfLists.value = countLists(all)), COUNTED_AFTER);
});

function countLists(all: readonly Entry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (kind: ChosenList["kind"], value?: string) => {
    const key = keyOfList({ kind, value });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const { item } of all) {
    // The list of recently changed Items always has its maximum.
    for (const kind of FIXED_KINDS) if (kind !== "recent" && FIXED[kind].has(item)) add(kind);
    if (isActive(item)) for (const kind of VALUE_KINDS) for (const value of VALUES[kind](item)) add(kind, value);
  }
  return counts;
}
