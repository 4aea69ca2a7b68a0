import type { ContentRef, FileRecord } from "./file.ts";

/** What D1 holds of an Item and its versions, without the texts: numbers, and bytes of sealed texts. */

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

/** The deletion of an Item whose last version is kept. */
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

/** Whether a row of a File belongs to a version. */
export const isInVersion = (row: { readonly since: number; readonly until?: number }, version: number): boolean =>
  row.since <= version && version < (row.until ?? Infinity);

/** The contents that rows reference, each of them once: several rows may share one. */
export const contentsOf = ({ files, ended }: StoredItem): ReadonlyMap<string, FileRecord> =>
  new Map([...ended, ...files].map((row) => [nameOf(row), row]));

/** The name of a content within its Item. */
export const nameOf = ({ id, generation }: ContentRef): string => `${id}/${generation}`;

export const isSameContent = (a: ContentRef, b: ContentRef): boolean => nameOf(a) === nameOf(b);

/** Out: whether a row's content is in none of these rows. */
export const isMissingIn = (rows: readonly ContentRef[]): ((row: ContentRef) => boolean) => {
  const names = new Set(rows.map(nameOf));
  return (row) => !names.has(nameOf(row));
};

/** The bytes of all sealed texts. */
export const sealedBytesOf = ({ current, versions, files, ended }: StoredItem): number =>
  [current ? [current] : [], versions, files, ended].reduce(
    (sum, rows) => rows.reduce((part, { bytes }) => part + bytes, sum),
    0,
  );

/** The bytes of the contents, before sealing. */
export const contentBytesOf = (stored: StoredItem): number =>
  [...contentsOf(stored).values()].reduce((sum, { size }) => sum + size, 0);
