import type { Origin } from "./activity.ts";
import type { KeyedFile } from "./file.ts";
import { NIL_ID } from "./ids.ts";
import type { ItemInput, Edit } from "./item-input.ts";
import type { Item, Precondition } from "./item.ts";
import type { QuotaChange, NamedVault } from "./vault.ts";

/**
 * The newest format of operations that the coordinators of this release accept. A release that adds a kind of change increments
 * the number. The release before it must already refuse that number (docs/design/writes.md).
 */
export const OPERATION_FORMAT = 1;

/** Narrows a change to a creation whose Item id the client has chosen. All other ids are random. */
export const isChosen = (change: Change): change is CreateItem => change.kind === "create-item" && change.chosen === true;

/** One write between the edge and the vault's coordinator. It is plain data, because it crosses Durable Object RPC. */
export interface Operation {
  /** `OPERATION_FORMAT` of the Worker that sends it. */
  readonly format: number;
  /** A UUIDv7, the id of the request. It is the key of the log entry, so the operation takes effect once. */
  readonly id: string;
  readonly vault: string;
  /** The actor: the token's id, the rule of a workload's token, or one of `WITHOUT_TOKEN`. */
  readonly actor: string;
  /** The token, with its hash (crypto/token.ts), which the coordinator compares with the token's row; `undefined` for an actor without one. */
  readonly token: { readonly id: string; readonly hash: string } | undefined;
  /** Bytes of the request's body: the memory that the waiting operation takes. */
  readonly size: number;
  readonly origin: Origin;
  readonly idempotency?: Idempotency | undefined;
  readonly change: Change;
}

export const ADMIN = "admin";

/** The actor of the service's own writes, for example when the coordinator destroys Items past their retention. */
export const SERVICE = "service";

/** The actors that have no token, so that none is looked for. Every other actor is the id of a token. */
export const WITHOUT_TOKEN: ReadonlySet<string> = new Set([ADMIN, SERVICE]);

/** Returns an operation without a request, a token or an origin. `actor` is one of `WITHOUT_TOKEN`. */
export const withoutRequest = (actor: string, operation: Pick<Operation, "id" | "vault" | "change">): Operation => ({
  ...operation,
  format: OPERATION_FORMAT,
  actor,
  token: undefined,
  size: 0,
  origin: { userAgent: "", requestIp: "" },
});

export interface Idempotency {
  /** A hash of the Idempotency-Key and its owner. */
  readonly key: string;
  /** A hash of method, path and body. */
  readonly request: string;
}

/** A change of an Item, for each kind. */
type OfItem<K extends string, More = unknown> = K extends string ? { readonly kind: K; readonly item: string } & More : never;
type IfMatch = { readonly ifMatch?: Precondition | undefined };
type Quotas = { readonly quota?: QuotaChange | undefined };

/** `chosen`: the client has chosen the id (contract 10.23). */
type CreateItem = OfItem<"create-item", { readonly input: ItemInput; readonly chosen?: true | undefined }>;

export type Change =
  | CreateItem
  | OfItem<"replace-item", IfMatch & { readonly input: ItemInput }>
  | OfItem<"patch-item", IfMatch & { readonly edits: readonly Edit[] }>
  | OfItem<"delete-item" | "archive-item" | "unarchive-item", IfMatch>
  | OfItem<"add-file", IfMatch & { readonly file: KeyedFile }>
  | OfItem<"replace-content", IfMatch & { readonly file: NewContent }>
  | OfItem<"delete-file", IfMatch & { readonly file: string }>
  | OfItem<"restore-version", IfMatch & { readonly version: number }> // the version becomes the content of a new version
  | OfItem<"destroy-version", { readonly version: number }>
  /** The service itself sends `expire-item`: it prunes the Item to VERSIONS_KEPT and DELETED_RETENTION_DAYS. */
  | OfItem<"restore-item" | "destroy-item" | "expire-item">
  | ({ readonly kind: "create-vault"; readonly name: string; readonly description: string } & Quotas)
  | ({ readonly kind: "update-vault"; readonly name?: string | undefined; readonly description?: string | undefined } & Quotas)
  | { readonly kind: "renew-key"; readonly replaces: string } // adds a data key, if the newest one has this id
  | { readonly kind: "delete-vault" };

/** The new content of a File that keeps its other attributes. */
export type NewContent = Pick<KeyedFile, "id" | "size" | "generation" | "key">;

/** The answer to a write: the Item or Vault after this write; empty after a deletion. */
export interface Answer {
  /** The id of the File that was written: it is among the Item's Files. */
  readonly file?: string | undefined;
  readonly item?: Item | undefined;
  /** The name of the vault of `item`, at the moment of this write. */
  readonly vaultName?: string | undefined;
  readonly vault?: NamedVault | undefined;
  /** The Item had the requested state already: nothing was written, and the log has no entry. */
  readonly unchanged?: true;
  /** The bookmark of a state of the database that has the write. */
  readonly bookmark?: string | undefined;
}

/** The last editor of an Item. */

/** The last editor of Items restored by the admin. No token has this id. */
export const RESTORED_BY_ADMIN = NIL_ID;

/** Returns the last editor of an Item for an actor. It is always an id, because clients parse it as one. */
export const editorOf = (actor: string): string => (actor === ADMIN ? RESTORED_BY_ADMIN : actor);
