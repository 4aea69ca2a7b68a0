import type { ItemSummary } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";

/** Search over what the list has: titles, tags, user names and URLs. Values of fields are not in the page, so never searched. */

export interface Entry {
  readonly item: ItemSummary;
  /** The folded title. */
  readonly title: string;
  /** All that is searched, folded. */
  readonly text: string;
}

export function entryOf(item: ItemSummary): Entry {
  const title = foldText(item.title);
  const others = [item.username ?? "", ...item.tags, ...item.urls.map(({ href }) => href.replace(/^https?:\/\/(www\.)?/, ""))];
  return { item, title, text: [title, ...others.map(foldText)].join("\n") };
}

/** Without regard to case and accents: `e` finds `é`. */
export const foldText = (text: string): string => fold(text).normalize("NFD").replaceAll(/\p{M}/gu, "");

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
