import { NIL_ID } from "./ids.ts";

/**
 * The format of backups (docs/design/backups.md). A backup of a vault, which the API calls a snapshot, is a manifest and its parts: all rows of the
 * vault. The backups of a vault are numbered.
 *
 * A part is named by its hash and depends only on its rows, so backups share unchanged parts. Rows are stored as they are in D1: every text
 * of a user is sealed. The registry is the backup of data outside vaults: proofs of root keys, names of tokens and the admin's log. It names
 * the backup of each vault that belongs to it.
 */

/** A release that changes the format increments it, and reads the earlier ones. */
export const BACKUP_FORMAT = 1;

/** The `vault` of the registry's manifests. No vault has this id. */
export const REGISTRY = NIL_ID;

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const KEY = new RegExp(`^(?:vaults/${ID}/(?:[0-9]{8}\\.manifest|parts/(?<hash>[0-9a-f]{64}))|contents/${ID}/${ID}/${ID})$`);

/** Returns true if a text is the key of a manifest, a part or a content. The key is the same in the bucket and as a path in a folder. */
export const isBackupKey = (key: string): boolean => KEY.test(key);

/** Returns the SHA-256 of an object, in hexadecimal, if its key contains it. */
export const hashInKey = (key: string): string | undefined => KEY.exec(key)?.groups?.["hash"];

/** A value of a row. */
export type Cell = string | number | null;

/** Rows of one table: the values of each row in the order of `columns`. */
export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The rows of a part: all rows of some Items, a day of the log or a piece of it, or other rows of a vault or the registry. */
export interface Part {
  readonly tables: readonly TableRows[];
}

/** Missing contents that a manifest names for each part. */
export const NAMED_MAX = 50;

/** A part, as its manifest describes it. */
export interface PartRef {
  /** SHA-256 of the text of the part, in hexadecimal: also its name. */
  readonly sha256: string;
  /** Bytes of the text. */
  readonly bytes: number;
  readonly rows: number;
  /** The lowest id of the part's Items; absent without Items. An Item that fills several parts has these parts for itself. */
  readonly item?: string;
  /** Number of contents named by its rows; absent if 0. */
  readonly contents?: number;
  /** Named contents that FILES did not have, as `contentKey`: at most `NAMED_MAX`. Absent if there are none. */
  readonly missing?: readonly string[];
}

/** The backup of a vault that belongs to a registry. */
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
  /** Time of completion, in Unix milliseconds. */
  readonly at: number;
  /** The version of the schema (migrations/) that the rows have. */
  readonly schema: number;
  /** The row of the vault at the moment of the backup, by column; absent in the registry. */
  readonly row?: Readonly<Record<string, Cell>>;
  /** The parts of Items in the order of their ids, then the other parts. No row is in two parts. */
  readonly parts: readonly PartRef[];
  /** Only in the registry. */
  readonly snapshots?: readonly VaultBackupRef[];
  /** Only in the registry: ids of the root keys that decrypt the registry and the backups that it names. */
  readonly rootKeys?: readonly string[];
}

/** Returns the contents named by the rows of a backup that FILES did not have. */
export const missingContentsOf = ({ parts }: Pick<Manifest, "parts">): readonly string[] =>
  parts.flatMap(({ missing = [] }) => missing);

/** Returns the bytes of the texts of parts. */
export const bytesOfParts = (parts: readonly Pick<PartRef, "bytes">[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

export const rowsOfParts = (parts: readonly Pick<PartRef, "rows">[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);
