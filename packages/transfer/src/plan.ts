import type { BrokenItem, ItemSummary } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { derivedId } from "./item-parts.ts";
import type { TransferItem } from "./item.ts";
import { inParallel } from "./pool.ts";
import * as service from "./service.ts";
import type { TargetVault } from "./service.ts";
import { stepsOf, type Step } from "./steps.ts";
import { type Planned, type Digests, type Found, isMadeBy, loadItem } from "./write-item.ts";

/** Finds which Items of a source are in their vaults already. */

export interface PlannedItem extends Planned {
  readonly item: TransferItem;
  readonly vault: service.TargetVault;
}

/** The origin from which the ids of new Items are derived, besides their ids in the source. */
export interface Origin {
  readonly format: string;
  readonly source: string;
}

/** Plans Items for their vaults. Throws the ItemVaultError of a request. */
export async function planItems(
  items: readonly { item: TransferItem; vault: service.TargetVault }[],
  origin: Origin,
): Promise<PlannedItem[]> {
  const contents = new Map<string, VaultContent>();
  for (const { vault } of items) if (!contents.has(vault.id)) contents.set(vault.id, await loadContent(vault));
  const planned = items.map(({ item, vault }): PlannedItem => {
    const { ids, taken } = contents.get(vault.id)!;
    const id = idOf(item, origin, taken);
    const found = id === undefined ? undefined : ids.get(id);
    return { item, vault, id, found: found && { id: found.id, version: found.version ?? 1 }, steps: stepsOf(item) };
  });
  const alike = new Map<PlannedItem, Planned["found"]>();
  await inParallel(groupsWithoutId(planned), async (group) => {
    const [{ item, vault }] = group;
    const candidates = contents.get(vault.id)!.alike.get(keyOfItem(item)) ?? [];
    const found = await matchAlike(group, candidates, vault);
    for (const [index, one] of group.entries()) alike.set(one, found[index]);
  });
  return planned.map((one) => (alike.has(one) ? Object.assign({}, one, { found: alike.get(one) }) : one));
}

/** Returns the id of the new Item, or undefined if the service makes one. Repeated ids of a source get further ids. `taken` gets the id. */
function idOf({ id, sourceId }: TransferItem, { format, source }: Origin, taken: Set<string>): string | undefined {
  if (id === undefined && sourceId === undefined) return undefined;
  const first = id ?? derivedId(format, source, sourceId!);
  let free = first;
  for (let number = 2; taken.has(free); number++) free = derivedId(format, source, JSON.stringify([first, number]));
  taken.add(free);
  return free;
}

function groupsWithoutId(planned: readonly PlannedItem[]): [PlannedItem, ...PlannedItem[]][] {
  const groups = new Map<string, [PlannedItem, ...PlannedItem[]]>();
  for (const one of planned) {
    if (one.id !== undefined) continue;
    const key = `${one.vault.id} ${keyOfItem(one.item)}`;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

interface VaultContent {
  readonly ids: ReadonlyMap<string, ItemSummary | BrokenItem>;
  /** By title, first address and user name. */
  readonly alike: ReadonlyMap<string, ItemSummary[]>;
  /** Ids that Items of the source have got. */
  readonly taken: Set<string>;
}

async function loadContent({ client, id }: service.TargetVault): Promise<VaultContent> {
  const { summaries } = await service.listItems(client, id);
  const alike = new Map<string, ItemSummary[]>();
  for (const summary of summaries) {
    if ("broken" in summary) continue;
    const key = keyOf(summary.title, summary.urls[0]?.href, summary.username);
    alike.set(key, [...(alike.get(key) ?? []), summary]);
  }
  return {
    ids: new Map(
      summaries.flatMap((summary) => (parseId(summary.id) === undefined ? [] : [[parseId(summary.id)!, summary] as const])),
    ),
    alike,
    taken: new Set(),
  };
}

const keyOf = (title = "", url = "", username = ""): string => JSON.stringify([title, url, username]);

const keyOfItem = ({ title, urls, fields }: TransferItem): string =>
  keyOf(title, urls[0]?.href, fields.find(({ purpose }) => purpose === "USERNAME")?.value);

/** Finds the Items of a vault that stand for Items of a source without ids. */

interface Alike {
  readonly item: TransferItem;
  readonly steps: readonly Step[];
}

/**
 * Matches Items of a source with Items of the vault that have the same title, first address and user name. Each Item of the vault stands for
 * one of the source: first by equal content, then by all tags. Returns for each Item of the source its match, if any; `differs` means other
 * content.
 */
async function matchAlike(
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
