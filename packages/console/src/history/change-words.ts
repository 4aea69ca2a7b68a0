import type { Item } from "@item-vault/client";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";
import type { Difference } from "./difference.ts";

/** What changed from one version to a later one, in words: the names of what differs, and no value. */

/** What an Item has several of without a name in a difference, by the beginning of the row's key: its noun. */
const COUNTED: readonly (readonly [place: string, noun: string])[] = [
  ["sections/", "section"],
  ["urls/", "URL"],
  ["tags/", "tag"],
  ["files/", "file"],
];

const SUFFIXES: Readonly<Record<Difference["kind"], string>> = { added: " added", removed: " removed", changed: "" };

const nounOf = ({ key }: Difference): string | undefined => COUNTED.find(([place]) => key.startsWith(place))?.[1];

/** In: what differs, in its order. Out: `password, 2 Files added`; empty when nothing differs. */
function wordsOfRows(rows: readonly Difference[]): string {
  const groups = Map.groupBy(rows, (row) => {
    const noun = nounOf(row);
    return noun === undefined ? row.key : `${noun} ${row.kind}`;
  });
  return [...groups.values()]
    .map(([first, ...others]) => {
      const noun = nounOf(first!);
      const name = noun === undefined ? isolate(first!.name) : others.length > 0 ? plural(others.length + 1, noun) : noun;
      return `${name}${SUFFIXES[first!.kind]}`;
    })
    .join(", ");
}

/** In: two versions of an Item, and what differs between them. Out: a sentence. */
export function changeWords(before: Item, after: Item, rows: readonly Difference[]): string {
  const since = before.version === after.version - 1 ? "" : ` since version ${before.version}`;
  if (rows.length > 0) return `Changed${since}: ${wordsOfRows(rows)}.`;
  if (before.state !== after.state) return after.state === "ARCHIVED" ? `Archived${since}.` : `Unarchived${since}.`;
  return `Nothing changed${since}.`;
}

/** Of the last version of the list, which has none before it to compare it with. */
export const wordsOfFirst = (version: number): string => (version === 1 ? "Created." : "The oldest retained version.");

/** Why a version cannot be compared, by the kind of failure of the request for it (contract 4.3). */
export const UNREADABLE: Readonly<Record<string, string>> = {
  integrity: "This version is damaged: its changes are unknown.",
  version_not_found: "This version was destroyed.",
};
