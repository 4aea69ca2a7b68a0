import { newestKeyId } from "../../crypto/key-list.ts";
import { bytesOfParts, type Manifest, REGISTRY } from "../../model/backup.ts";
import type { Existing, RestoreRequest, Skipped } from "../../model/restore.ts";
import { fail, ok, type Result, type Refusal } from "../../model/result.ts";
import { type BackupStore, loadManifest, loadPartSizes, lostParts, listBackupNumbers, loadNewest } from "../backup/load.ts";
import type { OpenManifest } from "../backup/manifest.ts";
import type { Bucket } from "../buckets/bucket.ts";
import type { Store } from "../d1/database.ts";
import { hasRoomToReplace } from "../health/room.ts";
import { isCount } from "../tables/numbers.ts";
import { type VaultRow, type KeyRow, openKeys } from "../vaults/rows.ts";
import { type Known, loadKnown } from "./mark.ts";

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
 * Chooses the backup, and checks that it can be restored. Fails as `chooseBackup`, `checkOrigin` and `openVaultRow` do, with `backup_newer`, with
 * `backup_damaged`, also if the bucket lacks a part or has another backup than the registry names, and with `unavailable`.
 */
export async function checkRestore(store: BackupStore, request: RestoreRequest): Promise<Result<Checked>> {
  const { vault, snapshot, named, overwrite } = request;
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const begun = vault === REGISTRY ? undefined : known.value.begun?.number;
  const chosen = await chooseBackup(store, store.backups, vault, snapshot ?? begun);
  if (!chosen.ok) return chosen;
  const { manifest, sha256, skipped } = chosen.value;
  if (named !== undefined && named !== sha256) return refused(manifest, NOT_THE_NAMED_ONE);
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
  // The size of an existing registry is unknown.
  const room = vault === REGISTRY && goesOn ? ok(true) : await hasRoomToReplace(store, vault, sealedBytesOf(manifest, row.value));
  if (!room.ok) return room;
  return ok({ manifest, sha256, known: known.value, existing, row: row.value, skipped, room: room.value });
}

/** The sealed bytes of the rows of a backup. A count that is damaged, or higher than the bytes of the parts, is replaced by these bytes. */
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
  if (!inUse || goesOn || (begun && !hasVaults)) return ok(undefined);
  const rest = begun ? `, and the rest of snapshot ${begun.number}, with which a restore has begun` : "";
  return fail("backup_newer", `the deployment has or had vaults or tokens; single vaults can be restored${rest}`);
}

/** Checks that the bucket has the parts of a backup with their sizes, without reading them. Fails with `backup_damaged` or `unavailable`. */
async function checkParts(backups: Bucket, manifest: Manifest): Promise<Result<undefined>> {
  const sizes = await loadPartSizes(backups, manifest.vault);
  if (!sizes.ok) return sizes;
  const [lost] = lostParts(manifest, sizes.value);
  return lost ? fail("backup_damaged", `part ${lost.sha256} ${lost.fault}`) : ok(undefined);
}

/** Chooses the backup to restore, and checks whether it can be restored. */

const refused = ({ vault, number }: Pick<Manifest, "vault" | "number">, fault: string): Refusal =>
  fail("backup_damaged", `snapshot ${number} of ${vault === REGISTRY ? "the registry" : vault} ${fault}`);

const NOT_THE_NAMED_ONE = "is not the one that the registry names";

/**
 * Returns the manifest of a backup, by number or, for `undefined`, the newest one. Fails as `loadManifest` does, and with `backup_damaged` if
 * the registry has another hash for this number.
 */
export async function chooseBackup(
  { keyring }: Store,
  backups: Bucket,
  vault: string,
  wanted: number | undefined,
): Promise<Result<OpenManifest & { readonly skipped?: readonly Skipped[] }>> {
  const numbers = await listBackupNumbers(backups, vault);
  if (!numbers.ok) return numbers;
  const chosen = vault === REGISTRY && wanted === undefined ? await findRegistry(keyring, backups, numbers.value) : undefined;
  if (chosen && !chosen.ok) return chosen;
  const number = chosen?.value.number ?? wanted ?? numbers.value.at(-1);
  if (number === undefined) return fail("backup_not_found");
  const found = await loadManifest(backups, keyring, { vault, number });
  if (!found.ok) return found;
  if (vault === REGISTRY) return ok({ ...found.value, skipped: chosen?.value.skipped ?? [] });
  return compareWithRegistry(keyring, backups, found.value, wanted === undefined);
}

