import type { Skipped } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { type BackupStore, findOpen, listBackupNumbers, listFolders, loadManifest } from "../backup/load.ts";
import { isCount } from "../tables/numbers.ts";
import { openKeys, openName } from "../vaults/rows.ts";
import { openVaultRow } from "./check.ts";

/** Lists the vaults that have backups, with their names, so that a vault can be found after it, or the database, was lost. */

interface NamedBackup {
  readonly number: number;
  /** Time of completion, in Unix milliseconds. */
  readonly at: number;
  readonly name: string;
  readonly items: number;
}

export interface BackedUpVault {
  readonly id: string;
  /** The newest backup that can be opened; undefined if no tried backup can. */
  readonly newest: NamedBackup | undefined;
  /** The unreadable tried backups, newest first. */
  readonly skipped: readonly Skipped[];
}

interface VaultPage {
  readonly vaults: readonly BackedUpVault[];
  /** The id after which the next page begins; absent on the last one. */
  readonly next: string | undefined;
}

/** A page takes one R2 call, and for each vault one list and up to `TRIED_BACKUPS_MAX` manifests. */
const PAGE_VAULTS_MAX = 20;
const TRIED_BACKUPS_MAX = 3;

/** Returns a page of the vaults, in the order of their ids, after an id or "". Fails with `unavailable`. */
export async function listVaults(store: BackupStore, after: string): Promise<Result<VaultPage>> {
  const page = await listFolders(store.backups, after, PAGE_VAULTS_MAX);
  if (!page.ok) return page;
  const vaults: BackedUpVault[] = [];
  for (const id of page.value.vaults) {
    const vault = await findNamed(store, id);
    if (!vault.ok) return vault;
    vaults.push(vault.value);
  }
  return ok({ vaults, next: page.value.next });
}

async function findNamed(store: BackupStore, id: string): Promise<Result<BackedUpVault>> {
  const numbers = await listBackupNumbers(store.backups, id);
  if (!numbers.ok) return numbers;
  const found = await findOpen(numbers.value.slice(-TRIED_BACKUPS_MAX), (number) => openNamed(store, id, number));
  return found.ok ? ok({ id, ...found.value }) : found;
}

/**
 * Decrypts the name of the vault in a backup. A backup whose vault row has a damaged number or time is listed too, because a restore replaces
 * the value. Fails with `backup_not_found`, `backup_damaged` or `unavailable`.
 */
async function openNamed(store: BackupStore, vault: string, number: number): Promise<Result<NamedBackup>> {
  const found = await loadManifest(store.backups, store.keyring, { vault, number });
  if (!found.ok) return found;
  const { manifest } = found.value;
  const row = await openVaultRow(store, manifest);
  if (!row.ok) return row;
  const keys = await openKeys(store, row.value);
  const name = keys.ok ? await openName(keys.value, row.value) : keys;
  if (!name.ok) return fail("backup_damaged", `snapshot ${number} of ${vault} has a row of its vault that cannot be decrypted`);
  const { items } = row.value;
  return ok({ number, at: manifest.at, name: name.value, items: isCount(items) ? items : 0 });
}
