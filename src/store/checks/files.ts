import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { KeyedFile } from "../../model/file.ts";
import { type FileRow, openFile } from "../items/files.ts";
import type { RowInVault } from "../tables/tables.ts";
import { fault, type Fault } from "./fault.ts";

/** Checks rows of Files, of D1 or of a backup. */

export type EndedRow = RowInVault<"file_versions">;

const namedFile = (vault: string, row: FileRow | EndedRow) => ({
  vault,
  item: row.item_id,
  file: row.id,
  ...("until" in row ? { table: "file_versions", version: row.until } : { table: "files" }),
});

/** A row of a File: it opens, and its columns are those that it was sealed with. Out: the File, where it opens. */
export async function openFileRow(
  keys: VaultKeys,
  vault: string,
  row: FileRow | EndedRow,
): Promise<{ readonly file: KeyedFile | undefined; readonly faults: Fault[] }> {
  const opened = await openFile(keys, vault, row);
  if (opened.ok) return { file: opened.value, faults: [] };
  const detail = "the row does not open, or its columns are not the sealed ones";
  return { file: undefined, faults: [fault("row_unreadable", namedFile(vault, row), detail)] };
}

/** Also whether the row is for versions that the Item has. In: the last version of the Item. */
export async function checkFile(keys: VaultKeys, vault: string, last: number, row: FileRow | EndedRow): Promise<Fault[]> {
  const { faults } = await openFileRow(keys, vault, row);
  const [first, end] = [row.since, "until" in row ? row.until : last + 1];
  if (0 <= first && first < end && end <= last + 1) return faults;
  return [...faults, fault("version_wrong", namedFile(vault, row), `the row is for versions ${first} to ${end - 1} of ${last}`)];
}

/** At any version a File has at most one row (items/versions.ts). In: all rows of the Files of an Item. */
export function checkRanges(vault: string, item: string, files: readonly FileRow[], ended: readonly EndedRow[]): Fault[] {
  const ranges = [...ended, ...files.map((row) => ({ id: row.id, since: row.since, until: Infinity }))];
  return [...Map.groupBy(ranges, ({ id }) => id)].flatMap(([file, rows]) => {
    const sorted = rows.toSorted((a, b) => a.since - b.since);
    const overlaps = sorted.some(({ since }, index) => index > 0 && since < sorted[index - 1]!.until);
    const named = { vault, item, file, table: "file_versions" };
    return overlaps ? [fault("version_wrong", named, "a version of the Item has two rows of the File")] : [];
  });
}
