import { bytesOfParts, REGISTRY } from "../../model/backup.ts";
import { type Existing, type Position, type RestoreRequest, type Skipped, START } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { isCount, type VaultRow } from "../vaults/rows.ts";
import { hasRoomToReplace } from "../health/room.ts";
import { checkOrigin, chooseBackup, compareExisting, openVaultRow } from "./choose.ts";
import type { RestorePorts } from "./ports.ts";
import { beginRestore, type Known, loadKnown, type Restore } from "./progress.ts";
import { loadManifest } from "../backup/load.ts";
import { knownVaults } from "../contents/known-vaults.ts";
import { runBatch } from "../d1/database.ts";

/** The checks of a request to restore. Every request makes them, and nothing is written before all of them have passed. */

/** A restore that may go on. */
export interface Begun extends Restore {
  readonly known: Known;
  readonly existing: Existing;
  readonly position: Position;
  /** The row of the vault; absent in the registry. */
  readonly row: VaultRow | undefined;
  /** Newer backups that were not chosen; absent when the request names a backup. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** Whether the database has room for the rows; absent when the restore has begun: then D1 decides. */
  readonly room?: boolean;
}

/**
 * Checks a request, and records that a restore begins unless it has begun or nothing may change. Errors: those of `chooseBackup`,
 * `checkOrigin` and `openVaultRow`; `backup_newer`; `database_full`; `unavailable`.
 */
export async function begin({ store, backups }: RestorePorts, request: RestoreRequest): Promise<Result<Begun>> {
  const { vault, snapshot, overwrite, dryRun } = request;
  const known = await loadKnown(store.db, vault);
  if (!known.ok) return known;
  const { running } = known.value;
  const unfinished = await unfinishedNumber({ store, backups }, vault, running);
  if (!unfinished.ok) return unfinished;
  const chosen = await chooseBackup(store, backups, vault, snapshot ?? unfinished.value);
  if (!chosen.ok) return chosen;
  const { manifest, sha256, skipped } = chosen.value;
  const goesOn = running?.manifest === sha256;
  const checked = vault === REGISTRY ? checkEmpty(known.value, goesOn) : checkOrigin(known.value, manifest);
  if (!checked.ok) return checked;
  const row = vault === REGISTRY ? ok(undefined) : await openVaultRow(store, manifest);
  if (!row.ok) return row;
  const existing = row.value ? compareExisting(known.value, manifest, row.value) : "none";
  if (existing === "newer" && !overwrite)
    return fail("backup_newer", `vault ${vault} was changed since its snapshot ${manifest.number}`);
  const position = goesOn ? running.position : START;
  const begun = { manifest, sha256, known: known.value, existing, position, row: row.value, skipped };
  if (goesOn) return ok(begun);
  const room = await hasRoomToReplace(store, vault, sealedBytesOf(begun));
  if (!room.ok) return room;
  if (dryRun) return ok({ ...begun, room: room.value });
  if (!room.value) return fail("database_full"); // rows are removed only if there is room to write those of the backup
  const recorded = await beginRestore(store.db, begun, position);
  return recorded.ok ? ok(begun) : recorded;
}

/** The sealed bytes of the rows of a backup. A count that is damaged, or higher than the bytes of the parts, is replaced by these. */
function sealedBytesOf({ manifest, row }: Pick<Begun, "manifest" | "row">): number {
  const most = bytesOfParts(manifest.parts);
  const stored = row?.sealed_bytes ?? most;
  return isCount(stored) ? Math.min(stored, most) : most;
}

/** The registry can be restored only when the deployment never had vaults or tokens, or when its restore was interrupted. */
function checkEmpty({ inUse, running }: Known, goesOn: boolean): Result<undefined> {
  const interrupted = running !== undefined && (goesOn || running.position.phase !== "done");
  return inUse && !interrupted
    ? fail("backup_newer", "the deployment has or had vaults or tokens; single vaults can be restored")
    : ok(undefined);
}

/**
 * The number of the backup with which a restore continues by default. The restore of a registry has not ended while a vault that it names
 * neither exists nor was deleted since. The newest registry may be a later one that lacks this vault, because a nightly backup has run
 * since. Errors: `unavailable`.
 */
async function unfinishedNumber(
  { store, backups }: Pick<RestorePorts, "store" | "backups">,
  vault: string,
  running: Known["running"],
): Promise<Result<number | undefined>> {
  if (!running) return ok(undefined);
  const { number } = running;
  if (running.position.phase !== "done") return ok(number);
  if (vault !== REGISTRY) return ok(undefined);
  const registry = await loadManifest(backups, store.keyring, { vault, number });
  if (!registry.ok) return registry.failure.kind === "unavailable" ? registry : ok(undefined);
  const { manifest, sha256 } = registry.value;
  const vaults = manifest.snapshots?.map((snapshot) => snapshot.vault) ?? [];
  const read = await runBatch<[unknown]>(store.db, knownVaults(store.db, vaults));
  if (!read.ok) return read;
  return ok(sha256 === running.manifest && read.value[0].length < vaults.length ? number : undefined);
}
