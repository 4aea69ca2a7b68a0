import type { ContentRef, FileRecord } from "./file.ts";

/** An Item and its versions in D1, without the texts: numbers, and bytes of sealed texts. */

export interface StoredVersion {
  readonly version: number;
  readonly bytes: number;
}

/** The row of a File of the current version, or of the last version of a deleted Item. */
export interface StoredFile extends FileRecord {
  /** The first version of the Item that the row belongs to. */
  readonly since: number;
  readonly bytes: number;
}

/** The row of a File that only earlier versions have. */
export interface EndedFile extends StoredFile {
  /** The first version that the row does not belong to. */
  readonly until: number;
}

/** The deletion of an Item. Its last version is kept. */
export interface StoredDeletion {
  /** The last version of the Item. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** The id of the token. */
  readonly by: string;
}

export interface StoredItem {
  /** Absent while the Item is deleted. */
  readonly current: StoredVersion | undefined;
  /** The earlier versions that are kept, the oldest first; of a deleted Item also the last one. */
  readonly versions: readonly StoredVersion[];
  readonly files: readonly StoredFile[];
  readonly ended: readonly EndedFile[];
  readonly deleted: StoredDeletion | undefined;
}

export const NOTHING_STORED: StoredItem = { current: undefined, versions: [], files: [], ended: [], deleted: undefined };

/** Returns true if a File's row belongs to a version. */
export const isInVersion = (row: { readonly since: number; readonly until?: number }, version: number): boolean =>
  row.since <= version && version < (row.until ?? Infinity);

/** Returns the referenced contents, each once: several rows may share a content. */
export const contentsOf = ({ files, ended }: StoredItem): ReadonlyMap<string, FileRecord> =>
  new Map([...ended, ...files].map((row) => [nameOf(row), row]));

/** Returns the name of a content within its Item. */
export const nameOf = ({ id, generation }: ContentRef): string => `${id}/${generation}`;

export const isSameContent = (a: ContentRef, b: ContentRef): boolean => nameOf(a) === nameOf(b);

/** Returns a predicate for rows whose content occurs in none of `rows`. */
export const isMissingIn = (rows: readonly ContentRef[]): ((row: ContentRef) => boolean) => {
  const names = new Set(rows.map(nameOf));
  return (row) => !names.has(nameOf(row));
};

export const sealedBytesOf = ({ current, versions, files, ended }: StoredItem): number =>
  [current ? [current] : [], versions, files, ended].reduce(
    (sum, rows) => rows.reduce((part, { bytes }) => part + bytes, sum),
    0,
  );

/** Returns the bytes of the contents before sealing. */
export const contentBytesOf = (stored: StoredItem): number =>
  [...contentsOf(stored).values()].reduce((sum, { size }) => sum + size, 0);
