import type { AssociatedData } from "../../crypto/seal.ts";

/** What the catalogue (tables.ts) tells of a table: what its columns hold, whose the rows are, and what becomes of them. */

export type Kind =
  /** A UUID, or another name of the row or of what it belongs to. */
  | "id"
  /** The id of a root key. */
  | "root key"
  /** The generation of a content in R2. */
  | "content"
  /** A word of the service, a hash or a position. */
  | "text"
  /** A blind index. */
  | "index"
  | "sealed"
  /** The list of the keys of a vault (crypto/key-list.ts). */
  | "keys"
  /** JSON objects, one a line, each with a sealed text. */
  | "lines"
  /** Unix milliseconds. */
  | "time"
  /** A number of rows, of bytes, of a version or of a write: from 0 on. */
  | "number";

/** What a column holds. With a question mark it may be NULL. */
export type ColumnKind = Kind | `${Kind}?`;

export interface Table {
  /** The primary key, in its order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** By column of kind `text` the only words that it may have. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** By sealed column the associated data of the text. In: the id of the vault or log (any text for other tables), and the row. */
  readonly associatedData?: Readonly<Record<string, (owner: string, row: never) => AssociatedData>>;
  /** By column with a blind index the sealed column that has what it is made of. */
  readonly derived?: Readonly<Record<string, string>>;
  /** Whose the rows are, by which column. Absent: the deployment's. */
  readonly owner?: { readonly vault: string } | { readonly log: string };
  /** The column with the id of the Item that a row belongs to. */
  readonly item?: string;
  readonly backup: Backup;
  readonly purge: Purge;
  /** The counters of `vaults` that its rows feed. */
  readonly counters?: readonly string[];
  /** Whether triggers count its rows in `root_key_uses`, by `root_key_id`. */
  readonly countedByRootKey?: true;
}

/** Where rows are backed up, or why not. */
export type Backup =
  | {
      /** `vault`: the parts of the vault's backup; `manifest`: its manifest; `registry`: the backup of what belongs to no vault. */
      readonly in: readonly ("vault" | "manifest" | "registry")[];
      /** Columns that the backup does not have. */
      readonly without?: readonly string[];
    }
  | { readonly not: string };

/** When rows are deleted, besides by requests. */
export interface Purge {
  /** With their vault: in the batch that deletes it, or afterwards in slices (commit/deleted-vaults.ts). */
  readonly withVault?: "batch" | "slices";
  /** After a time. */
  readonly after?: string;
  /** Never, and why. */
  readonly never?: string;
}
