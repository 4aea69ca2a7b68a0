import { type Manifest, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { listFolders, listBackupNumbers, loadManifest, loadNewest } from "./load.ts";
import { backupContent, folderOf, manifestKey } from "./object-keys.ts";
import type { BackupStore } from "./ports.ts";
import { sweepParts } from "./sweep-parts.ts";
import { deleteWhere, tryBucket } from "../buckets/calls.ts";

/**
 * Deletes old backups. Of each vault it deletes the manifests before the one that the oldest kept registry names, then the
 * parts that no remaining manifest names, with their contents. Where a manifest is not authentic,
 * nothing is deleted. Only newer registries name a vault that was deleted and restored, so all kept registries are read before the backups
 * of a vault are deleted.
 */

/** The most folders of one call. */
const PAGE_FOLDERS_MAX = 20;

/** How far a pruning is: plain data, which the job keeps as JSON. */
export interface Pruning {
  /** The number of the oldest registry that is kept; absent before it was looked for. */
  readonly first?: number;
  /** The last folder that is done; empty before the first one. */
  readonly after: string;
  /** The folder whose old manifests are about to be deleted, or were: what they alone name has to go too. */
  readonly sweeps?: string | undefined;
}

export const PRUNING_START: Pruning = { after: "" };

/** Deletes old backups in some folders, until the step is spent. Out: `undefined` when all are done. Errors: `unavailable`. */
export async function prune(store: BackupStore, begun: Pruning, isSpent: () => boolean): Promise<Result<Pruning | undefined>> {
  const { backups, keyring } = store;
  const registries = await listBackupNumbers(backups, REGISTRY);
  if (!registries.ok) return registries;
  const found = begun.first === undefined ? await findFirstKept(store, registries.value) : ok(begun.first);
  if (!found.ok) return found;
  const first = found.value;
  if (first === undefined) return ok(undefined);
  const oldest = await loadManifest(backups, keyring, { vault: REGISTRY, number: first });
  if (!oldest.ok) return oldest.failure.kind === "unavailable" ? oldest : ok(undefined);
  const page = await listFolders(backups, begun.after, PAGE_FOLDERS_MAX);
  if (!page.ok) return page;
  const { vaults, next } = page.value;
  const firstOfVaults = firstOf(oldest.value.manifest);
  const unnamed = new Set(vaults.filter((vault) => !firstOfVaults.has(vault)));
  const later = registries.value.filter((number) => number > first);
  const orphans = await findOrphans(store, later, unnamed);
  if (!orphans.ok) return orphans;
  let pruning: Pruning = { ...begun, first };
  // The registry comes last, because it names the backups of the vaults.
  for (const folder of next === undefined ? [...vaults, REGISTRY] : vaults) {
    if (pruning.after !== begun.after && isSpent()) return ok(pruning);
    const firstKept = folder === REGISTRY ? first : firstOfVaults.get(folder);
    const isOrphan = folder !== REGISTRY && firstKept === undefined && orphans.value.has(folder);
    const pruned = isOrphan
      ? await deleteVault(store, folder, oldest.value.manifest)
      : await deleteBefore(store, pruning, { folder, firstKept: firstKept ?? 0 }, isSpent);
    if (!pruned.ok || pruned.value) return pruned;
    pruning = { first, after: folder };
  }
  return ok(next === undefined ? undefined : pruning);
}

/**
 * The number of the oldest registry that is kept. The newest BACKUPS_KEPT registries are kept, and all that are not older than
 * BACKUPS_KEPT days, so that several backups on one day do not displace those of other days. Out: `undefined` when there is none. Errors:
 * `unavailable`.
 */
async function findFirstKept(
  { backups, keyring, settings, now }: BackupStore,
  numbers: readonly number[],
): Promise<Result<number | undefined>> {
  const since = now - settings.backupsKept * DAY;
  for (const number of numbers.slice(0, -settings.backupsKept)) {
    const open = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!open.ok && open.failure.kind === "unavailable") return open;
    // A registry that is not authentic any more, because its root key was removed, has the age of its object.
    const head = open.ok ? ok(undefined) : await tryBucket(() => backups.head(manifestKey(REGISTRY, number)));
    if (!head.ok) return head;
    if ((open.ok ? open.value.manifest.at : (head.value?.uploaded.getTime() ?? 0)) >= since) return ok(number);
  }
  return ok(numbers.at(-settings.backupsKept));
}

