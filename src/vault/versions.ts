import { type ContentRef, type KeyedFile, addressOf } from "../model/file.ts";
import {
  type EndedFile,
  isInVersion,
  isMissingIn,
  nameOf,
  type StoredFile,
  type StoredItem,
  type StoredVersion,
  contentBytesOf,
  contentsOf,
  isSameContent,
  NOTHING_STORED,
  sealedBytesOf,
} from "../model/stored.ts";
import { type CountChange, countWrite, type Vault } from "../model/vault.ts";
import type { FileChange } from "../store/commit/item-rows.ts";
import type { WorkingVault } from "./working.ts";

/** The kept rows of an Item: pure functions from the rows before a write to the rows after it. */

/**
 * Returns the rows after a write that makes `current` the current version, with the rows `files`. The version before it is kept, with the row
 * of each File that ended. `kept` is the number of earlier versions to keep.
 */
export function addVersion(before: StoredItem, current: StoredVersion, files: readonly StoredFile[], kept: number): StoredItem {
  const versions = before.current ? [...before.versions, before.current] : before.versions;
  const ended = before.files === files ? before.ended : [...before.ended, ...endedBy(before.files, files, current.version)];
  return keepNewest({ current, versions, files, ended, deleted: undefined }, kept);
}

const endedBy = (before: readonly StoredFile[], after: readonly StoredFile[], until: number): EndedFile[] =>
  Array.from(before.filter(isMissingIn(after)), (row) => ({ ...row, until }));

/** Returns the rows after a deletion that can be undone. The last version becomes an earlier version; the rows of its Files stay. */
export function deleteCurrent(before: StoredItem, at: number, by: string, kept: number): StoredItem {
  const { current, versions } = before;
  const deleted = { version: current!.version, at, by };
  return keepNewest({ ...before, current: undefined, versions: [...versions, current!], deleted }, kept + 1);
}

/** Drops the oldest versions beyond `count`, and the rows of Files that no other version needs. */
export function keepNewest(stored: StoredItem, count: number): StoredItem {
  const surplus = stored.versions.length - count;
  return surplus > 0 ? withVersions(stored, stored.versions.slice(surplus)) : stored;
}

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
 * Returns the rows of Files after the restoration of a version. A row with the same content stays. A content that only the earlier version
 * has gets a row from the new version `since` on.
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

/** Puts the rows of an Item after a write into the working copy, with the released contents and the changed rows of Files. */

/** A write to an Item, before it is put into the working copy. */
export interface StoredWrite {
  readonly item: string;
  /** The rows after the write; absent when the Item is destroyed. */
  readonly after: StoredItem | undefined;
  /** The vault after the write. */
  readonly vault: Vault;
  /** The number of bytes by which the sealed texts grow. */
  readonly grown: number;
}

/** Measures and counts a write. `after` has the rows after it. The time is in Unix milliseconds. */
export function measureWrite(
  working: WorkingVault,
  item: string,
  after: StoredItem | undefined,
  now: number,
  counts: CountChange = {},
): StoredWrite {
  const before = working.stored.get(item) ?? NOTHING_STORED;
  const next = after ?? NOTHING_STORED;
  const grown = sealedBytesOf(next) - sealedBytesOf(before);
  const sameContents = next.files === before.files && next.ended === before.ended;
  const vault = countWrite(working.vault!, now, {
    created: existing(next) * Number(!before.current && !before.deleted),
    items: existing(next) - existing(before),
    deleted: Number(next.deleted !== undefined) - Number(before.deleted !== undefined),
    files: existing(next) * next.files.length - existing(before) * before.files.length,
    fileBytes: sameContents ? 0 : contentBytesOf(next) - contentBytesOf(before),
    sealedBytes: grown,
    ...counts,
  });
  return { item, after, vault, grown };
}

const existing = ({ current }: StoredItem): number => Number(current !== undefined);

/** The rows of Files that a write inserts or changes. */
export interface FileRows {
  /** The File whose row is written, with its key. */
  readonly written?: KeyedFile | undefined;
  /** The version whose rows are restored. */
  readonly restored?: number | undefined;
}

export function putStored(working: WorkingVault, { item, after, vault }: StoredWrite, rows: FileRows = {}): void {
  const before = working.stored.get(item) ?? NOTHING_STORED;
  const next = after ?? NOTHING_STORED;
  if (next.files !== before.files || next.ended !== before.ended) {
    const remaining = contentsOf(next);
    const released = [...contentsOf(before)].filter(([name]) => !remaining.has(name));
    working.released.push(...released.map(([, row]) => addressOf(vault.id, item, row)));
    if (after) working.files.push(...fileChanges(item, before, after, rows));
  }
  working.vault = vault;
  if (after) working.stored.set(item, after);
  else working.stored.delete(item);
}

function fileChanges(item: string, before: StoredItem, after: StoredItem, { written, restored }: FileRows): FileChange[] {
  const earlier = new Set(before.ended);
  const ended = after.ended.filter((row) => !earlier.has(row));
  const added = after.files.filter(isMissingIn(before.files));
  const removed = before.files.filter(isMissingIn(after.files)).filter(({ id }) => id !== written?.id);
  const returned = added.filter(({ id }) => id !== written?.id);
  const version = after.current?.version ?? 0;
  const changes: (FileChange | false)[] = [
    ended.length > 0 && { kind: "end", item, ids: idsOf(ended), until: version },
    removed.length > 0 && { kind: "remove", item, ids: idsOf(removed) },
    returned.length > 0 && {
      kind: "return",
      item,
      rows: returned.map((row) => [row.id, untilOf(before, row, restored!)]),
      since: version,
    },
  ];
  const replaces = before.files.some(({ id }) => id === written?.id);
  const put: FileChange[] =
    written && added.some(({ id }) => id === written.id) ? [{ kind: "put", item, file: written, since: version, replaces }] : [];
  return [...changes.filter((change) => change !== false), ...put];
}

const idsOf = (rows: readonly ContentRef[]): string[] => rows.map(({ id }) => id);

/** Returns `until` of a content's row in `file_versions` at a version. Another row of the same content may be damaged. */
const untilOf = ({ ended }: StoredItem, file: ContentRef, version: number): number =>
  ended.find((row) => isSameContent(row, file) && isInVersion(row, version))!.until;
