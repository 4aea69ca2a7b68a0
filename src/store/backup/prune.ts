import { type Manifest, REGISTRY, type Part, type PartRef } from "../../model/backup.ts";
import { firstIdAt } from "../../model/ids.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import type { ObjectHead } from "../buckets/bucket.ts";
import { deleteAll, tryBucket, listAll } from "../buckets/calls.ts";
import { contentKey } from "../contents/object-keys.ts";
import { runBatch } from "../d1/database.ts";
import { contentsOfPart } from "./contents.ts";
import { type BackupStore, listFolders, listBackupNumbers, loadManifest, loadPart } from "./load.ts";
import { backupContent, folderOf, manifestKey, partKey } from "./object-keys.ts";
import { readPart } from "./part.ts";
import { unitsOfPart } from "./units.ts";

/**
 * Deletes old backups. For each vault it deletes the manifests before the manifest that the oldest kept registry names. Then it deletes the
 * parts that no remaining manifest names, with their contents. If a kept manifest is not authentic, it deletes nothing of the vault. All
 * backups of a vault are deleted if the vault was deleted before all kept registries, even if they cannot be decrypted. The backups of a
 * vault that D1 does not know stay: a restore may have left the vault out, and they are its only copy.
 */

const PAGE_FOLDERS_MAX = 20;

/** The progress of a pruning: plain data, which the job keeps as JSON. */
export interface Pruning {
  /** The number of the oldest registry that is kept; absent before it was found. */
  readonly first?: number | undefined;
  /** The last folder that is done; empty before the first one. */
  readonly after: string;
  /** The folder to prune: the manifests before `firstKept`, then the objects that only they name. */
  readonly folder?: FolderPruning | undefined;
}

interface FolderPruning {
  readonly vault: string;
  readonly firstKept: number;
  /** The last kept manifest that was read: the newest one is the first to be read. `undefined` before it. */
  readonly read?: number | undefined;
  readonly kept: KeptParts;
}

export const PRUNING_START: Pruning = { after: "" };

/** Deletes old backups, until the step is spent. Returns `undefined` when all are done. Fails with `unavailable`. */
export async function prune(store: BackupStore, begun: Pruning, isSpent: () => boolean): Promise<Result<Pruning | undefined>> {
  if (begun.first === undefined) return findFirstKept(store, begun);
  return begun.folder ? pruneFolder(store, begun, begun.folder, isSpent) : findFolder(store, begun, begun.first, isSpent);
}

/** Returns the time, in Unix milliseconds, after which backups are kept. */
export const keptSince = ({ settings, now }: Pick<BackupStore, "settings" | "now">): number => now - settings.backupsKept * DAY;

/** Old registries that one run looks at. */
const OLD_REGISTRIES_MAX = 20;

/**
 * Finds the oldest kept registry. The newest BACKUPS_KEPT registries are kept, and all that are younger than BACKUPS_KEPT days. So several
 * backups on one day do not displace the backups of other days.
 */
async function findFirstKept(store: BackupStore, pruning: Pruning): Promise<Result<Pruning | undefined>> {
  const { backups, keyring, settings } = store;
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const old = numbers.value.slice(0, -settings.backupsKept);
  for (const number of old.slice(0, OLD_REGISTRIES_MAX)) {
    const open = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    // A registry that is no longer authentic, because its root key was removed, has the age of its object.
    const head = open.ok ? ok(undefined) : await tryBucket(() => backups.head(manifestKey(REGISTRY, number)));
    if (!head.ok) return head;
    const at = open.ok ? open.value.manifest.at : (head.value?.uploaded.getTime() ?? 0);
    if (at >= keptSince(store)) return ok({ ...pruning, first: number });
  }
  const first = old[OLD_REGISTRIES_MAX] ?? numbers.value.at(-settings.backupsKept);
  return ok(first === undefined ? undefined : { ...pruning, first });
}

/** The numbers of the backups that a registry names, by vault. */
const firstOf = ({ snapshots = [] }: Manifest): ReadonlyMap<string, number> =>
  new Map(snapshots.map(({ vault, number }) => [vault, number]));

/** Finds the next folder with objects to delete. Whole folders of deleted vaults are deleted at once. */
async function findFolder(
  store: BackupStore,
  begun: Pruning,
  first: number,
  isSpent: () => boolean,
): Promise<Result<Pruning | undefined>> {
  const { backups, keyring } = store;
  const oldest = await loadManifest(backups, keyring, { vault: REGISTRY, number: first });
  if (!oldest.ok) return oldest.failure.kind === "unavailable" ? oldest : ok(undefined);
  const page = await listFolders(backups, begun.after, PAGE_FOLDERS_MAX);
  if (!page.ok) return page;
  const { vaults, next } = page.value;
  const firstOfVaults = firstOf(oldest.value.manifest);
  // A registry that was made after the deletion of a vault does not name it. Each kept one may be younger than BACKUPS_KEPT days, as in a new service.
  const known = await loadKnown(store, vaults, Math.min(oldest.value.manifest.at, keptSince(store)));
  if (!known.ok) return known;
  let pruning = begun;
  // The registry comes last, because it names the backups of the vaults.
  for (const vault of next === undefined ? [...vaults, REGISTRY] : vaults) {
    if (pruning.after !== begun.after && isSpent()) return ok(pruning);
    const isGone = known.value.get(vault);
    if (isGone && !firstOfVaults.has(vault)) {
      const deleted = await deleteVault(store, vault);
      if (!deleted.ok) return deleted;
    } else if (isGone !== undefined || vault === REGISTRY) {
      const firstKept = vault === REGISTRY ? first : (firstOfVaults.get(vault) ?? 0);
      const numbers = await listBackupNumbers(backups, vault);
      if (!numbers.ok) return numbers;
      const hasOld = numbers.value.some((number) => number < firstKept);
      if (hasOld || isSweepDay(vault, store.now)) return ok({ ...pruning, folder: { vault, firstKept, kept: NOTHING_KEPT } });
    }
    pruning = { first, after: vault };
  }
  return ok(next === undefined ? undefined : pruning);
}

