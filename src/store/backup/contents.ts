import type { Part } from "../../model/backup.ts";
import type { ContentAddress } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { contentKey } from "../contents/object-keys.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { backupContent } from "./object-keys.ts";
import type { BackupStore } from "./load.ts";
import { tryBucket } from "../buckets/calls.ts";

/** Copies contents from FILES to BACKUPS. They stay sealed. Each object is copied once, because it is never overwritten. */

/** The tables whose rows name contents. */
const CONTENTS_TABLES: ReadonlySet<string> = new Set(TABLES_OF_CONTENTS.map(({ name }) => name));

/** Returns the contents that the rows of a part name, each once. */
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

/** Copies a content, unless BACKUPS has it. Returns false if neither FILES nor BACKUPS has it. Fails with `unavailable`. */
function copyContent({ backups, files }: BackupStore, key: string): Promise<Result<boolean>> {
  return tryBucket(async () => {
    if (await backups.head(backupContent(key))) return true;
    const object = await files.get(key);
    if (!object) return false;
    await backups.put(backupContent(key), { pieces: object.body, length: object.size });
    return true;
  });
}

const COPIED_AT_ONCE_MAX = 4;

interface Copied {
  readonly done: number;
  /** The contents that FILES does not have. */
  readonly missing: readonly string[];
}

/** Copies contents in order, at least some, until the step is spent. `keys` are their keys in FILES. Fails with `unavailable`. */
export async function copyContents(store: BackupStore, keys: readonly string[], isSpent: () => boolean): Promise<Result<Copied>> {
  const missing: string[] = [];
  let done = 0;
  do {
    const group = keys.slice(done, done + COPIED_AT_ONCE_MAX);
    const copied = await Promise.all(group.map((key) => copyContent(store, key)));
    for (const [index, result] of copied.entries()) {
      if (!result.ok) return result;
      if (!result.value) missing.push(group[index]!);
    }
    done += group.length;
  } while (done < keys.length && !isSpent());
  return ok({ done, missing });
}
