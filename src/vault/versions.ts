import {
  type EndedFile,
  isInVersion,
  isMissingIn,
  nameOf,
  type StoredFile,
  type StoredItem,
  type StoredVersion,
} from "../model/stored.ts";

/** Which rows of an Item are kept: pure functions from the rows before a write to the rows after it. */

/**
 * The rows after a write that makes `current` the current version, with the rows `files`. The version before it is kept, and so is
 * the row of each File that ended. In: how many earlier versions the Item keeps.
 */
export function addVersion(before: StoredItem, current: StoredVersion, files: readonly StoredFile[], kept: number): StoredItem {
  const versions = before.current ? [...before.versions, before.current] : before.versions;
  const ended = before.files === files ? before.ended : [...before.ended, ...endedBy(before.files, files, current.version)];
  return keepNewest({ current, versions, files, ended, deleted: undefined }, kept);
}

const endedBy = (before: readonly StoredFile[], after: readonly StoredFile[], until: number): EndedFile[] =>
  Array.from(before.filter(isMissingIn(after)), (row) => ({ ...row, until }));

/** The rows after a deletion that can be undone. The last version becomes one of the versions; the rows of its Files stay. */
export function deleteCurrent(before: StoredItem, at: number, by: string, kept: number): StoredItem {
  const { current, versions } = before;
  const deleted = { version: current!.version, at, by };
  return keepNewest({ ...before, current: undefined, versions: [...versions, current!], deleted }, kept + 1);
}

/** Drops the oldest versions, and the rows of Files that no other version needs. In: the number of versions to keep. */
export function keepNewest(stored: StoredItem, count: number): StoredItem {
  const surplus = stored.versions.length - count;
  return surplus > 0 ? withVersions(stored, stored.versions.slice(surplus)) : stored;
}

/** Drops one version. */
export const dropVersion = (stored: StoredItem, version: number): StoredItem =>
  withVersions(
    stored,
    stored.versions.filter((kept) => kept.version !== version),
  );

function withVersions(stored: StoredItem, versions: readonly StoredVersion[]): StoredItem {
  const ended = stored.ended.filter((row) => versions.some(({ version }) => isInVersion(row, version)));
  return { ...stored, versions, ended: ended.length === stored.ended.length ? stored.ended : ended };
}

/**
 * The rows of the Files after the restoration of a version: a row whose content is the same stays, and a content that only
 * the earlier version has gets a row from the new version on. In: the numbers of that version and of the new one.
 */
export function restoreFiles({ files, ended }: StoredItem, version: number, since: number): readonly StoredFile[] {
  const current = byContent(files);
  const wanted = [...files, ...ended].filter((row) => isInVersion(row, version));
  const restored = wanted.map((row) => current.get(nameOf(row)) ?? beginAt(since, row));
  return restored.length === files.length && restored.every((row) => row === current.get(nameOf(row))) ? files : restored;
}

const byContent = (rows: readonly StoredFile[]): ReadonlyMap<string, StoredFile> =>
  new Map(rows.map((row) => [nameOf(row), row]));

const beginAt = (since: number, { until: _until, ...row }: StoredFile & { readonly until?: number }): StoredFile => ({
  ...row,
  since,
});
