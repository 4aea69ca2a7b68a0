import type { Manifest, Part, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { tryBucket } from "../buckets/calls.ts";
import { contentsOfPart } from "./contents.ts";
import { areOfOneDay, cutGroups, cutItems, cutRows, PART_MAX } from "./cut.ts";
import type { BackupStore } from "./load.ts";
import { type OpenManifest, presentManifest } from "./manifest.ts";
import { manifestKey, partKey } from "./object-keys.ts";
import { presentPart, sha256 } from "./part.ts";
import { partOf, piecesOf, type RowUnit } from "./units.ts";

/** Writes the objects of a backup. */

/** The backup that parts are written for. */
export interface Writing {
  readonly store: Pick<BackupStore, "backups">;
  /** The id of the vault, or `REGISTRY`. */
  readonly vault: string;
  readonly deployment: string;
  /** Parts of the backup before, by their hashes. They are not written again. */
  readonly previous: ReadonlyMap<string, PartRef>;
}

/** Writes a part, unless the backup before has it. `item` is the lowest Item of the part. Fails with `unavailable`. */
export async function writePart(
  { store, previous, vault, deployment }: Writing,
  part: Part,
  item?: string,
): Promise<Result<PartRef>> {
  const { text, ref } = await presentPart({ deployment, vault }, part);
  const known = previous.get(ref.sha256);
  if (known) return ok(known);
  const contents = contentsOfPart(vault, part).length;
  const written = await tryBucket(() => store.backups.put(partKey(vault, ref.sha256), text));
  if (!written.ok) return written;
  return ok({ ...ref, ...(item !== undefined && { item }), ...(contents > 0 && { contents }) });
}

/** The result of writing units. */
export interface Written<T> {
  readonly parts: readonly PartRef[];
  /** The units that wait for following units, or for the next step. */
  readonly rest: readonly T[];
}

/**
 * Writes the parts of Items whose cuts are known. Items are in the order of their ids; `before` is the id of the Item before them; `areAll` says that no
 * others follow. Writes at least one part: reading the rows may have been the last call of the step. Fails with `unavailable`.
 */
export async function writeItems(
  writing: Writing,
  items: readonly RowUnit[],
  before: string | undefined,
  areAll: boolean,
  isSpent: () => boolean = () => false,
): Promise<Result<Written<RowUnit>>> {
  const parts: PartRef[] = [];
  let [rest, last] = [items, before];
  while (parts.length === 0 || !isSpent()) {
    const count = cutItems(rest, last, areAll);
    if (count === undefined) break;
    const some = rest.slice(0, count);
    // A piece of an Item has the rows that fit: only an Item that is alone may have several.
    const pieces = count === 1 && some[0]!.characters > PART_MAX.characters ? piecesOf(some[0]!, cutRows) : [undefined];
    for (const piece of pieces) {
      const written = await writePart(writing, partOf("items", piece ? [piece] : some), some[0]!.id);
      if (!written.ok) return written;
      parts.push(written.value);
    }
    last = some.at(-1)!.id;
    rest = rest.slice(count);
  }
  return ok({ parts, rest });
}

/** Writes the parts of the log, as `writeItems`. */
export async function writeLog(
  writing: Writing,
  entries: readonly RowUnit[],
  areAll: boolean,
  isSpent: () => boolean,
): Promise<Result<Written<RowUnit>>> {
  const parts: PartRef[] = [];
  let rest = entries;
  while (parts.length === 0 || !isSpent()) {
    const count = cutGroups(rest, areOfOneDay, areAll);
    if (count === undefined) break;
    const written = await writePart(writing, partOf("log", rest.slice(0, count)));
    if (!written.ok) return written;
    parts.push(written.value);
    rest = rest.slice(count);
  }
  return ok({ parts, rest });
}

/** Writes a manifest. Returns undefined if the bucket has another one of its number. Fails with `unavailable`. */
export async function writeManifest(
  { backups, keyring }: BackupStore,
  manifest: Manifest,
): Promise<Result<OpenManifest | undefined>> {
  const { vault, number } = manifest;
  const text = await presentManifest(keyring, manifest);
  const key = manifestKey(vault, number);
  const written = await tryBucket(async () => {
    if ((await backups.put(key, text, { onlyIf: { etag: undefined } })) === "stored") return true;
    // A step that was repeated after it had written the manifest.
    const there = await (await backups.get(key))?.arrayBuffer();
    return there?.byteLength === text.length && crypto.subtle.timingSafeEqual(there, text);
  });
  if (!written.ok) return written;
  if (!written.value) return ok(undefined);
  return ok({ manifest, sha256: await sha256(text), rootKey: keyring.active.id });
}