const SQL = {
  /**
   * The vaults of a list that exist, or were deleted and are not being restored. A deleted vault is gone if its log has no entry since a
   * time, not even that of a restore. ?1: their ids as a JSON array. ?2: the first id of the time.
   */
  known: `
    SELECT value AS vault,
      vaults.id IS NULL AND NOT EXISTS (SELECT 1 FROM activity WHERE vault_id = value AND activity.id >= ?2) AS isGone
    FROM json_each(?1) LEFT JOIN vaults ON vaults.id = value
    WHERE vaults.id IS NOT NULL OR (${hasDeletion("value")} AND NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = value))`,
};

/**
 * Returns the vaults that D1 knows, each with whether it was deleted before a time, in Unix milliseconds. Other vaults are missing: nothing
 * of their backups may be deleted. Fails with `unavailable`.
 */
async function loadKnown({ db }: BackupStore, vaults: readonly string[], before: number): Promise<Result<Map<string, boolean>>> {
  const bound = db.prepare(SQL.known).bind(JSON.stringify(vaults), firstIdAt(before));
  const read = await runBatch<[{ vault: string; isGone: number }]>(db, bound);
  return read.ok ? ok(new Map(read.value[0].map(({ vault, isGone }) => [vault, isGone === 1]))) : read;
}

/** Interval after which the parts of every vault are checked, even without an old backup. */
const SWEEP_DAYS = 28;

/** Returns true if it is the sweep day of a vault. `now` is in Unix milliseconds. */
const isSweepDay = (vault: string, now: number): boolean =>
  (Math.floor(now / DAY) + parseInt(vault.slice(0, 6), 16)) % SWEEP_DAYS === 0;

/** Reads the kept manifests of a folder, newest first. Deletes the other manifests, then the objects that no kept manifest names. */
async function pruneFolder(
  store: BackupStore,
  pruning: Pruning,
  begun: FolderPruning,
  isSpent: () => boolean,
): Promise<Result<Pruning | undefined>> {
  const { backups, keyring } = store;
  const { vault, firstKept } = begun;
  // The registry is the last folder.
  const next: Pruning | undefined = vault === REGISTRY ? undefined : { ...pruning, folder: undefined, after: vault };
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  let folder = begun;
  for (const number of numbers.value.filter((one) => one >= firstKept && one < (begun.read ?? Infinity)).toReversed()) {
    const open = await loadManifest(backups, keyring, { vault, number });
    if (!open.ok) return open.failure.kind === "unavailable" ? open : ok(next);
    folder = { vault, firstKept, read: number, kept: addManifest(folder.kept, open.value.manifest) };
    if (isSpent()) return ok({ ...pruning, folder });
  }
  const old = numbers.value.filter((number) => number < firstKept);
  const deleted = await tryBucket(() => backups.delete(old.map((number) => manifestKey(vault, number))));
  if (!deleted.ok) return deleted;
  const isLeft = await sweepParts(store, vault, folder.kept, isSpent);
  if (!isLeft.ok) return isLeft;
  return ok(isLeft.value ? { ...pruning, folder: { ...folder, read: 0 } } : next);
}

/** Deletes all backups of a vault. The manifests are deleted last, so that the next run finds the leftovers of a step that ends early. */
const deleteVault = ({ backups }: BackupStore, vault: string): Promise<Result<undefined>> =>
  tryBucket(async () => {
    for (const prefix of [backupContent(`${vault}/`), partKey(vault, ""), `${folderOf(vault)}/`])
      await deleteAll(backups, prefix);
    return undefined;
  });

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
interface KeptParts {
  readonly deployment: string;
  /** The hashes of all parts. */
  readonly named: readonly string[];
  readonly withContents: readonly KeptPart[];
}

const NOTHING_KEPT: KeptParts = { deployment: "", named: [], withContents: [] };

/** Adds a manifest. The newest manifests are added first: they have most contents of an older part. */
function addManifest(kept: KeptParts, { deployment, parts }: Manifest): KeptParts {
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
async function sweepParts(store: BackupStore, vault: string, kept: KeptParts, isSpent: () => boolean): Promise<Result<boolean>> {
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
  // Nobody has authenticated the part, so a malformed part names nothing.
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