/** The numbers of the backups that a registry names, by vault. */
const firstOf = ({ snapshots = [] }: Manifest): ReadonlyMap<string, number> =>
  new Map(snapshots.map(({ vault, number }) => [vault, number]));

/**
 * The vaults that no registry names; none when a registry is not authentic. In: the numbers of the registries, the oldest first; the
 * vaults. The newest registry is read first, because it names the newest vaults. Errors: `unavailable`.
 */
async function findOrphans(
  { backups, keyring }: BackupStore,
  numbers: readonly number[],
  vaults: ReadonlySet<string>,
): Promise<Result<ReadonlySet<string>>> {
  let orphans = vaults;
  for (const number of numbers.toReversed()) {
    if (orphans.size === 0) break;
    const registry = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(new Set());
    orphans = orphans.difference(new Set(firstOf(registry.value.manifest).keys()));
  }
  return ok(orphans);
}

/** Once in so many days the parts of every vault are looked through, also of one without an old backup. */
const SWEEP_DAYS = 28;

/** Whether it is the day of a vault. In: Unix milliseconds. */
const isSweepDay = (vault: string, now: number): boolean =>
  (Math.floor(now / DAY) + parseInt(vault.slice(0, 6), 16)) % SWEEP_DAYS === 0;

/**
 * Deletes the manifests before a number, and then what only they name. Out: how to go on with the folder in the next step; `undefined` when
 * it is done.
 */
async function deleteBefore(
  store: BackupStore,
  pruning: Pruning,
  { folder, firstKept }: { readonly folder: string; readonly firstKept: number },
  isSpent: () => boolean,
): Promise<Result<Pruning | undefined>> {
  const { backups, keyring, now } = store;
  const numbers = await listBackupNumbers(backups, folder);
  if (!numbers.ok) return numbers;
  const old = numbers.value.filter((number) => number < firstKept);
  const hasBegun = pruning.sweeps === folder;
  if (!hasBegun && old.length > 0) return ok({ ...pruning, sweeps: folder });
  if (!hasBegun && !isSweepDay(folder, now)) return ok(undefined);
  const kept: Manifest[] = [];
  for (const number of numbers.value.slice(old.length)) {
    const open = await loadManifest(backups, keyring, { vault: folder, number });
    if (!open.ok) return open.failure.kind === "unavailable" ? open : ok(undefined);
    kept.push(open.value.manifest);
  }
  const deleted = await tryBucket(() => backups.delete(old.map((number) => manifestKey(folder, number))));
  if (!deleted.ok) return deleted;
  const isLeft = await sweepParts(store, folder, kept, isSpent);
  if (!isLeft.ok) return isLeft;
  return ok(isLeft.value ? { ...pruning, sweeps: folder } : undefined);
}

/**
 * Deletes the backups of a vault that no kept registry names, if the last one is older than all kept registries: the vault was deleted
 * before them.
 */
async function deleteVault(
  { backups, keyring }: BackupStore,
  vault: string,
  { at, deployment }: Manifest,
): Promise<Result<undefined>> {
  const newest = await loadNewest(backups, keyring, vault);
  if (!newest.ok) return newest.failure.kind === "unavailable" ? newest : ok(undefined);
  const { manifest } = newest.value;
  // A new deployment that writes into the bucket of another one does not know its vaults.
  if (manifest.at >= at || manifest.deployment !== deployment) return ok(undefined);
  return tryBucket(async () => {
    for (const prefix of [backupContent(`${vault}/`), `${folderOf(vault)}/`]) await deleteWhere(backups, prefix, () => true);
    return undefined;
  });
}
