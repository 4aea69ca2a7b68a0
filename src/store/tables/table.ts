import type { AssociatedData } from "../../crypto/seal.ts";

/** The catalogue (tables.ts) describes each table: the content of its columns, the owner of its rows, and their backup and deletion. */

export type Kind =
  /** A UUID, or another name of the row or its owner. */
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

/** The content of a column. With a question mark it may be NULL. */
export type ColumnKind = Kind | `${Kind}?`;

export interface Table {
  /** The primary key, in its order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** By column of kind `text` the only words that it may have. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** By sealed column, the associated data of the text. `owner` is the id of the vault or log, or any text for other tables. */
  readonly associatedData?: Readonly<Record<string, (owner: string, row: never) => AssociatedData>>;
  /** By column with a blind index, the sealed column from which the index is made. */
  readonly derived?: Readonly<Record<string, string>>;
  /** The column with the owner of the rows. Absent: the deployment owns them. */
  readonly owner?: { readonly vault: string } | { readonly log: string };
  /** The column with the id of the Item that a row belongs to. */
  readonly item?: string;
  readonly backup: Backup;
  readonly purge: Purge;
  /** The counters of `vaults` that its rows feed. */
  readonly counters?: readonly string[];
  /** True if triggers count its rows in `root_key_uses`, by `root_key_id`. */
  readonly countedByRootKey?: true;
}

/**
 * Returns the associated data of a sealed column: `record` is the column with the id, `version` a fixed number or the column with it.
 * `vault` is the id of the vault or log.
 */
export const textOf =
  <Id extends string, Version extends string | number>(kind: AssociatedData["kind"], record: Id, version: Version) =>
  (vault: string, row: Readonly<Record<Id, string> & Record<Extract<Version, string>, number>>): AssociatedData => ({
    kind,
    vault,
    record: row[record],
    version: typeof version === "number" ? version : row[version as Extract<Version, string>],
  });

/** The backup of the rows, or the reason why there is none. */
export type Backup =
  | {
      /** `vault`: the parts of the vault's backup. `manifest`: its manifest. `registry`: the backup of data outside vaults. */
      readonly in: readonly ("vault" | "manifest" | "registry")[];
      /** Columns that the backup does not have. */
      readonly without?: readonly string[];
    }
  | { readonly not: string };

/** The deletion of rows, other than by requests. */
export interface Purge {
  /** With their vault: in the batch that deletes it, or afterwards in slices (commit/deleted-vaults.ts). */
  readonly withVault?: "batch" | "slices";
  /** After a time. */
  readonly after?: string;
  /** Never, and why. */
  readonly never?: string;
}
