import type { Origin } from "./activity.ts";
import type { KeyedFile } from "./file.ts";
import type { Item } from "./item.ts";
import type { ItemInput } from "./item-input.ts";
import type { PatchOperation } from "./patch-input.ts";
import type { Vault } from "./vault.ts";

/** One write on its way from the edge to the vault's coordinator: plain data, because it crosses Durable Object RPC. */
export interface Operation {
  /** UUIDv7; the key of the activity row, so one operation takes effect once however often it is sent. */
  readonly id: string;
  readonly vault: string;
  /** The id of the token that asks, or `admin`. */
  readonly actor: string;
  /** Bytes of the request's body: what waiting costs. */
  readonly size: number;
  readonly origin: Origin;
  readonly idempotency?: Idempotency | undefined;
  readonly change: Change;
}

export const ADMIN = "admin";

export interface Idempotency {
  /** A hash of the actor and the Idempotency-Key. */
  readonly key: string;
  /** A hash of method, path and body. */
  readonly request: string;
}

export type Change =
  | { readonly kind: "create-item"; readonly item: string; readonly input: ItemInput }
  | {
      readonly kind: "replace-item";
      readonly item: string;
      readonly input: ItemInput;
      readonly ifMatch?: Precondition | undefined;
    }
  | {
      readonly kind: "patch-item";
      readonly item: string;
      readonly operations: readonly PatchOperation[];
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
  | { readonly kind: "delete-file"; readonly item: string; readonly file: string; readonly ifMatch?: Precondition | undefined }
  | { readonly kind: "create-vault"; readonly name: string; readonly description: string }
  | { readonly kind: "update-vault"; readonly name?: string | undefined; readonly description?: string | undefined }
  | { readonly kind: "delete-vault" };

/** New content of a File that stays what it is otherwise. */
export type NewContent = Pick<KeyedFile, "id" | "size" | "generation" | "key">;

/** What a write answers: the Item or Vault as this write left it (a File is in its Item); nothing after their deletion. */
export interface Answer {
  /** The id of the File that was written. */
  readonly file?: string | undefined;
  readonly item?: Item | undefined;
  readonly vault?: Vault | undefined;
}

/** An `If-Match` or `If-None-Match` header (RFC 9110 section 13.1): any version, or one of these. */
export type Precondition = "any" | readonly number[];

/** Whether a record at this version fulfils the header. */
export const includesVersion = (header: Precondition, version: number): boolean => header === "any" || header.includes(version);
