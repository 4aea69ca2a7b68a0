import type { Manifest, Part, PartRef } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import type { ObjectHead } from "../buckets/bucket.ts";
import { listAll, tryBucket } from "../buckets/calls.ts";
import { contentKey } from "../contents/object-keys.ts";
import { contentsOfPart } from "./contents.ts";
import { type BackupStore, loadPart } from "./load.ts";
import { backupContent, partKey } from "./object-keys.ts";
import { readPart } from "./part.ts";
import { unitsOfPart } from "./units.ts";

/**
 * Deletes the parts of a vault that no kept manifest names, and with each the contents that no kept part names. A content is copied after a
 * part that names it is in the bucket. So every content is deleted with the last part that names it, even if its backup was never finished.
 */

/** A part of a kept manifest whose rows name contents. The ids of its Items begin at `item` and are below `end`. */
interface KeptPart extends Pick<PartRef, "sha256" | "bytes" | "rows"> {
  readonly item: string;
  readonly end: string | null;
}

/** The objects that the kept manifests of a vault name: plain data. */
export interface KeptParts {
  readonly deployment: string;
  /** The hashes of all parts. */
  readonly named: readonly string[];
  readonly withContents: readonly KeptPart[];
}

export const NOTHING_KEPT: KeptParts = { deployment: "", named: [], withContents: [] };

/** Adds a manifest. The newest ones are added first: they have most contents of an older part. */
export function addManifest(kept: KeptParts, { deployment, parts }: Manifest): KeptParts {
  const known = new Set(kept.named);
  const added = parts.filter(({ sha256 }) => !known.has(sha256));
  const ends = new Map(
    parts.map(({ sha256, item }, index) => [sha256, parts.slice(index).find((one) => one.item !== item)?.item]),
  );
  const withContents = added.flatMap(({ sha256, bytes, rows, contents, item = "" }) =>
    contents === undefined ? [] : [{ sha256, bytes, rows, item, end: ends.get(sha256) ?? null }],
  );
  return {
    deployment,
    named: [...kept.named, ...added.map(({ sha256 }) => sha256)],
    withContents: [...kept.withContents, ...withContents],
  };
}

/** A younger part may belong to a backup whose manifest the operator has not uploaded yet. */
const YOUNG_MS = DAY;

/** Deletes some parts, at least one. Returns true if parts to delete are left. Fails with `unavailable`. */
export async function sweepParts(
  store: BackupStore,
  vault: string,
  kept: KeptParts,
  isSpent: () => boolean,
): Promise<Result<boolean>> {
  const { backups, now } = store;
  const listed = await tryBucket(() => listAll(backups, partKey(vault, "")));
  if (!listed.ok) return listed;
  const named = new Set(kept.named.map((sha256) => partKey(vault, sha256)));
  const unnamed = listed.value.filter(({ key, uploaded }) => !named.has(key) && uploaded.getTime() < now - YOUNG_MS);
  for (const [index, object] of unnamed.entries()) {
    if (index > 0 && isSpent()) return ok(true);
    const deleted = await deletePart(store, vault, object, kept);
    if (!deleted.ok) return deleted;
  }
  return ok(false);
}

/** Deletes a part, after the contents that only it names. */
async function deletePart(
  { backups }: BackupStore,
  vault: string,
  { key }: ObjectHead,
  { deployment, withContents }: KeptParts,
): Promise<Result<undefined>> {
  const text = await tryBucket(async () => (await backups.get(key))?.text());
  if (!text.ok) return text;
  // Nobody has authenticated the part, so one that is none names nothing.
  const part = readPart(text.value ?? "") ?? { tables: [] };
  const ids = unitsOfPart("items", part).map(({ id }) => id);
  let contents = contentsNamedIn(vault, part);
  for (const ref of withContents.filter(({ item, end }) => ids.some((id) => id >= item && (end === null || id < end)))) {
    if (contents.size === 0) break;
    const loaded = await loadPart(backups, { vault, deployment }, ref);
    if (!loaded.ok && loaded.failure.kind === "unavailable") return loaded;
    // The contents named by an unreadable kept part are unknown. No content is deleted then.
    contents = loaded.ok ? contents.difference(contentsNamedIn(vault, loaded.value)) : new Set();
  }
  return tryBucket(async () => {
    if (contents.size > 0) await backups.delete([...contents].map(backupContent));
    await backups.delete([key]);
    return undefined;
  });
}

const contentsNamedIn = (vault: string, part: Part): ReadonlySet<string> => new Set(contentsOfPart(vault, part).map(contentKey));
