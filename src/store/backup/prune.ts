import { type Manifest, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { listFolders, listBackupNumbers, loadManifest, loadNewest } from "./load.ts";
import { backupContent, folderOf, manifestKey, partKey, runningKey } from "./object-keys.ts";
import type { BackupStore } from "./ports.ts";
import { deleteWhere, tryBucket } from "../buckets/calls.ts";

/**
 * Deletes old backups. Of each vault it deletes the backups before the one that the oldest kept registry names, then the parts that no
 * remaining manifest names. Contents are kept, except those of a vault whose last backup is deleted. Where a manifest is not authentic,
 * nothing is deleted. Only newer registries name a vault that was deleted and restored, so all kept registries are read before the backups
 * of a vault are deleted.
 */

/** The most folders of one call. */
const PAGE_FOLDERS_MAX = 20;

/** A younger part that no manifest names may belong to a backup that is under way. */
const YOUNG_MS = DAY;

/**
 * Deletes old backups in some folders. In: the folder after which the call begins; empty for the first call. Out: the last folder of the
 * call; `undefined` when there are no more. Errors: `unavailable`.
 */
export async function prune(store: BackupStore, after: string): Promise<Result<string | undefined>> {
  const { backups, keyring } = store;
  const registries = await listBackupNumbers(backups, REGISTRY);
  if (!registries.ok) return registries;
  const first = await findFirstKept(store, registries.value);
  if (!first.ok) return first;
  const number = first.value;
  if (number === undefined || number === registries.value[0]) return ok(undefined);
  const oldest = await loadManifest(backups, keyring, { vault: REGISTRY, number });
  if (!oldest.ok) return oldest.failure.kind === "unavailable" ? oldest : ok(undefined);
  const page = await listFolders(backups, after, PAGE_FOLDERS_MAX);
  if (!page.ok) return page;
  const { vaults, next } = page.value;
  const firstOfVaults = firstOf(oldest.value.manifest);
  const unnamed = new Set(vaults.filter((vault) => !firstOfVaults.has(vault)));
  const orphans = await findOrphans(
    store,
    registries.value.filter((one) => one > number),
    unnamed,
  );
  if (!orphans.ok) return orphans;
  for (const vault of vaults) {
    const firstKept = firstOfVaults.get(vault);
    if (firstKept === undefined && !orphans.value.has(vault)) continue;
    const pruned =
      firstKept === undefined
        ? await deleteVault(store, vault, oldest.value.manifest)
        : await deleteBefore(store, vault, firstKept);
    if (!pruned.ok) return pruned;
  }
  // The registry comes last, because it names the backups of the vaults.
  if (next !== undefined) return ok(next);
  const pruned = await deleteBefore(store, REGISTRY, number);
  return pruned.ok ? ok(undefined) : pruned;
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

/** Deletes the backups before a number, and the parts that only they name. */
async function deleteBefore(store: BackupStore, vault: string, first: number): Promise<Result<undefined>> {
  const { backups, keyring, now } = store;
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  const old = numbers.value.filter((number) => number < first);
  if (old.length === 0) return ok(undefined);
  const named = new Set<string>();
  for (const number of numbers.value.slice(old.length)) {
    const manifest = await loadManifest(backups, keyring, { vault, number });
    if (!manifest.ok) return manifest.failure.kind === "unavailable" ? manifest : ok(undefined);
    for (const { sha256 } of manifest.value.manifest.parts) named.add(partKey(vault, sha256));
  }
  return tryBucket(async () => {
    await backups.delete(old.map((number) => manifestKey(vault, number)));
    if (vault !== REGISTRY && (await backups.head(runningKey(vault)))) return undefined;
    await deleteWhere(backups, partKey(vault, ""), ({ key, uploaded }) => !named.has(key) && uploaded.getTime() < now - YOUNG_MS);
    return undefined;
  });
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
