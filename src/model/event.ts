/** Events (contract 15): the effects of writes to vaults, in commit order. They hold ids and versions, never a value. */

/** Effects of writes that the action of the log entry does not describe. */
export const SPECIAL_EVENTS = ["restored", "version_destroyed", "destroyed"] as const;

export type SpecialEvent = (typeof SPECIAL_EVENTS)[number];

const VERBS = { CREATE: "created", UPDATE: "updated", DELETE: "deleted" } as const;

/** Every type of event (contract 15.2). The log of a vault has no entry of its deletion. */
export const EVENT_TYPES = [
  "item.created",
  "item.updated",
  "item.deleted",
  "item.restored",
  "item.version_destroyed",
  "item.destroyed",
  "vault.created",
  "vault.updated",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The parts of a log entry that describe a write. */
interface LoggedWrite {
  readonly action: keyof typeof VERBS;
  /** The id of the Item; `null`: the write was to the vault itself. */
  readonly item: string | null;
  readonly event?: SpecialEvent | null;
}

/** Returns the type of the event of a write. `event` is the column of that name. */
export function eventType({ action, item, event }: LoggedWrite): EventType {
  // Not every combination is a type: no write gives, for example, `vault.restored`.
  return `${item === null ? "vault" : "item"}.${event ?? VERBS[action]}` as EventType;
}

/** Returns the number of the last write to a vault: every write increments one of the two versions. */
export const sequenceOf = (vault: { readonly contentVersion: number; readonly attributeVersion: number }): number =>
  vault.contentVersion + vault.attributeVersion;

/** An event (contract 15.2). */
export interface VaultEvent {
  /** The number of the write. */
  readonly sequence: number;
  /** Time of the vault's update by the write, in Unix milliseconds. */
  readonly at: number;
  /** For example `item.created`. */
  readonly type: EventType;
  /** The id of the Item; `null`: the event is about the vault itself. */
  readonly item: string | null;
  /** The version of the Item after the write, where it has one. */
  readonly version: number | null;
  /** A token's id, or `admin`. */
  readonly actor: string;
}
