/** The reference model of the versions and the deleted Items of a vault (contract 14): what one client must see. */

/** How many earlier versions an Item keeps, and whether deleted Items are kept. */
export interface Kept {
  readonly versions: number;
  readonly days: number;
}

/** A content of a File. Two uploads of the same bytes are two contents. */
export interface Content {
  readonly bytes: Uint8Array;
}

/** The parts of a version that the requests determine. */
export interface Version {
  readonly title: string;
  readonly values: readonly string[];
  readonly archived: boolean;
  /** By the ids of the Files. */
  readonly files: ReadonlyMap<string, { readonly name: string; readonly content: Content }>;
}

export interface ModelItem {
  readonly id: string;
  /** The current version, or the last one of a deleted Item. */
  last: number;
  /** The kept versions, the last one too, by number. */
  versions: Map<number, Version>;
  state: "exists" | "deleted" | "destroyed";
}

/** An event, as far as the requests determine it. */
export interface ModelEvent {
  readonly type: string;
  readonly item: string | undefined;
  readonly version: number | undefined;
}

export interface Model {
  readonly items: Map<string, ModelItem>;
  readonly events: ModelEvent[];
  /** The writes to the Items. */
  writes: number;
}

export const createModel = (): Model => ({
  items: new Map(),
  events: [{ type: "vault.created", item: undefined, version: undefined }],
  writes: 0,
});

function count(model: Model, verb: string, item: string, version: number | undefined): void {
  model.writes++;
  model.events.push({ type: `item.${verb}`, item, version });
}

/** Makes a version. In: the verb of the event. */
export function addVersion(model: Model, { versions: most }: Kept, item: ModelItem, next: Version, verb = "updated"): void {
  item.last += 1;
  item.state = "exists";
  item.versions.set(item.last, next);
  trim(item, most + 1);
  count(model, verb, item.id, item.last);
}

/** Drops the oldest versions. */
function trim(item: ModelItem, most: number): void {
  item.versions = new Map([...item.versions].toSorted(([a], [b]) => a - b).slice(-most));
}

export function deleteItem(model: Model, { days }: Kept, item: ModelItem): void {
  item.state = days > 0 ? "deleted" : "destroyed";
  if (days === 0) item.versions.clear();
  count(model, "deleted", item.id, undefined);
}

export function destroyItem(model: Model, item: ModelItem): void {
  item.state = "destroyed";
  item.versions.clear();
  count(model, "destroyed", item.id, undefined);
}

export function destroyVersion(model: Model, item: ModelItem, version: number): void {
  item.versions.delete(version);
  count(model, "version_destroyed", item.id, version);
}

/** What the vault must count: the Items that exist, the deleted ones, and the bytes of the contents that a version has. */
export function usageOf({ items }: Model): { items: number; deleted: number; fileBytes: number; versions: number } {
  const all = [...items.values()];
  const inState = (state: ModelItem["state"]) => all.filter((item) => item.state === state);
  const contents = all.map(({ versions }) => {
    const own = [...versions.values()].flatMap(({ files }) => [...files.values()].map(({ content }) => content));
    return [...new Set(own)].reduce((sum, { bytes }) => sum + bytes.length, 0);
  });
  return {
    items: inState("exists").length,
    deleted: inState("deleted").length,
    fileBytes: contents.reduce((sum, bytes) => sum + bytes, 0),
    versions: all.reduce((sum, { versions, state }) => sum + versions.size - (state === "exists" ? 1 : 0), 0),
  };
}
