import { ItemVaultError, type Item } from "@item-vault/client";
import type { ListedVersion } from "../failures/broken.ts";
import { changeWords, UNREADABLE, wordsOfFirst } from "./change-words.ts";
import { difference } from "./difference.ts";
import { compareContents, loadVersion } from "./load-version.ts";

/** Tells of the versions of a list what changed in each. It reads them, and keeps only the words. */

/** Number of versions that are requested at the same time. */
const PARALLEL = 4;

interface Told {
  /** The open Item, whose version need not be loaded. */
  readonly item: Item;
  /** The list, newest first, as far as it is loaded. */
  readonly versions: readonly ListedVersion[];
  /** Whether the service has more versions behind those. */
  readonly hasMore: boolean;
  readonly isTold: (version: number) => boolean;
  readonly tell: (version: number, words: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Tells of each version of the list that is not told yet. A version is compared with the next older one that can be read, so one that is
 * damaged or destroyed costs only itself. Each read is an entry of the activity log (contract 14.18). Errors: throws the
 * ItemVaultError of a request, or the reason of the signal; what was told until then stays.
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

/** Out: the Item as it was; words why it cannot be read. Errors: throws an ItemVaultError of what is no fault of the version. */
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
 * The contents of Files, of which each comparison is two more requests, are compared only where they may have changed: a write replaces a
 * content alone (contract 9.7), and a restore of a version with other contents is told by what else it changed.
 */
async function compare(before: Item, after: Item, signal: AbortSignal): Promise<string> {
  const rows = difference(before, after);
  const skipped = rows.length > 0 && before.version === after.version - 1;
  return changeWords(before, after, skipped ? rows : [...rows, ...(await compareContents(before, after, signal))]);
}
