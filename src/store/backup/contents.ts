import type { Part } from "../../model/backup.ts";
import type { ContentAddress } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { contentKey } from "../contents/object-keys.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { backupContent } from "./object-keys.ts";
import type { BackupStore } from "./ports.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Copies contents from FILES to BACKUPS. They stay sealed. Each object is copied once, because it is never overwritten. */

/** The tables whose rows name contents. */
const CONTENTS_TABLES: ReadonlySet<string> = new Set(TABLES_OF_CONTENTS.map(({ name }) => name));

/** The contents that the rows of a part name, each once. */
export function contentsOfPart(vault: string, { tables }: Part): ContentAddress[] {
  const addresses = tables
    .filter(({ table }) => CONTENTS_TABLES.has(table))
    .flatMap(({ columns, rows }) => {
      const [item, file, generation] = ["item_id", "id", "generation"].map((column) => columns.indexOf(column));
      return rows.map((row) => ({
        vault,
        item: String(row[item!]),
        file: String(row[file!]),
        generation: String(row[generation!]),
      }));
    });
  return [...new Map(addresses.map((address) => [contentKey(address), address])).values()];
}

/** Whether a part has rows that name contents. */
export const namesContents = ({ tables }: Part): boolean => tables.some(({ table }) => CONTENTS_TABLES.has(table));

/**
 * Copies a content, unless BACKUPS has it. Out: the bytes that were copied, 0 when BACKUPS had it; `undefined` when FILES does not have
 * it. Errors: `unavailable`.
 */
function copyContent({ backups, files }: BackupStore, key: string): Promise<Result<number | undefined>> {
  return tryBucket(async () => {
    if (await backups.head(backupContent(key))) return 0;
    const object = await files.get(key);
    if (!object) return undefined;
    await backups.put(backupContent(key), { pieces: object.body, length: object.size });
    return object.size;
  });
}

/** The most contents of one call, about the most bytes of them, and the most that are copied at once. */
const COPIED_MAX = { contents: 100, bytes: 64 * 1024 * 1024, atOnce: 4 };

interface Copied {
  /** The number of contents that are done. */
  readonly done: number;
  /** The contents that FILES does not have. */
  readonly missing: readonly string[];
}

/** Copies contents in their order, up to the bounds of one call. In: their keys in FILES. Errors: `unavailable`. */
export async function copyContents(store: BackupStore, keys: readonly string[]): Promise<Result<Copied>> {
  const missing: string[] = [];
  let bytes = 0;
  let done = 0;
  while (done < keys.length && done < COPIED_MAX.contents && bytes < COPIED_MAX.bytes) {
    const group = keys.slice(done, done + COPIED_MAX.atOnce);
    const copied = await Promise.all(group.map((key) => copyContent(store, key)));
    for (const [index, result] of copied.entries()) {
      if (!result.ok) return result;
      if (result.value === undefined) missing.push(group[index]!);
      bytes += result.value ?? 0;
    }
    done += group.length;
  }
  return ok({ done, missing });
}
