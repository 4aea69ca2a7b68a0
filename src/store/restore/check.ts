import { bytesOfParts, type Manifest, REGISTRY } from "../../model/backup.ts";
import type { Existing, RestoreRequest, Skipped } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import { type BackupStore, loadManifest, loadPartSizes, lostParts } from "../backup/load.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { runBatch } from "../d1/database.ts";
import { hasRoomToReplace } from "../health/room.ts";
import { isCount } from "../tables/numbers.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { checkOrigin, chooseBackup, compareExisting, openVaultRow } from "./choose.ts";
import { type Known, loadKnown } from "./mark.ts";
import { knownVaults } from "../contents/without-row.ts";

/** The checks before a restore of a vault or of the registry. They only read. */

/** A restore that may begin. */
export interface Checked extends Pick<OpenManifest, "manifest" | "sha256"> {
  readonly known: Known;
  readonly existing: Existing;
  /** The row of the vault in the backup; absent in the registry. */
  readonly row: VaultRow | undefined;
  /** Newer backups that were not chosen; absent when the request names a backup. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** True if the database has room for the rows. */
  readonly room: boolean;
}

/**
 * Chooses the backup, and checks that it can be restored. Fails as `chooseBackup`, `checkOrigin` and `openVaultRow` do, with `backup_newer`,
 * with `backup_damaged`, also if the bucket lacks a part, and with `unavailable`.
 */
export async function checkRestore(store: BackupStore, request: RestoreRequest): Promise<Result<Checked>> {
  const { vault, snapshot, overwrite } = request;
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const unfinished = await unfinishedNumber(store, vault, known.value.begun);
  if (!unfinished.ok) return unfinished;
  const chosen = await chooseBackup(store, store.backups, vault, snapshot ?? unfinished.value);
  if (!chosen.ok) return chosen;
  const { manifest, sha256, skipped } = chosen.value;
  const goesOn = known.value.begun?.manifest === sha256;
  const checked = vault === REGISTRY ? checkEmpty(known.value, goesOn) : checkOrigin(known.value, manifest);
  if (!checked.ok) return checked;
  const row = vault === REGISTRY ? ok(undefined) : await openVaultRow(store, manifest);
  if (!row.ok) return row;
  const existing = row.value ? compareExisting(known.value, manifest, row.value) : "none";
  if (existing === "newer" && !overwrite)
    return fail("backup_newer", `vault ${vault} was changed since its snapshot ${manifest.number}`);
  const whole = await checkParts(store.backups, manifest);
  if (!whole.ok) return whole;
  // Of a registry that is there already nothing tells how large it is.
  const room = vault === REGISTRY && goesOn ? ok(true) : await hasRoomToReplace(store, vault, sealedBytesOf(manifest, row.value));
  if (!room.ok) return room;
  return ok({ manifest, sha256, known: known.value, existing, row: row.value, skipped, room: room.value });
}

/** The sealed bytes of the rows of a backup. A count that is damaged, or higher than the bytes of the parts, is replaced by these. */
function sealedBytesOf(manifest: Manifest, row: VaultRow | undefined): number {
  const most = bytesOfParts(manifest.parts);
  const stored = row?.sealed_bytes ?? most;
  return isCount(stored) ? Math.min(stored, most) : most;
}

/**
 * Allows a restore of the registry if the deployment never had vaults or tokens. Otherwise a restore of it must have begun: of the same
 * backup, or of another backup while there are no vaults.
 */
function checkEmpty({ inUse, begun, hasVaults }: Known, goesOn: boolean): Result<undefined> {
  return inUse && !goesOn && (begun === undefined || hasVaults)
    ? fail("backup_newer", "the deployment has or had vaults or tokens; single vaults can be restored")
    : ok(undefined);
}

/**
 * Returns the number of the backup with which a restore continues by default. A restore of everything is unfinished while a vault that its
 * registry names neither exists nor was deleted since. A nightly backup may have run since then, so the newest registry may lack this vault.
 * Fails with `unavailable`.
 */
async function unfinishedNumber(store: BackupStore, vault: string, begun: Known["begun"]): Promise<Result<number | undefined>> {
  if (!begun) return ok(undefined);
  const { number } = begun;
  if (vault !== REGISTRY) return ok(number);
  const registry = await loadManifest(store.backups, store.keyring, { vault, number });
  if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(undefined);
  const { manifest, sha256 } = registry.value;
  const vaults = manifest.snapshots?.map((snapshot) => snapshot.vault) ?? [];
  const read = await runBatch<[unknown]>(store.db, knownVaults(store.db, vaults));
  if (!read.ok) return read;
  return ok(sha256 === begun.manifest && read.value[0].length < vaults.length ? number : undefined);
}

/** Checks that the bucket has the parts of a backup with their sizes, without reading them. Fails with `backup_damaged` or `unavailable`. */
async function checkParts(backups: Bucket, manifest: Manifest): Promise<Result<undefined>> {
  const sizes = await loadPartSizes(backups, manifest.vault);
  if (!sizes.ok) return sizes;
  const [lost] = lostParts(manifest, sizes.value);
  return lost ? fail("backup_damaged", `part ${lost.sha256} ${lost.fault}`) : ok(undefined);
}
