import type { TransferItem } from "./model.ts";
import { inParallel } from "./pool.ts";
import type { ServiceSummary, TargetVault } from "./service.ts";
import type { Step } from "./steps.ts";
import { type Found, isMadeBy, loadItem } from "./write-item.ts";

/** Finds the Items of a vault that stand for Items of a source without ids. */

export interface Alike {
  readonly item: TransferItem;
  readonly steps: readonly Step[];
}

/**
 * In: Items of a source, and the Items of the vault, all with the same title, first address and user name. Each Item of the
 * vault stands for one of the source: for one whose content it has, else for one whose tags it has all, else for none.
 * Out: for each Item of the source the one that stands for it, if any; `differs`: with another content.
 */
export async function matchAlike(
  wanted: readonly Alike[],
  candidates: readonly ServiceSummary[],
  { client, id: vault }: TargetVault,
): Promise<(Found | undefined)[]> {
  const loaded = await inParallel(candidates, async ({ id }) => await loadItem({ client, vault }, id));
  const free = new Set(loaded.filter((one) => one !== undefined));
  const take = (fits: (candidate: Loaded) => boolean): Loaded | undefined => {
    const found = [...free].find(fits);
    if (found) free.delete(found);
    return found;
  };
  const same = wanted.map(({ steps }) => take((candidate) => isMadeBy(candidate, steps)));
  return wanted.map(({ item: { tags } }, n) => {
    const found = same[n] ?? take(({ item }) => tags.every((tag) => item.tags?.includes(tag)));
    return found && { id: found.id, version: found.done, differs: found !== same[n] };
  });
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadItem>>>;
