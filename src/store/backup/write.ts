import type { Manifest, Part, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { tryBucket } from "../buckets/calls.ts";
import { contentsOfPart } from "./contents.ts";
import { areOfOneDay, cutGroups, cutItems, PART_MAX } from "./cut.ts";
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

interface Units {
  /** The id of the unit before them, or an empty text. */
  readonly before: string;
  /** True if no units follow. */
  readonly areAll: boolean;
  readonly isSpent: () => boolean;
}

/** Parts of units, and the units that wait for those that follow, or for the next step. */
interface Written {
  readonly parts: readonly PartRef[];
  readonly rest: readonly RowUnit[];
}

/**
 * Writes the parts of Items, or of entries of the log, whose cuts are known. Units are in the order of their ids. Writes at least one part: reading the rows
 * may have been the last call of the step. Fails with `unavailable`.
 */
export async function writeUnits(
  writing: Writing,
  name: "items" | "log",
  units: readonly RowUnit[],
  { before, areAll, isSpent }: Units,
): Promise<Result<Written>> {
  const parts: PartRef[] = [];
  let [rest, last] = [units, before];
  while (parts.length === 0 || !isSpent()) {
    const count =
      name === "items" ? cutItems(rest, last === "" ? undefined : last, areAll) : cutGroups(rest, areOfOneDay, areAll);
    if (count === undefined) break;
    const some = rest.slice(0, count);
    const [first] = some as [RowUnit];
    // A piece of a unit has the rows that fit: only a unit that is alone may have several.
    const isLarge = count === 1 && first.characters > PART_MAX.characters;
    for (const group of isLarge ? piecesOf(first).map((piece) => [piece]) : [some]) {
      const written = await writePart(writing, partOf(name, group), name === "items" ? first.id : undefined);
      if (!written.ok) return written;
      parts.push(written.value);
    }
    last = some.at(-1)!.id;
    rest = rest.slice(count);
  }
  return ok({ parts, rest });
}

/** Writes a manifest. Returns undefined if the bucket has a different one of its number. Fails with `unavailable`. */
export async function writeManifest(
  { backups, keyring }: BackupStore,
  manifest: Manifest,
): Promise<Result<OpenManifest | undefined>> {
  const { vault, number } = manifest;
  const text = await presentManifest(keyring, manifest);
  const key = manifestKey(vault, number);
  const written = await tryBucket(async () => {
    if ((await backups.put(key, text, { onlyIf: { etag: undefined } })) === "stored") return true;
    // A repeated step that has already written the manifest.
    const there = await (await backups.get(key))?.arrayBuffer();
    return there?.byteLength === text.length && crypto.subtle.timingSafeEqual(there, text);
  });
  if (!written.ok) return written;
  if (!written.value) return ok(undefined);
  return ok({ manifest, sha256: await sha256(text), rootKey: keyring.active.id });
}
