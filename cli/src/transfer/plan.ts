import { parseId } from "../../../src/model/ids.ts";
import { derivedId } from "./build.ts";
import type { TransferItem } from "./model.ts";
import * as service from "./service.ts";
import { stepsOf } from "./steps.ts";
import type { TargetVault } from "./targets.ts";
import type { Planned } from "./write-item.ts";

/** Finds which Items of a source are in their vaults already. */

export interface PlannedItem extends Planned {
  readonly item: TransferItem;
  readonly vault: TargetVault;
}

/** What the ids of new Items are derived from, beside their ids in the source. */
export interface Origin {
  readonly format: string;
  readonly source: string;
}

/** In: the Items with their vaults. Errors: throws the ItemVaultError of a list. */
export async function planItems(
  items: readonly { item: TransferItem; vault: TargetVault }[],
  origin: Origin,
): Promise<PlannedItem[]> {
  const contents = new Map<string, Promise<VaultContent>>();
  const planned: PlannedItem[] = [];
  for (const { item, vault } of items) {
    if (!contents.has(vault.id)) contents.set(vault.id, loadContent(vault));
    const content = await contents.get(vault.id)!;
    const id = item.id ?? (item.sourceId === undefined ? undefined : derivedId(origin.format, origin.source, item.sourceId));
    const found = id === undefined ? content.alike.get(keyOfItem(item))?.shift() : content.ids.get(id);
    planned.push({ item, vault, id, found: found && { id: found.id, version: found.version ?? 1 }, steps: stepsOf(item) });
  }
  return planned;
}

interface VaultContent {
  readonly ids: ReadonlyMap<string, service.ServiceSummary>;
  /** For Items without an id in their source: each Item here stands for one of them. */
  readonly alike: ReadonlyMap<string, service.ServiceSummary[]>;
}

async function loadContent({ client, id }: TargetVault): Promise<VaultContent> {
  const summaries = await service.listItems(client, id);
  const alike = new Map<string, service.ServiceSummary[]>();
  for (const summary of summaries) {
    const key = keyOf(summary.title, summary.urls?.[0]?.href, summary.username);
    alike.set(key, [...(alike.get(key) ?? []), summary]);
  }
  return { ids: new Map(summaries.map((summary) => [parseId(summary.id)!, summary])), alike };
}

const keyOf = (title = "", url = "", username = ""): string => JSON.stringify([title, url, username]);

const keyOfItem = ({ title, urls, fields }: TransferItem): string =>
  keyOf(title, urls[0]?.href, fields.find(({ purpose }) => purpose === "USERNAME")?.value);
