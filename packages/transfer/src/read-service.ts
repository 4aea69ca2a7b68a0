import { type Caller, entriesOf, ItemVaultError } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { sameState } from "./compare.ts";
import type { Loss, TransferFile, TransferItem, TransferState } from "./item.ts";
import { Losses } from "./losses.ts";
import { inParallel } from "./pool.ts";
import * as service from "./service.ts";
import type { ItemPath, ServiceItem, ServiceVault } from "./service.ts";

/**
 * Reads all Items of vaults from a service: from this service for an export, or from another service, even a Connect server, for an import.
 */

export interface ReadProgress {
  readonly signal?: AbortSignal | undefined;
  readonly onItem?: (done: number, all: number) => void;
  /** Number of unreadable vaults that the service's list has left out. */
  readonly unreadableVaults?: number;
}

/** Data that the service has and cannot read. A copy without it is incomplete. */
const UNREADABLE = {
  vaults: "vaults that the service cannot read, because their stored records or keys are damaged",
  items: "Items that the service cannot read, because their stored records are damaged",
  files: "Files that the service cannot read, because their stored records are damaged",
  versions: "damaged earlier versions",
};

/** Returns the number of losses caused by data that the service has and cannot read. */
export const countUnreadable = (losses: readonly Loss[]): number =>
  losses.filter(({ what }) => Object.values(UNREADABLE).includes(what)).reduce((sum, { count }) => sum + count, 0);

/** Returns the Items in the order of vaults and ids, and the losses. The contents of Files are read later. */
export async function readService(
  client: Caller,
  vaults: readonly ServiceVault[],
  { signal, onItem, unreadableVaults = 0 }: ReadProgress = {},
): Promise<{ items: TransferItem[]; losses: Losses }> {
  const losses = new Losses();
  losses.add(UNREADABLE.vaults, undefined, unreadableVaults);
  const hasVersions = (await client.call("GET /v1/vaults")).headers.has("Token-Expires"); // contract 8.11; Connect has none
  const found: { vault: ServiceVault; id: string }[] = [];
  for (const vault of vaults) {
    const { summaries, leftOut } = await service.listItems(client, vault.id);
    losses.add(UNREADABLE.items, undefined, leftOut);
    found.push(...summaries.map(({ id }) => ({ vault, id })));
  }
  let done = 0;
  const read = async ({ vault, id }: (typeof found)[number]) => {
    const item = await readItem({ client, vault, losses, hasVersions }, id);
    onItem?.(++done, found.length);
    return item;
  };
  const items = await inParallel(found, read, { signal });
  return { items: items.filter((item) => item !== undefined), losses };
}

interface Reading {
  readonly client: Caller;
  readonly vault: ServiceVault;
  readonly losses: Losses;
  readonly hasVersions: boolean;
}

/** Returns the answer, or undefined for a damaged record. A damaged record is counted under its id, because its title is unknown. */
const orDamaged = <T>(losses: Losses, what: string, name: string, answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (!(error instanceof ItemVaultError) || error.kind !== "integrity") throw error;
    losses.add(what, name);
    return undefined;
  });

/** Returns undefined for an Item that was since deleted, or is damaged. */
async function readItem(reading: Reading, id: string): Promise<TransferItem | undefined> {
  const { client, vault, losses } = reading;
  const path = { vault: vault.id, item: id };
  const read = client.call("GET /v1/vaults/{vault}/items/{item}", { path });
  const item: ServiceItem | undefined = (await service.orMissing(orDamaged(losses, UNREADABLE.items, id, read)))?.data;
  if (!item) return undefined;
  losses.add(UNREADABLE.files, item.title, item.brokenFiles?.length ?? 0);
  const plain = transferItemOf(item, vault);
  return {
    ...plain,
    files: (item.files ?? []).map((file) => fileOf(client, path, file)),
    history: await readHistory(reading, { path, item, state: plain }),
  };
}

/** Returns an Item as the formats take it, without its Files and earlier versions. Without `vault`, it names no vault. */
export function transferItemOf(item: ServiceItem, vault?: ServiceVault): TransferItem {
  const canonical = parseId(item.id);
  return {
    ...stateOf(item),
    sourceId: item.id,
    ...(canonical?.length === 36 ? { id: canonical } : {}),
    vault: vault?.name,
    ...(vault && { vaultId: parseId(vault.id) ?? vault.id }),
    archived: item.state === "ARCHIVED",
    ...(item.createdAt ? { createdAt: Date.parse(item.createdAt) } : {}),
    ...(item.updatedAt ? { updatedAt: Date.parse(item.updatedAt) } : {}),
    files: [],
    history: [],
  };
}

function fileOf(client: Caller, path: ItemPath, { id, name = "file", size = 0, section }: service.ServiceFile): TransferFile {
  const read = () => service.readContent(client, path, id);
  return { name, size, read, ...(section ? { section: section.id } : {}) };
}

/** Returns the service's earlier versions, oldest first. Versions that only changed Files or the archive are left out. */
async function readHistory(
  { client, hasVersions, losses }: Reading,
  { path, item, state }: { readonly path: ItemPath; readonly item: ServiceItem; readonly state: TransferState },
): Promise<TransferState[]> {
  if (!hasVersions || (item.version ?? 1) === 1) return [];
  const earlier: number[] = [];
  for await (const { version, current } of entriesOf(client, "GET /v1/vaults/{vault}/items/{item}/versions", { path }))
    if (!current) earlier.push(version);
  const seen = new Set([...(item.files ?? []).map((file) => file.id), ...(item.brokenFiles ?? [])]);
  const countNew = (ids: readonly string[]): number => {
    const before = seen.size;
    for (const id of ids) seen.add(id);
    return seen.size - before;
  };
  const states: TransferState[] = [];
  let kept = state;
  for (const version of earlier) {
    const read = client.call("GET /v1/vaults/{vault}/items/{item}/versions/{version}", { path: { ...path, version } });
    const past = (await service.orMissing(orDamaged(losses, UNREADABLE.versions, item.title ?? "", read)))?.data;
    if (!past) continue;
    const gone = countNew([...past.files.map(({ id }) => id), ...(past.brokenFiles ?? [])]);
    losses.add("Files that only earlier versions have", item.title, gone);
    const next: TransferState = { ...stateOf(past), changedAt: Date.parse(past.updatedAt) };
    if (!sameState(next, kept)) states.push((kept = next));
  }
  return states.toReversed();
}

export function stateOf({ title = "", category, favorite, tags, urls, sections, fields }: ServiceItem): TransferState {
  return {
    title,
    category,
    ...(favorite ? { favorite } : {}),
    tags: tags ?? [],
    urls: urls ?? [],
    sections: sections ?? [],
    fields: (fields ?? []).map(({ id, type, purpose, label, value, section }) =>
      Object.assign(
        {},
        id !== undefined && { id },
        type !== undefined && { type },
        purpose && { purpose },
        label !== undefined && { label },
        value !== undefined && { value },
        section && { section: { id: section.id } },
      ),
    ),
  };
}
