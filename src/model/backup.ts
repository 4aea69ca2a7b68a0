import type { Finding } from "./finding.ts";
import { NIL_ID } from "./ids.ts";

/**
 * The format of backups (decision 0033). A backup of a vault, which the API calls a snapshot, is a manifest and the parts that it
 * names: all rows of the vault. The backups of a vault are numbered, and each manifest has the hash of the one before it: they form a chain. A part
 * has the name of its hash and depends on its rows alone, so that backups share the parts that did not change. It holds rows as D1 has them: every text of a user is sealed. The registry is the backup of what belongs to no vault: proofs of root keys, names of
 * tokens and the admin's log. It also names the backup of each vault that belongs to it.
 */

/** A release that changes the format increments it, and reads the earlier ones. */
export const BACKUP_FORMAT = 1;

/** The `vault` of the registry's manifests. No vault has this id. */
export const REGISTRY = NIL_ID;

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const KEY = new RegExp(`^(?:vaults/${ID}/(?:[0-9]{8}\\.manifest|parts/(?<hash>[0-9a-f]{64}))|contents/${ID}/${ID}/${ID})$`);

/** Whether a text is the key of a manifest, a part or a content, in the bucket and as a path of a folder. */
export const isBackupKey = (key: string): boolean => KEY.test(key);

/** The SHA-256 of an object, in hexadecimal, where its key names it. */
export const hashInKey = (key: string): string | undefined => KEY.exec(key)?.groups?.["hash"];

/** A value of a row. */
export type Cell = string | number | null;

/** Rows of one table: the values of each row in the order of `columns`. */
export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** What a part contains: all rows of some Items, a day of the log or a piece of it, or what else belongs to a vault or to none. */
export interface Part {
  readonly tables: readonly TableRows[];
}

/** The most rows that do not open, and the most contents that are missing, of which a manifest names a part each. */
export const NAMED_MAX = 50;

/** What a manifest says of a part. */
export interface PartRef {
  /** SHA-256 of the text of the part, in hexadecimal: also its name. */
  readonly sha256: string;
  /** Bytes of the text. */
  readonly bytes: number;
  readonly rows: number;
  /** The lowest id of the Items whose rows the part has; absent in a part without Items. An Item that fills several parts is in no other one. */
  readonly item?: string;
  /** How many contents its rows name; absent where they name none. */
  readonly contents?: number;
  /** Those of them that FILES did not have, as `contentKey`: at most `NAMED_MAX`; absent where there are none. */
  readonly missing?: readonly string[];
  /** Its rows that did not open when it was written: at most `NAMED_MAX`; absent where all do. */
  readonly broken?: readonly Finding[];
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
  /** The version of the schema (migrations/) that the rows have. */
  readonly schema: number;
  /** The row of the vault at the moment of the backup, by column; absent in the registry. */
  readonly row?: Readonly<Record<string, Cell>>;
  /** The parts: those of Items in the order of their ids, then the others. No row is in two of them. */
  readonly parts: readonly PartRef[];
  /** What did not open of the row of the vault; absent where all did. */
  readonly broken?: readonly Finding[];
  /** Only in the registry. */
  readonly snapshots?: readonly VaultBackupRef[];
  /** Only in the registry: the ids of the root keys without which it, or a backup that it names, does not open. */
  readonly rootKeys?: readonly string[];
}

/** The rows of a backup that did not open when they were read. */
export const brokenRowsOf = ({ parts, broken = [] }: Pick<Manifest, "parts" | "broken">): readonly Finding[] => [
  ...broken,
  ...parts.flatMap((part) => part.broken ?? []),
];

/** The contents that the rows of a backup name and that FILES did not have. */
export const missingContentsOf = ({ parts }: Pick<Manifest, "parts">): readonly string[] =>
  parts.flatMap(({ missing = [] }) => missing);

/** The bytes of the texts of parts. */
export const bytesOfParts = (parts: readonly Pick<PartRef, "bytes">[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

/** The rows of parts. */
export const rowsOfParts = (parts: readonly Pick<PartRef, "rows">[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);
