import type { SpecialEvent } from "./event.ts";

/** The activity log: actors, actions and origins in a vault. It holds ids, versions and times, never a value of an Item. */

export interface Origin {
  readonly userAgent: string;
  /** The client's address; empty where the platform gives none. */
  readonly requestIp: string;
  /** The token's id, if the actor is a workload's rule. */
  readonly token?: string | undefined;
  /** The root key that sealed the origin was removed: both texts are empty. */
  readonly unknown?: true;
}

/** The origin of an entry whose root key was removed (contract 20.6). */
export const UNKNOWN_ORIGIN: Origin = { userAgent: "", requestIp: "", unknown: true };

export const ACTIONS = ["READ", "CREATE", "UPDATE", "DELETE"] as const;

export type Action = (typeof ACTIONS)[number];

/** The subjects of entries in the admin's log. */
export const ADMIN_RESOURCES = [
  "VAULT",
  "TOKEN",
  "WEBHOOK",
  "KEY",
  "BACKUP",
  "SESSION",
  "PERSON",
  "ISSUER",
  "RULE",
  "EXCHANGE",
  "JOB",
] as const;

export type AdminResource = (typeof ADMIN_RESOURCES)[number];

export const RESULTS = ["SUCCESS", "DENY"] as const;

/** A filter of log entries (contract 13.25). An absent attribute accepts every entry. Ids are canonical UUIDs. */
export interface ActivityFilter {
  readonly actor?: string;
  readonly item?: string;
  readonly action?: Action;
  readonly result?: (typeof RESULTS)[number];
  /** Only for the admin's log: the vault of the entry. Every other log belongs to one vault. */
  readonly vault?: string;
  /** The token of the request, if the actor is a workload's rule. */
  readonly token?: string | undefined;
}

/** One entry of the log. */
export interface Activity {
  /** The request's id, a UUIDv7, which contains the time. It is also the id of a write's operation. */
  readonly id: string;
  /** The vault's id; for a list of vaults the token's id; `NOWHERE` for actions of the admin. */
  readonly log: string;
  readonly action: Action;
  readonly result: (typeof RESULTS)[number];
  /** A token's id, `admin` or `service`. */
  readonly actor: string;
  /** The Item's id; in the admin's log the id of the vault, token or webhook, where the request names or makes one. */
  readonly item: string | null;
  /** The version of the Item: after the write, or as it was read. */
  readonly version: number | null;
  /** The ids of the Items, if one request has read several. In the admin's log: the ids of the vaults granted to a session. */
  readonly items?: readonly string[] | undefined;
  /** Only for a refused exchange: the reason, as a fixed word. */
  readonly reason?: string | undefined;
  /** Only in the admin's log. */
  readonly resource?: AdminResource | null;
  /** Only of a write: its number in the order of the writes to its vault. See event.ts. */
  readonly sequence?: number | null;
  /** Only of a write: when the vault was updated by it, in Unix milliseconds. */
  readonly at?: number | null;
  /** Only for a write that its action does not describe completely. */
  readonly event?: SpecialEvent | null;
  readonly origin: Origin;
}

/** An entry that cannot be decrypted, or whose columns hold invalid values (contract 13.27). */
export interface BrokenActivity {
  readonly id: string;
  readonly log: string;
  readonly broken: "integrity";
}

export type ListedActivity = Activity | BrokenActivity;
