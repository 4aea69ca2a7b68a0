import type { Serving } from "./serving.ts";

/** The history of a run: what the clients sent, and what they were answered. check.ts compares it with the effects. */

export type WriteKind =
  | "create"
  | "put"
  | "patch"
  | "delete"
  | "add-file"
  | "delete-file"
  | "restore-version"
  | "destroy-version"
  | "restore-item"
  | "destroy-item"
  | "archive"
  | "unarchive";

/** What a call reads: an Item, a version of it, the list of its versions, the deleted Item, or events of the vault. */
export type Read =
  | { readonly kind: "item" | "versions" | "deleted"; readonly item: string }
  | { readonly kind: "version"; readonly item: string; readonly version: number }
  | { readonly kind: "events"; readonly after: string; readonly limit: number };

/** A write: one or more requests with the same content. With an Idempotency-Key they are one write for the service too. */
export interface Write {
  readonly kind: WriteKind;
  readonly vault: string;
  /** Of a creation, the `Item-Id` that the client has chosen; else absent. */
  readonly item?: string | undefined;
  /** Unique. `create` and `put` set the content of an Item to it, `patch` appends it, and it is the name of a new File. */
  readonly value: string;
  /** The version that is restored or destroyed. */
  readonly version?: number | undefined;
  /** The File that is deleted. */
  readonly file?: { readonly id: string; readonly name: string } | undefined;
  /** Whether its requests have an Idempotency-Key, which is the value. */
  readonly keyed: boolean;
  /** `If-Match`. */
  readonly tag?: string | undefined;
  /**
   * Makes every coordinator refuse the operation or fail on it. D1 never gets a value that it would refuse when the next
   * operation of the group replaces it: then the write takes effect.
   */
  readonly spoiled?: Spoiled | undefined;
}

/** How the operations of a write are spoiled on their way, and the status that answers them. */
export type Spoiled =
  | "operation that throws"
  | "operation of a newer format"
  | "operation of a newer kind"
  | "value that D1 refuses";

/** An isolate of the Worker, which serves requests of several clients. */
export interface Isolate {
  /** When it ended, in Unix milliseconds. */
  ended: number | undefined;
  /** When each request after whose answer something is still done was served, in Unix milliseconds. */
  readonly waiting: Set<{ readonly since: number }>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** The parsed text; `undefined` when it is empty. */
  readonly body: any;
  readonly tag: string | null;
  readonly retryAfter: string | null;
  /** `Item-Vault-Error`: the kind of the failure (contract 4.3). */
  readonly failure: string | null;
  /** `Request-Id`: the id of its entry in the log. */
  readonly requestId: string;
  /** `Item-Vault-Served-By`, `Item-Vault-Age` and `Item-Vault-Bookmark` (contract 8.13, 8.14). */
  readonly servedBy: string | null;
  readonly age: string | null;
  readonly bookmark: string | null;
  /** The URL of the next page, as the header has it. */
  readonly link: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  readonly isolate: Isolate;
}

/** An answer, and what it was to serve it. */
export interface ServedReply extends Reply {
  readonly serving: Serving;
  /** Whether the body ended before it was complete. */
  readonly isCut: boolean;
  /** When its headers were there: Unix milliseconds. */
  readonly headersTime: number;
}

/** One request. */
export interface Call {
  readonly number: number;
  /** Absent for a read. */
  readonly write: Write | undefined;
  /** Absent for a write. */
  readonly read: Read | undefined;
  readonly vault: string;
  readonly item: string | undefined;
  /** The id of the token. */
  readonly actor: string;
  readonly start: number;
  end: number;
  /** Absent when the Worker ended before it answered. */
  reply: Reply | undefined;
  /** The ids of the operations that the Worker sent. */
  readonly operations: Set<string>;
}

/** A request of the admin, or of a token about tokens below it. */
export interface AdminCall {
  /** `admin`, or the id of the token. */
  readonly actor: string;
  readonly method: string;
  readonly path: string;
  readonly reply: Reply;
  /** When it was answered. */
  readonly tick: number;
}

export interface History {
  readonly calls: Call[];
  readonly adminCalls: AdminCall[];
  /** By token that another one has issued: that one. */
  readonly parents: Map<string, string>;
  /** By vault, the Items that it may have. */
  readonly quotas: Map<string, number>;
  /** How many shortages of room in D1 there were at a time, from one tick until that of the next number. */
  readonly shortages: { readonly tick: number; readonly running: number }[];
  /** How often each operation arrived at a coordinator, by its id. */
  readonly deliveries: Map<string, number>;
}
