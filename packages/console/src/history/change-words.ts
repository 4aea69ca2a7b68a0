import type { Item } from "@item-vault/client";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";
import type { Difference } from "./difference.ts";

/** The changes from one version to a later one, in words: the names of differing parts, and no value. */

/** The nouns of parts without a name in a difference, by the beginning of the row's key. */
const COUNTED: readonly (readonly [place: string, noun: string])[] = [
  ["sections/", "section"],
  ["urls/", "URL"],
  ["tags/", "tag"],
  ["files/", "file"],
];

const SUFFIXES: Readonly<Record<Difference["kind"], string>> = { added: " added", removed: " removed", changed: "" };

const nounOf = ({ key }: Difference): string | undefined => COUNTED.find(([place]) => key.startsWith(place))?.[1];

/** Returns the differences in words, as in `password, 2 Files added`; "" if there are none. */
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

/** Returns a sentence about the differences between two versions of an Item. */
export function changeWords(before: Item, after: Item, rows: readonly Difference[]): string {
  const since = before.version === after.version - 1 ? "" : ` since version ${before.version}`;
  if (rows.length > 0) return `Changed${since}: ${wordsOfRows(rows)}.`;
  if (before.state !== after.state) return after.state === "ARCHIVED" ? `Archived${since}.` : `Unarchived${since}.`;
  return `Nothing changed${since}.`;
}

/** Returns the words for the last version of the list, which has no predecessor there. */
export const wordsOfFirst = (version: number): string => (version === 1 ? "Created." : "The oldest retained version.");

/** Why a version cannot be compared, by the kind of failure of the request for it (contract 4.3). */
export const UNREADABLE: Readonly<Record<string, string>> = {
  integrity: "This version is damaged: its changes are unknown.",
  version_not_found: "This version was destroyed.",
};
