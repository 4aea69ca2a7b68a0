import { type Manifest, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { hasDeletion } from "../activity/entry-rows.ts";
import { deleteWhere, listAll, tryBucket } from "../buckets/calls.ts";
import { runBatch } from "../d1/database.ts";
import { type BackupStore, listFolders, listBackupNumbers, loadManifest, loadNewest } from "./load.ts";
import { readDeployment } from "./manifest.ts";
import { backupContent, folderOf, INCOMING, manifestKey, manifestPrefix, partKey } from "./object-keys.ts";
import { addManifest, NOTHING_KEPT, type KeptParts, sweepParts } from "./sweep-parts.ts";

/**
 * Deletes old backups. Of each vault it deletes the manifests before the one that the oldest kept registry names, then the parts that no
 * remaining manifest names, with their contents. Where a kept manifest is not authentic, nothing is deleted. The backups of a vault that was deleted
 * go wholly when they are old enough (`isOlder`) and no kept registry names it, also those that do not open any more. Those of a vault of which D1 knows nothing stay: a restore may have left it out, and they are all that is left.
 */

/** The most folders of one call. */
const PAGE_FOLDERS_MAX = 20;

/** How far a pruning is: plain data, which the job keeps as JSON. */
export interface Pruning {
  /** The registry after which the oldest one that is kept is looked for; absent when it is known. */
  readonly looked?: number | undefined;
  /** The number of the oldest registry that is kept. */
  readonly first?: number | undefined;
  /** The last folder that is done; empty before the first one. */
  readonly after: string;
  /** The folder of which the manifests before `firstKept` go, and then what they alone name. */
  readonly folder?: FolderPruning | undefined;
}

interface FolderPruning {
  readonly vault: string;
  readonly firstKept: number;
  /** The last kept manifest that was read: the newest one is the first to be read. `undefined` before it. */
  readonly read?: number | undefined;
  readonly kept: KeptParts;
}

export const PRUNING_START: Pruning = { looked: 0, after: "" };

/** Deletes old backups, until the step is spent. Returns `undefined` when all are done. Fails with `unavailable`. */
export async function prune(store: BackupStore, begun: Pruning, isSpent: () => boolean): Promise<Result<Pruning | undefined>> {
  if (begun.looked === 0) {
    const since = store.now - DAY;
    const swept = await tryBucket(() => deleteWhere(store.backups, INCOMING, ({ uploaded }) => uploaded.getTime() < since));
    if (!swept.ok) return swept;
  }
  if (begun.looked !== undefined) return findFirstKept(store, begun, begun.looked, isSpent);
  if (begun.folder) return pruneFolder(store, begun, begun.folder, isSpent);
  return findFolder(store, begun, isSpent);
}

/** Unix milliseconds: what is younger is kept. */
export const keptSince = ({ settings, now }: Pick<BackupStore, "settings" | "now">): number => now - settings.backupsKept * DAY;

/**
 * Looks for the oldest registry that is kept. The newest BACKUPS_KEPT registries are kept, and all that are not older than
 * BACKUPS_KEPT days, so that several backups on one day do not displace those of other days.
 */
async function findFirstKept(
  store: BackupStore,
  pruning: Pruning,
  looked: number,
  isSpent: () => boolean,
): Promise<Result<Pruning | undefined>> {
  const { backups, keyring, settings } = store;
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const since = keptSince(store);
  for (const number of numbers.value.slice(0, -settings.backupsKept).filter((one) => one > looked)) {
    const open = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    // A registry that is not authentic any more, because its root key was removed, has the age of its object.
    const head = open.ok ? ok(undefined) : await tryBucket(() => backups.head(manifestKey(REGISTRY, number)));
    if (!head.ok) return head;
    const at = open.ok ? open.value.manifest.at : (head.value?.uploaded.getTime() ?? 0);
    if (at >= since) return ok({ ...pruning, looked: undefined, first: number });
    if (isSpent()) return ok({ ...pruning, looked: number });
  }
  const first = numbers.value.at(-settings.backupsKept);
  return ok(first === undefined ? undefined : { ...pruning, looked: undefined, first });
}

/** The numbers of the backups that a registry names, by vault. */
const firstOf = ({ snapshots = [] }: Manifest): ReadonlyMap<string, number> =>
  new Map(snapshots.map(({ vault, number }) => [vault, number]));

/** Looks for the next folder of which something may go. Whole folders of vaults that were deleted go at once. */
async function findFolder(store: BackupStore, begun: Pruning, isSpent: () => boolean): Promise<Result<Pruning | undefined>> {
  const { backups, keyring } = store;
  const first = begun.first!;
  const oldest = await loadManifest(backups, keyring, { vault: REGISTRY, number: first });
  if (!oldest.ok) return oldest.failure.kind === "unavailable" ? oldest : ok(undefined);
  const page = await listFolders(backups, begun.after, PAGE_FOLDERS_MAX);
  if (!page.ok) return page;
  const { vaults, next } = page.value;
  const firstOfVaults = firstOf(oldest.value.manifest);
  const known = await loadKnown(store, vaults);
  if (!known.ok) return known;
  const gone = known.value.filter(({ vault, isDeleted }) => isDeleted && !firstOfVaults.has(vault));
  const unnamed = await findUnnamed(
    store,
    first,
    gone.map(({ vault }) => vault),
  );
  if (!unnamed.ok) return unnamed;
  const isKnown = new Set([REGISTRY, ...known.value.map(({ vault }) => vault)]);
  let pruning = begun;
  // The registry comes last, because it names the backups of the vaults.
  for (const vault of next === undefined ? [...vaults, REGISTRY] : vaults) {
    if (pruning.after !== begun.after && isSpent()) return ok(pruning);
    if (unnamed.value.has(vault)) {
      const deleted = await deleteVault(store, vault, oldest.value.manifest);
      if (!deleted.ok) return deleted;
    } else if (isKnown.has(vault)) {
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
  /** Which vaults of a list exist, or were deleted and are not being restored. ?1: their ids as a JSON array. */
  known: `
    SELECT value AS vault, vaults.id IS NULL AS isDeleted FROM json_each(?1) LEFT JOIN vaults ON vaults.id = value
    WHERE vaults.id IS NOT NULL OR (${hasDeletion("value")} AND NOT EXISTS (SELECT 1 FROM restores WHERE vault_id = value))`,
};

interface KnownVault {
  readonly vault: string;
  readonly isDeleted: boolean;
}

/** The vaults that D1 knows. The others are missing: nothing of their backups may go. Errors: `unavailable`. */
async function loadKnown({ db }: BackupStore, vaults: readonly string[]): Promise<Result<KnownVault[]>> {
  const read = await runBatch<[{ vault: string; isDeleted: number }]>(db, db.prepare(SQL.known).bind(JSON.stringify(vaults)));
  return read.ok ? ok(read.value[0].map(({ vault, isDeleted }) => ({ vault, isDeleted: isDeleted === 1 }))) : read;
}

/**
 * The vaults that no registry names; none when a registry is not authentic. In: the oldest registry that is kept; vaults that it does not name.
 * The newest registry is read first, because it names the newest vaults. Only newer registries name a vault that was deleted and restored.
 */
async function findUnnamed(
  { backups, keyring }: BackupStore,
  first: number,
  vaults: readonly string[],
): Promise<Result<ReadonlySet<string>>> {
  let unnamed: ReadonlySet<string> = new Set(vaults);
  if (unnamed.size === 0) return ok(unnamed);
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  for (const number of numbers.value.filter((one) => one > first).toReversed()) {
    if (unnamed.size === 0) break;
    const registry = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(new Set());
    unnamed = unnamed.difference(new Set(firstOf(registry.value.manifest).keys()));
  }
  return ok(unnamed);
}

/** Once in so many days the parts of every vault are looked through, also of one without an old backup. */
const SWEEP_DAYS = 28;

/** Whether it is the day of a vault. In: Unix milliseconds. */
const isSweepDay = (vault: string, now: number): boolean =>
  (Math.floor(now / DAY) + parseInt(vault.slice(0, 6), 16)) % SWEEP_DAYS === 0;

/** Reads the kept manifests of a folder, the newest first, deletes the others, and then what no kept one names. */
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

/** Deletes the backups of a vault that was deleted, if the last one is as old as `isOlder` says. */
async function deleteVault(store: BackupStore, vault: string, oldest: Manifest): Promise<Result<undefined>> {
  const isOld = await isOlder(store, vault, oldest);
  if (!isOld.ok) return isOld;
  if (!isOld.value) return ok(undefined);
  return tryBucket(async () => {
    // The manifests go last: by them the next run finds what a step that ends early has left.
    for (const prefix of [backupContent(`${vault}/`), partKey(vault, ""), `${folderOf(vault)}/`])
      await deleteWhere(store.backups, prefix, () => true);
    return undefined;
  });
}

/**
 * Whether the backups of a vault are older than all kept registries, and than BACKUPS_KEPT days. Where the newest does not open, as after
 * the removal of its root key, or there is none, the youngest object of the folder tells the age: an object that is written over makes the
 * folder younger. In: the oldest registry that is kept. Errors: `unavailable`.
 */
async function isOlder(store: BackupStore, vault: string, { at, deployment }: Manifest): Promise<Result<boolean>> {
  const { backups, keyring } = store;
  const newest = await loadNewest(backups, keyring, vault);
  // Each kept registry may be younger than BACKUPS_KEPT days, as in a service that is new.
  const before = Math.min(at, keptSince(store));
  // A new deployment that writes into the bucket of another one does not know its vaults.
  if (newest.ok) return ok(newest.value.manifest.at < before && newest.value.manifest.deployment === deployment);
  if (newest.failure.kind === "unavailable") return newest;
  return tryBucket(async () => {
    const objects = await listAll(backups, `${folderOf(vault)}/`);
    if (objects.some(({ uploaded }) => uploaded.getTime() >= before)) return false;
    const last = objects.findLast(({ key }) => key.startsWith(manifestPrefix(vault)));
    const named = last && readDeployment((await (await backups.get(last.key))?.text()) ?? "");
    return named === undefined || named === deployment;
  });
}
