import { ItemVaultError, type Item } from "@item-vault/client";
import type { ListedVersion } from "../failures/broken.ts";
import { changeWords, UNREADABLE, wordsOfFirst } from "./change-words.ts";
import { difference } from "./difference.ts";
import { compareContents, loadVersion } from "./load-version.ts";

/** Describes the changes of each version in a list. Reads the versions, and keeps only the words. */

/** Number of versions that are requested at the same time. */
const PARALLEL = 4;

interface Told {
  /** The open Item, whose version need not be loaded. */
  readonly item: Item;
  /** The list, newest first, as far as it is loaded. */
  readonly versions: readonly ListedVersion[];
  /** True if the service has further versions. */
  readonly hasMore: boolean;
  readonly isTold: (version: number) => boolean;
  readonly tell: (version: number, words: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Describes each version of the list without a description. A version is compared with the next older readable one, so a damaged or destroyed
 * version affects only itself. Each read is an entry of the activity log (contract 14.18). Throws the ItemVaultError of a request, or the
 * reason of the signal; earlier descriptions stay.
 */
export async function tellChanges({ item, versions, hasMore, isTold, tell, signal }: Told): Promise<void> {
  const isMissing = ({ version }: ListedVersion) => !isTold(version);
  const last = versions.findLastIndex(isMissing);
  /** The version that was read last, and is to be compared with the next. */
  let newer: Item | undefined;
  for (let next = versions.findIndex(isMissing); next >= 0 && next < versions.length;) {
    // Behind the last one, until there is one to compare it with.
    const count = next > last ? 1 : Math.min(PARALLEL, last + 2 - next);
    const batch = versions.slice(next, next + count);
    for (const [index, older] of (await Promise.all(batch.map((one) => read(item, one, signal)))).entries()) {
      const { version } = batch[index]!;
      if (typeof older === "string") {
        tell(version, older);
        continue;
      }
      if (newer && !isTold(newer.version)) tell(newer.version, await compare(older, newer, signal));
      newer = older;
    }
    next += count;
    if (next > last + 1 && newer && isTold(newer.version)) return;
  }
  if (newer && !isTold(newer.version) && !hasMore) tell(newer.version, wordsOfFirst(newer.version));
}

/** Returns the earlier version, or the reason why it is unreadable. Throws an ItemVaultError that is not the version's fault. */
async function read(item: Item, { version, damaged }: ListedVersion, signal: AbortSignal): Promise<Item | string> {
  if (damaged) return UNREADABLE["integrity"]!;
  if (version === item.version) return item;
  try {
    return await loadVersion(item, version, signal);
  } catch (error) {
    const words = error instanceof ItemVaultError ? UNREADABLE[error.kind] : undefined;
    if (words === undefined) throw error;
    return words;
  }
}

/**
 * Compares two versions. Comparing the contents of a File costs two more requests, so contents are compared only where they may have changed.
 * A write replaces only a content (contract 9.7), and the restore of a version with other contents shows by its other changes.
 */
async function compare(before: Item, after: Item, signal: AbortSignal): Promise<string> {
  const rows = difference(before, after);
  const skipped = rows.length > 0 && before.version === after.version - 1;
  return changeWords(before, after, skipped ? rows : [...rows, ...(await compareContents(before, after, signal))]);
}
