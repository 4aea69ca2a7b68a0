import { performance } from "node:perf_hooks";
import type { Item, ItemSummary, Token, Vault } from "@item-vault/client";
import { fold } from "@item-vault/model/fold";
import { codeOfField } from "@item-vault/model/totp";
import type { Sealer } from "./seal.ts";

/**
 * The local copy: the service's answers for one token, in the token's dialect. Ids that are keys are canonical UUIDs. The texts of Items and
 * the contents of Files are sealed in memory too. Summaries are not, because filters read all of them.
 */

/** A moment on the clock of the wall (Unix milliseconds) and on one that never goes back (milliseconds). */
export interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

export const momentNow = (): Moment => ({ wall: Date.now(), monotonic: performance.now() });

/**
 * Returns the milliseconds since a moment: the larger value of both clocks, because one can be set back and the other stops with the machine.
 */
export const ageOf = ({ wall, monotonic }: Moment): number => Math.max(0, Date.now() - wall, performance.now() - monotonic);

/** The moment as the wall clock dates it now, in Unix milliseconds: now minus the age. */
export const wallTimeOf = (moment: Moment): number => Math.floor(Date.now() - ageOf(moment));

/** The content of a File, with the headers that the service sent with it. */
export interface HeldContent {
  readonly etag: string;
  readonly disposition: string;
  readonly sealed: Buffer;
}

export interface HeldItem {
  readonly id: string;
  /** The header `ETag`, with its quotes. */
  readonly etag: string;
  /** The JSON of the Item. */
  readonly sealed: Buffer;
  readonly summary: ItemSummary;
  /** The JSON of the summary. */
  readonly text: string;
  /** The title as references compare it. */
  readonly folded: string;
  /** By the ids of the Files. */
  readonly contents: ReadonlyMap<string, HeldContent>;
}

/** A reading of all Items of a vault that has not ended. */
interface Fill {
  /** The position in the events before the first Item was read, and the moment of that position. */
  readonly cursor: string;
  readonly began: Moment;
  /** The ids of the Items that were read. */
  readonly read: Set<string>;
}

export interface HeldVault {
  readonly id: string;
  row: Vault;
  /** The position in the events of the vault up to which the Items are read; absent until all of them were read. */
  cursor: string | undefined;
  fill: Fill | undefined;
  /** Time at which the service last confirmed that nothing is newer than the copy. */
  confirmed: Moment | undefined;
  /** Time of the last write of a client to the vault through this process. */
  written: number | undefined;
  readonly items: Map<string, HeldItem>;
  /** Items that the service could not decrypt: it answers requests about them itself. */
  readonly broken: Set<string>;
  /** The Items in the order of their ids; absent after a change. */
  sorted: readonly HeldItem[] | undefined;
  /** Ends the wait for events. */
  endWait: (() => void) | undefined;
}

export interface Copy {
  readonly sealer: Sealer;
  /** The token that the copy was read with, as the service describes it, and the SHA-256 of its text. */
  token: { readonly hash: string; readonly info: Token } | undefined;
  /** In the order of the service's list. */
  vaults: Map<string, HeldVault>;
  /** True if these are all vaults that the token lists. */
  isWhole: boolean;
  /** Grows with each change that has to be stored. */
  changes: number;
}

export const createCopy = (sealer: Sealer): Copy => ({
  sealer,
  token: undefined,
  vaults: new Map(),
  isWhole: false,
  changes: 0,
});

export const createVault = (id: string, row: Vault): HeldVault => ({
  id,
  row,
  cursor: undefined,
  fill: undefined,
  confirmed: undefined,
  written: undefined,
  items: new Map(),
  broken: new Set(),
  sorted: undefined,
  endWait: undefined,
});

/** Returns the context to which a sealed Item and a sealed content are bound. An `ETag` names one state of one Item or File. */
const itemContext = (vault: string, item: string, etag: string): string => JSON.stringify(["item", vault, item, etag]);
const contentContext = (vault: string, item: string, file: string, etag: string): string =>
  JSON.stringify(["content", vault, item, file, etag]);

