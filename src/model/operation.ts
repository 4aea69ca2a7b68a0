import type { Origin } from "./activity.ts";
import type { KeyedFile } from "./file.ts";
import type { Item, Precondition } from "./item.ts";
import type { ItemInput } from "./item-input.ts";
import type { Edit } from "./patch-input.ts";
import type { QuotaChange } from "./quota.ts";
import type { NamedVault } from "./vault.ts";

/**
 * The newest format of operations that the coordinators of this release accept. A release that adds a kind of change increments
 * the number. The release before it must already refuse that number (docs/decisions, 0011).
 */
export const OPERATION_FORMAT = 1;

/** Whether the client has chosen the id of the Item that the change creates. Every other one is random. */
export const isChosen = (change: Change): change is CreateItem => change.kind === "create-item" && change.chosen === true;

/** One write on its way from the edge to the vault's coordinator: plain data, because it crosses Durable Object RPC. */
export interface Operation {
  /** `OPERATION_FORMAT` of the Worker that sends it. */
  readonly format: number;
  /** A UUIDv7, the id of the request. It is the key of the log entry, so the operation takes effect once. */
  readonly id: string;
  readonly vault: string;
  /** Who acts: the token's id, that of the rule of a workload's token, or one of `WITHOUT_TOKEN`. */
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

/** The actor of what the service does by itself: the coordinator destroys what is past its retention. */
export const SERVICE = "service";

/** The actors that have no token, so that none is looked for. Every other actor is the id of a token. */
export const WITHOUT_TOKEN: ReadonlySet<string> = new Set([ADMIN, SERVICE]);

/** An operation that no request has sent: it has no token and no origin. In: one of `WITHOUT_TOKEN`. */
export const withoutRequest = (actor: string, operation: Pick<Operation, "id" | "vault" | "change">): Operation => ({
  ...operation,
  format: OPERATION_FORMAT,
  actor,
  token: undefined,
  size: 0,
  origin: { userAgent: "", requestIp: "" },
});

export interface Idempotency {
  /** A hash of the Idempotency-Key and of whose it is. */
  readonly key: string;
  /** A hash of method, path and body. */
  readonly request: string;
}

/** The counts of the Items of a vault: of those that exist, and of the deleted ones. */
export type CountedAs = "items" | "deleted";

interface CreateItem {
  readonly kind: "create-item";
  readonly item: string;
  readonly input: ItemInput;
  readonly chosen?: true | undefined; // whether the client has chosen the id (contract 10.23)
  /** The count of the vault that still has the Item, whose rows were lost (contract 21.28). */
  readonly counted?: CountedAs | undefined;
  /** Set by a restore: the Item is made also after what is left of one whose row was lost (contract 21.28). */
  readonly lost?: LostItem | undefined;
}

/** An Item of which rows may be left, and its own row was lost. */
export interface LostItem {
  /** Whether the count of Files of the vault still has its Files. */
  readonly filesCounted: boolean;
}

export type Change =
  | CreateItem
  | {
      readonly kind: "replace-item";
      readonly item: string;
      readonly input: ItemInput;
      readonly ifMatch?: Precondition | undefined;
    }
  | {
      readonly kind: "patch-item";
      readonly item: string;
      readonly edits: readonly Edit[];
      readonly ifMatch?: Precondition | undefined;
    }
  | { readonly kind: "delete-item"; readonly item: string; readonly ifMatch?: Precondition | undefined }
  | { readonly kind: "add-file"; readonly item: string; readonly file: KeyedFile; readonly ifMatch?: Precondition | undefined }
  | {
      readonly kind: "replace-content";
      readonly item: string;
      readonly file: NewContent;
      readonly ifMatch?: Precondition | undefined;
    }
  | {
      readonly kind: "restore-version";
      readonly item: string;
      /** The version that becomes the content of a new version. */
      readonly version: number;
      readonly ifMatch?: Precondition | undefined;
    }
  | { readonly kind: "destroy-version"; readonly item: string; readonly version: number }
  /** `expire-item` is of the service itself: brings what is kept within VERSIONS_KEPT and DELETED_RETENTION_DAYS. */
  | { readonly kind: "restore-item" | "destroy-item" | "expire-item"; readonly item: string }
  | { readonly kind: "archive-item" | "unarchive-item"; readonly item: string; readonly ifMatch?: Precondition | undefined }
  | { readonly kind: "delete-file"; readonly item: string; readonly file: string; readonly ifMatch?: Precondition | undefined }
  | {
      readonly kind: "create-vault";
      readonly name: string;
      readonly description: string;
      readonly quota?: QuotaChange | undefined;
    }
  | {
      readonly kind: "update-vault";
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly quota?: QuotaChange | undefined;
    }
  | { readonly kind: "reseal-vault"; readonly dataKeyId: string } // replaces the keys of this id (decision 0032)
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
  /** What `expire-item` has destroyed. */
  readonly expired?: { readonly items: number; readonly versions: number };
}
