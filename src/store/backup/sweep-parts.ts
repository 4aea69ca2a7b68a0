import type { Manifest, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import type { ObjectHead } from "../buckets/bucket.ts";
import { listAll, tryBucket } from "../buckets/calls.ts";
import { contentKey } from "../contents/object-keys.ts";
import { contentsOfPart } from "./contents.ts";
import { loadPart } from "./load.ts";
import { backupContent, partKey } from "./object-keys.ts";
import { readPart } from "./part.ts";
import type { BackupStore } from "./ports.ts";

/**
 * Deletes the parts of a vault that no kept manifest names, and with each the contents that no kept part names. A content is copied when a part
 * that names it is in the bucket, so every content goes with the last part that names it, also one of a backup that was never finished.
 */

/** A younger part may belong to a backup whose manifest the operator has not uploaded yet. */
const YOUNG_MS = DAY;

/** Out: whether parts are left that have to go. In: the kept manifests of the vault. Errors: `unavailable`. */
export async function sweepParts(
  store: BackupStore,
  vault: string,
  kept: readonly Manifest[],
  isSpent: () => boolean,
): Promise<Result<boolean>> {
  const { backups, now } = store;
  const listed = await tryBucket(() => listAll(backups, partKey(vault, "")));
  if (!listed.ok) return listed;
  const named = new Map(kept.flatMap(({ parts }) => parts.map((part) => [partKey(vault, part.sha256), part] as const)));
  const unnamed = listed.value.filter(({ key, uploaded }) => !named.has(key) && uploaded.getTime() < now - YOUNG_MS);
  const withContents = [...named.values()].filter(({ contents }) => contents !== undefined);
  const cache = new Map<string, ReadonlySet<string>>();
  for (const [index, object] of unnamed.entries()) {
    if (index > 0 && isSpent()) return ok(true);
    const deleted = await deletePart(store, { vault, object, withContents, cache, owner: kept[0] });
    if (!deleted.ok) return deleted;
  }
  return ok(false);
}

interface Unnamed {
  readonly vault: string;
  readonly object: ObjectHead;
  /** The kept parts whose rows name contents, and the contents of those that were loaded, by their hashes. */
  readonly withContents: readonly PartRef[];
  readonly cache: Map<string, ReadonlySet<string>>;
  readonly owner: Manifest | undefined;
}

/** Deletes a part, after the contents that only it names. */
async function deletePart(
  store: BackupStore,
  { vault, object, withContents, cache, owner }: Unnamed,
): Promise<Result<undefined>> {
  const { backups } = store;
  const text = await tryBucket(async () => (await backups.get(object.key))?.text());
  if (!text.ok) return text;
  let contents = contentsNamedIn(vault, text.value ?? "");
  for (const ref of withContents) {
    if (contents.size === 0) break;
    const known = cache.get(ref.sha256);
    if (!known) {
      const part = await loadPart(backups, { vault, deployment: owner!.deployment }, ref);
      // Of a kept part that does not open it is unknown what it names: then no content is deleted.
      if (!part.ok && part.failure.kind === "unavailable") return part;
      if (!part.ok) contents = new Set();
      else cache.set(ref.sha256, new Set(contentsOfPart(vault, part.value).map(contentKey)));
    }
    contents = contents.difference(cache.get(ref.sha256) ?? new Set());
  }
  return tryBucket(async () => {
    if (contents.size > 0) await backups.delete([...contents].map(backupContent));
    await backups.delete([object.key]);
    return undefined;
  });
}

/** The contents that the rows of a part name. Nobody has authenticated it, so a part that is none names nothing. */
function contentsNamedIn(vault: string, text: string): ReadonlySet<string> {
  const part = readPart(text);
  return new Set(part ? contentsOfPart(vault, part).map(contentKey) : []);
}
