import type { Finding } from "./finding.ts";

/**
 * The format of backups (decision 0033). A backup of a vault, which the API calls a snapshot, is a manifest and the parts that it
 * names. The backups of a vault are numbered, and each manifest has the hash of the one before it: they form a chain. A part holds rows
 * as D1 has them: every text of a user is sealed. The registry is the backup of what belongs to no vault: proofs of root keys, names of
 * tokens and the admin's log. It also names the backup of each vault that belongs to it.
 */

/** A release that changes the format increments it, and reads the earlier ones. */
export const BACKUP_FORMAT = 1;

/** The `vault` of the registry's manifests. No vault has this id. */
export const REGISTRY = "00000000-0000-0000-0000-000000000000";

/** A value of a row. */
export type Cell = string | number | null;

/** Rows of one table: the values of each row in the order of `columns`. */
export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** What a part contains. */
export interface Part {
  /** Items whose rows in earlier parts do not count any more. Their rows are in this part and the following ones, if they have any. */
  readonly replaces: readonly string[];
  /** No row is in two of the parts that count, except entries of the log, which are the same then. Webhooks are in the last part. */
  readonly tables: readonly TableRows[];
}

/** What a manifest says of a part. */
export interface PartRef {
  /** SHA-256 of the text of the part, in hexadecimal: also its name. */
  readonly sha256: string;
  /** Bytes of the text. */
  readonly bytes: number;
  readonly rows: number;
}

/** Which backup of a vault belongs to a registry. */
export interface VaultBackupRef {
  readonly vault: string;
  readonly number: number;
  /** SHA-256 of the text of the manifest, in hexadecimal. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: number;
  /** The id of the deployment (table `deployment`). */
  readonly deployment: string;
  /** The id of the vault, or `REGISTRY`. */
  readonly vault: string;
  /** 1 for the first backup of the vault. */
  readonly number: number;
  /** SHA-256 of the manifest with the number before, in hexadecimal; `null` for the first. */
  readonly predecessor: string | null;
  /** When the backup was finished: Unix milliseconds. */
  readonly at: number;
  /** The backup has the entries of reads and denials that were in the log until then: Unix milliseconds; absent in the registry. */
  readonly logUntil?: number;
  /** The version of the schema (migrations/) that the rows have. */
  readonly schema: number;
  /** The row of the vault at the moment of the backup, by column; absent in the registry. */
  readonly row?: Readonly<Record<string, Cell>>;
  /** The parts in the order in which they apply. The first ones may be those of earlier backups. */
  readonly parts: readonly PartRef[];
  /** How many of the first parts were read when the vault was last read wholly: the others have what changed since. */
  readonly base: number;
  /** The contents that rows name and that FILES did not have, as `contentKey`; absent where there are none. */
  readonly missing?: readonly string[];
  /** The rows that did not open when they were read; absent where there are none. */
  readonly broken?: readonly Finding[];
  /** Only in the registry. */
  readonly snapshots?: readonly VaultBackupRef[];
  /** Only in the registry: the ids of the root keys without which it, or a backup that it names, does not open. */
  readonly rootKeys?: readonly string[];
}
