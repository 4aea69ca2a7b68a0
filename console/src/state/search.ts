import type { ItemSummary } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";

/** What the list keeps of each Item, its orders, and the search. Values of fields are not in the page, so never searched. */

export interface Entry {
  readonly item: ItemSummary;
  /** The folded title. */
  readonly title: string;
  /** The folded title, so that the order of two such texts is that of their titles with numbers as numbers. */
  readonly titleKey: string;
  /** All that is searched, folded. */
  readonly text: string;
}

export function entryOf(item: ItemSummary): Entry {
  const title = foldText(item.title);
  const others = [item.username ?? "", ...item.tags, ...item.urls.map(({ href }) => href.replace(/^https?:\/\/(www\.)?/, ""))];
  return { item, title, titleKey: orderKey(title), text: [title, ...others.map(foldText)].join("\n") };
}

/** Without regard to case and accents: `e` finds `é`. */
export const foldText = (text: string): string => fold(text).normalize("NFD").replaceAll(/\p{M}/gu, "");

/** Puts the number of its digits before each number: "2" becomes "12", and "10" becomes "210", which is after it. */
export const orderKey = (text: string): string =>
  text.replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, "");
    return `${String.fromCodePoint(0x30 + number.length)}${number}`;
  });

type Order = (a: Entry, b: Entry) => number;

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const byTitle: Order = (a, b) => compareTexts(a.titleKey, b.titleKey) || compareTexts(a.item.id, b.item.id);
/** The Item that was changed last comes first. */
export const byChanged: Order = (a, b) => compareTexts(b.item.updatedAt, a.item.updatedAt) || byTitle(a, b);
const byCreated: Order = (a, b) => compareTexts(b.item.createdAt, a.item.createdAt) || byTitle(a, b);

/** The orders of the list. */
export const ORDERS = {
  title: { label: "Alphabetical", compare: byTitle },
  changed: { label: "Last changed first", compare: byChanged },
  created: { label: "Newest first", compare: byCreated },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly compare: Order }>>;

export type OrderName = keyof typeof ORDERS;

/** Puts an entry into a sorted list, in place of the one with the id. In: no entry to remove that one only. Out: a new list. */
export function replaceEntry(sorted: readonly Entry[], id: string, entry: Entry | undefined, compare: Order): readonly Entry[] {
  const result = sorted.filter(({ item }) => item.id !== id);
  if (entry === undefined) return result;
  let [from, until] = [0, result.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if (compare(result[middle]!, entry) < 0) from = middle + 1;
    else until = middle;
  }
  result.splice(from, 0, entry);
  return result;
}

/** How well an entry matches, by where the first word stands. The first rule that holds counts. */
const RANKS: readonly ((entry: Entry, word: string) => boolean)[] = [
  ({ title }, word) => title.startsWith(word),
  ({ title }, word) => title.includes(` ${word}`),
  ({ title }, word) => title.includes(word),
  () => true,
];

/** The entries that contain every word of the query, the best first; those of one rank keep their order. */
export function search(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = foldText(query).split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return entries;
  const matching = entries.filter(({ text }) => words.every((word) => text.includes(word)));
  const ranked = RANKS.map((): Entry[] => []);
  for (const entry of matching) ranked[RANKS.findIndex((rule) => rule(entry, first))]!.push(entry);
  return ranked.flat();
}
