import type { TransferItem } from "./item.ts";
import { inParallel } from "./pool.ts";
import type { TargetVault } from "./service.ts";
import type { Step } from "./steps.ts";
import { type Digests, type Found, isMadeBy, loadItem } from "./write-item.ts";

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
  candidates: readonly { readonly id: string }[],
  { client, id: vault }: TargetVault,
): Promise<(Found | undefined)[]> {
  const target = { client, vault };
  const loaded = await inParallel(candidates, async ({ id }) => await loadItem(target, id));
  const free = new Set(loaded.filter((one) => one !== undefined));
  const take = async (fits: (candidate: Loaded) => boolean | Promise<boolean>): Promise<Loaded | undefined> => {
    for (const candidate of free) if ((await fits(candidate)) && free.delete(candidate)) return candidate;
    return undefined;
  };
  const digests: Digests = new Map();
  const same: (Loaded | undefined)[] = [];
  for (const { steps } of wanted) same.push(await take((candidate) => isMadeBy(target, candidate, steps, digests)));
  const matched: (Found | undefined)[] = [];
  for (const [n, { item }] of wanted.entries()) {
    const found = same[n] ?? (await take((candidate) => item.tags.every((tag) => candidate.item.tags?.includes(tag))));
    matched.push(found && { id: found.id, version: found.done, differs: found !== same[n] });
  }
  return matched;
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadItem>>>;