/**
 * Returns the newest registry that names vaults, and the newer ones without vaults. A new database may have written these after the loss of the
 * old one. Without such a registry, returns the newest one. A registry that cannot be read is not skipped, because the older ones are out of
 * date: fails as `loadManifest` does.
 */
async function findRegistry(
  keyring: Store["keyring"],
  backups: Bucket,
  numbers: readonly number[],
): Promise<Result<{ readonly number: number | undefined; readonly skipped: readonly Skipped[] }>> {
  const skipped: Skipped[] = [];
  for (const number of numbers.toReversed()) {
    const open = await loadManifest(backups, keyring, { vault: REGISTRY, number });
    if (!open.ok) return open;
    if ((open.value.manifest.snapshots?.length ?? 0) > 0) return ok({ number, skipped });
    skipped.push({ snapshot: number, reason: "it has no vaults" });
  }
  return ok({ number: numbers.at(-1), skipped: [] });
}

async function compareWithRegistry(
  keyring: Store["keyring"],
  backups: Bucket,
  found: OpenManifest,
  newest: boolean,
): Promise<Result<OpenManifest>> {
  const registry = await loadNewest(backups, keyring, REGISTRY);
  if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(found);
  const { vault, number } = found.manifest;
  const named = registry.value.manifest.snapshots?.find((snapshot) => snapshot.vault === vault);
  if (named?.number === number && named.sha256 !== found.sha256) return refused(found.manifest, NOT_THE_NAMED_ONE);
  if (newest && named && named.number > number)
    return fail("backup_damaged", `snapshot ${named.number} of ${vault}, which the registry names, is missing`);
  return ok(found);
}

/**
 * Checks that this deployment can restore a backup. For a backup of another deployment, the id of the vault must be free, or
 * its vault must have the data keys of the backup. Without the id of this deployment a backup counts as its own. Fails with `backup_damaged`.
 */
export function checkOrigin({ deployment, vault }: Known, manifest: Manifest): Result<undefined> {
  const isOfOther = deployment !== null && manifest.deployment !== deployment;
  if (isOfOther && vault && vault.newest_key !== newestKeyId(String(manifest.row?.["keys"])))
    return refused(
      manifest,
      `belongs to the deployment ${manifest.deployment}; this one is ${deployment} and has a vault with its id`,
    );
  return ok(undefined);
}

/**
 * Checks that ROOT_KEYS has the root key of the vault, and that it decrypts the vault's keys. Returns the row of the vault. Fails with
 * `backup_damaged`, whose detail names the root key.
 */
export async function openVaultRow(store: Store, manifest: Manifest): Promise<Result<VaultRow>> {
  const row = manifest.row as unknown as KeyRow | undefined;
  if (row?.id !== manifest.vault) return refused(manifest, "has no row of its vault");
  if (!store.keyring.keys.has(row.root_key_id))
    return refused(manifest, `needs the root key ${row.root_key_id}, which ROOT_KEYS does not have`);
  const keys = await openKeys(store, row);
  return keys.ok ? ok(row as VaultRow) : refused(manifest, `cannot be decrypted with the root key ${row.root_key_id}`);
}

/**
 * Returns true if the vault in D1 has fewer writes than the backup. It has nothing newer than the backup. Invalid numbers prove nothing,
 * because the vault may have been restored from this very backup (finish.ts).
 */
export const isBehind = ({ vault }: Known, { content_version, attribute_version }: VaultRow): boolean =>
  vault !== undefined &&
  isCount(content_version) &&
  isCount(attribute_version) &&
  vault.sequence < content_version + attribute_version;

/** Compares the vault in D1 with a backup. */
function compareExisting({ vault, deleted, webhook }: Known, manifest: Manifest, row: VaultRow): Existing {
  if (!vault) return deleted ? "deleted" : "none";
  const sequence = row.content_version + row.attribute_version;
  const isNewer = vault.sequence > sequence || vault.updated_at > row.updated_at || webhook >= manifest.at;
  return isNewer || vault.newest_key !== newestKeyId(row.keys) ? "newer" : "older";
}
