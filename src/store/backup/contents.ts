import type { Part } from "../../model/backup.ts";
import type { ContentAddress } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { contentKey } from "../contents/object-keys.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import type { BackupStore } from "./load.ts";
import { backupContent } from "./object-keys.ts";

/** Copies contents between FILES and BACKUPS. They stay sealed. An existing content is not overwritten. */

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

/** An object of a bucket: the bucket and the key. */
type Place = readonly [bucket: Bucket, key: string];

/** Copies an object, and replaces that at the target. Returns false if the source does not exist. Throws if a bucket fails. */
export async function copyObject([from, source]: Place, [to, target]: Place): Promise<boolean> {
  const object = await from.get(source);
  if (object) await to.put(target, { pieces: object.body, length: object.size });
  return object !== undefined;
}

/** The direction of a copy. */
interface Copying {
  readonly store: Pick<BackupStore, "backups" | "files">;
  readonly to: "backups" | "files";
  /** True if nothing is copied. */
  readonly dryRun?: boolean;
  /** Returns true if the step must begin no further copy. */
  readonly isSpent: () => boolean;
}

/** Copies a content, unless the target has it. Returns false if neither bucket has it. Fails with `unavailable`. */
function copyContent({ store: { backups, files }, to, dryRun = false }: Copying, key: string): Promise<Result<boolean>> {
  const [file, copy]: [Place, Place] = [
    [files, key],
    [backups, backupContent(key)],
  ];
  const [source, target] = to === "backups" ? [file, copy] : [copy, file];
  return tryBucket(async () => {
    if (await target[0].head(target[1])) return true;
    return dryRun ? (await source[0].head(source[1])) !== undefined : copyObject(source, target);
  });
}

const COPIED_AT_ONCE_MAX = 4;

interface Copied {
  readonly done: number;
  /** The contents that neither bucket has. */
  readonly missing: readonly string[];
}

/** Copies contents in order, at least some, until the step is spent. `keys` are their keys in FILES. Fails with `unavailable`. */
export async function copyContents(copying: Copying, keys: readonly string[]): Promise<Result<Copied>> {
  const missing: string[] = [];
  let done = 0;
  do {
    const group = keys.slice(done, done + COPIED_AT_ONCE_MAX);
    const copied = await Promise.all(group.map((key) => copyContent(copying, key)));
    for (const [index, result] of copied.entries()) {
      if (!result.ok) return result;
      if (!result.value) missing.push(group[index]!);
    }
    done += group.length;
  } while (done < keys.length && !copying.isSpent());
  return ok({ done, missing });
}
