import type { ItemSummary } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";
import { keyOfItem } from "./item-key.ts";

/** The searched data of each Item, its orders, and the search. Values of fields are not in the page, and thus never searched. */

export interface Entry {
  readonly key: string;
  readonly item: ItemSummary;
  readonly title: string;
  /** The folded title. Two of them sort like their titles, with numbers as numbers. */
  readonly titleKey: string;
  /** All that is searched, folded. */
  readonly text: string;
}

export function entryOf(item: ItemSummary): Entry {
  const title = foldText(item.title);
  const others = [item.username ?? "", ...item.tags, ...item.urls.map(({ href }) => href.replace(/^https?:\/\/(www\.)?/, ""))];
  return { key: keyOfItem(item), item, title, titleKey: orderKey(title), text: [title, ...others.map(foldText)].join("\n") };
}

/** Without regard to case and accents: `e` finds `é`. */
export function foldText(text: string): string {
  const folded = fold(text);
  // Most texts are ASCII, which has no accents: this speeds up the list of 50,000 Items.
  return ASCII.test(folded) ? folded : folded.normalize("NFD").replaceAll(/\p{M}/gu, "");
}

const ASCII = /^\p{ASCII}*$/u;

/** Puts the number of its digits before each number: "2" becomes "12", and "10" becomes "210", which is after it. */
export const orderKey = (text: string): string =>
  text.replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, "");
    return `${String.fromCodePoint(0x30 + number.length)}${number}`;
  });

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** The order of names for people: `Team 2` before `Team 10`. */
export const compareNames = (one: string, other: string): number => COLLATOR.compare(one, other);

type Order = (a: Entry, b: Entry) => number;

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const byTitle: Order = (a, b) => compareTexts(a.titleKey, b.titleKey) || compareTexts(a.key, b.key);
/** The Item that was changed last comes first. */
export const byChanged: Order = (a, b) => compareTexts(b.item.updatedAt, a.item.updatedAt) || byTitle(a, b);
const byCreated: Order = (a, b) => compareTexts(b.item.createdAt, a.item.createdAt) || byTitle(a, b);

export const ORDERS = {
  title: { label: "Alphabetical", compare: byTitle },
  changed: { label: "Last changed first", compare: byChanged },
  created: { label: "Newest first", compare: byCreated },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly compare: Order }>>;

export type OrderName = keyof typeof ORDERS;

/** Returns the position of an entry in a sorted list, or its insertion point. */
function positionOf(sorted: readonly Entry[], entry: Entry, compare: Order): number {
  let [from, until] = [0, sorted.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if (compare(sorted[middle]!, entry) < 0) from = middle + 1;
    else until = middle;
  }
  return from;
}

/** Returns a new sorted list with one entry replaced. `undefined` stands for no entry. */
export function replaceEntry(
  sorted: readonly Entry[],
  before: Entry | undefined,
  after: Entry | undefined,
  compare: Order,
): readonly Entry[] {
  const result = before ? sorted.toSpliced(positionOf(sorted, before, compare), 1) : [...sorted];
  if (after) result.splice(positionOf(result, after, compare), 0, after);
  return result;
}

/** Returns the rank of an entry, by the place of the first word in its title. `laterWord` is the word after a space. 0 is best. */
const rankOf = ({ title }: Entry, word: string, laterWord: string): 0 | 1 | 2 | 3 =>
  title.startsWith(word) ? 0 : title.includes(laterWord) ? 1 : title.includes(word) ? 2 : 3;

/** Returns the entries that contain every word of the query, the best first. Entries of one rank keep their order. */
export function search(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = foldText(query).split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return entries;
  const laterWord = ` ${first}`;
  const ranked: [Entry[], Entry[], Entry[], Entry[]] = [[], [], [], []];
  for (const entry of entries)
    if (words.every((word) => entry.text.includes(word))) ranked[rankOf(entry, first, laterWord)].push(entry);
  return ranked.flat();
}