export type ItemParts = Pick<HeldItem, "id" | "etag" | "contents">;

/** Adds or replaces an Item. `json` is its JSON; `sealed` is its sealed JSON, if it exists already. */
export function holdItem(copy: Copy, vault: HeldVault, parts: ItemParts, json: string, sealed?: Buffer): void {
  const { sections: _sections, fields: _fields, files: _files, brokenFiles: _broken, ...summary } = JSON.parse(json) as Item;
  vault.items.set(parts.id, {
    ...parts,
    ...withVaultName(summary, vault),
    sealed: sealed ?? copy.sealer.seal(json, itemContext(vault.id, parts.id, parts.etag)),
    folded: fold(summary.title),
  });
  vault.sorted = undefined;
  copy.changes++;
}

export function dropItem(copy: Copy, vault: HeldVault, id: string): void {
  if (!vault.items.delete(id)) return;
  vault.sorted = undefined;
  copy.changes++;
}

/** Replaces the attributes of a vault. Its name is in the summaries of its Items. */
export function setRow(copy: Copy, vault: HeldVault, row: Vault): void {
  const isRenamed = row.name !== vault.row.name;
  vault.row = row;
  copy.changes++;
  if (!isRenamed) return;
  for (const [id, item] of vault.items) vault.items.set(id, { ...item, ...withVaultName(item.summary, vault) });
  vault.sorted = undefined;
}

function withVaultName(summary: ItemSummary, { row }: HeldVault): Pick<HeldItem, "summary" | "text"> {
  const named = { ...summary, vault: { ...summary.vault, name: row.name } };
  return { summary: named, text: JSON.stringify(named) };
}

/** The Items of a vault in the order of their ids (contract 11.1). */
export function sortedItems(vault: HeldVault): readonly HeldItem[] {
  vault.sorted ??= [...vault.items.values()].toSorted(({ id: one }, { id: other }) => (one < other ? -1 : 1));
  return vault.sorted;
}

/** Returns an Item as the service would answer it now: with its vault's current name, and current one-time codes. */
export function openItem({ sealer }: Copy, vault: HeldVault, { id, etag, sealed }: HeldItem): Item {
  const item = JSON.parse(sealer.open(sealed, itemContext(vault.id, id, etag)).toString("utf8")) as Item;
  item.vault = { ...item.vault, name: vault.row.name };
  for (const field of item.fields) if (field.totp !== undefined) field.totp = codeOfField(field, Date.now())!;
  return item;
}

/** Returns the JSON of an Item as it was read. Throws if it cannot be decrypted. */
export const openText = (sealer: Sealer, vault: string, { id, etag }: ItemParts, sealed: Uint8Array): string =>
  sealer.open(sealed, itemContext(vault, id, etag)).toString("utf8");

export const sealContent = (
  copy: Copy,
  place: readonly [vault: string, item: string, file: string],
  etag: string,
  bytes: Buffer,
) => copy.sealer.seal(bytes, contentContext(...place, etag));

export const openContent = (
  copy: Copy,
  place: readonly [vault: string, item: string, file: string],
  content: HeldContent,
): Buffer => copy.sealer.open(content.sealed, contentContext(...place, content.etag));

/** Returns true if the copy has every Item of the vault that the service would show. An Item with a broken File is shown without the File. */
export const isComplete = ({ cursor, broken, items }: HeldVault): boolean =>
  cursor !== undefined && [...broken].every((id) => items.has(id));

/** Returns true if the copy has the writes of clients through this process. */
export const isCurrent = ({ written, confirmed }: HeldVault): boolean =>
  written === undefined || (confirmed !== undefined && confirmed.monotonic >= written);

/** Removes everything. */
export function emptyCopy(copy: Copy): void {
  copy.token = undefined;
  copy.vaults = new Map();
  copy.isWhole = false;
  copy.changes++;
}
