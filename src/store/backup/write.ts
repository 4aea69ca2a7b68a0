import { type Manifest, NAMED_MAX, type Part, type PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { presentPart } from "./part.ts";
import { type OpenManifest, presentManifest } from "./manifest.ts";
import { manifestKey, partKey } from "./object-keys.ts";
import { tryBucket } from "../buckets/calls.ts";
import { areOfOneDay, cutGroups, cutItems, cutRows, PART_MAX } from "./cut.ts";
import { findBroken } from "./broken.ts";
import { contentsOfPart } from "./contents.ts";
import type { BackupStore } from "./ports.ts";
import type { Slice } from "./read-rows.ts";
import { sha256 } from "./sha256.ts";
import { partOf, piecesOf, type RowUnit } from "./units.ts";

/** Writes the objects of a backup. */

/** The backup that parts are written for. */
export interface PartWriting {
  readonly store: BackupStore;
  /** The id of the vault, or `REGISTRY`. */
  readonly vault: string;
  readonly deployment: string;
  /** The parts that the backup before has, by their hashes: they are not written again. */
  readonly previous: ReadonlyMap<string, PartRef>;
}

/** The backup of a vault that parts are written for. */
export interface Writing extends PartWriting {
  /** The row of the vault, whose keys open the rows of the parts. */
  readonly row: Slice["row"];
  /** The number of the backup, which findings have. */
  readonly number: number;
}

/** Writes a part, unless the backup before has it. Errors: `unavailable`. */
export async function putPart({ store, previous, ...owner }: PartWriting, part: Part): Promise<Result<PartRef>> {
  const { text, ref } = await presentPart(owner, part);
  const known = previous.get(ref.sha256);
  if (known) return ok(known);
  const written = await tryBucket(() => store.backups.put(partKey(owner.vault, ref.sha256), text));
  return written.ok ? ok(ref) : written;
}

/**
 * Writes a part as `putPart`, and looks which of its rows open. In: the lowest Item of the part. Errors: `unavailable`.
 */
export async function writePart(writing: Writing, part: Part, item?: string): Promise<Result<PartRef>> {
  const { store, vault, previous, row, number } = writing;
  const put = await putPart(writing, part);
  if (!put.ok || previous.has(put.value.sha256)) return put;
  const ref = put.value;
  const contents = contentsOfPart(vault, part).length;
  const broken = (await findBroken(store, row, number, part)).slice(0, NAMED_MAX);
  return ok({
    ...ref,
    ...(item !== undefined && { item }),
    ...(contents > 0 && { contents }),
    ...(broken.length > 0 && { broken }),
  });
}

/** What was written of some units. */
export interface Written<T> {
  readonly parts: readonly PartRef[];
  /** The units that wait for those that follow, or for the next step. */
  readonly rest: readonly T[];
}

/**
 * Writes the parts of Items, as far as their cuts are known. In: Items in the order of their ids; the id of the Item before them; whether they
 * are all that are left; whether no part may be written after the first one. The first one is always written: reading the rows may have been
 * the last call of the step, and without a part nothing would ever be reached. Errors: `unavailable`.
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

/** Writes a manifest. Out: `undefined` when the bucket has another one of its number. Errors: `unavailable`. */
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
