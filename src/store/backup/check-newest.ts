import { REGISTRY } from "../../model/backup.ts";
import { must, ok, type Result } from "../../model/result.ts";
import { type BackupFigures, loadBackupFigures, recordCheck } from "../health/backup-figures.ts";
import { listBackupNumbers, loadManifest } from "./load.ts";
import { keysOfRegistry } from "./needed-keys.ts";
import { type BackupStore, openBackupStore } from "./ports.ts";

/**
 * Whether the newest backup exists and opens with the present root keys. Without this check a bucket that was emptied looks like one that
 * never had backups.
 */

/** The faults by the number that is stored (backup-figures.ts). */
export const NEWEST_FAULTS: readonly (string | undefined)[] = [
  undefined,
  "the newest backup is missing in the bucket",
  "the newest backup does not open with ROOT_KEYS",
];

/** Out: an index of `NEWEST_FAULTS`. Errors: `unavailable`. */
export async function findNewestFault(
  { backups, keyring }: Pick<BackupStore, "backups" | "keyring">,
  { number = 0 }: Pick<BackupFigures, "number">,
): Promise<Result<number>> {
  const numbers = await listBackupNumbers(backups, REGISTRY);
  if (!numbers.ok) return numbers;
  const newest = numbers.value.at(-1) ?? 0;
  if (newest < number) return ok(1);
  if (newest === 0) return ok(0);
  const open = await loadManifest(backups, keyring, { vault: REGISTRY, number: newest });
  if (!open.ok && open.failure.kind === "unavailable") return open;
  return ok(open.ok && keysOfRegistry(open.value).every((id) => keyring.keys.has(id)) ? 0 : 2);
}

/** The part of the hourly run that looks for the newest backup, and stores what it found for /health. Throws when storage fails. */
export async function checkNewestBackup(env: Env, now: number): Promise<void> {
  // A wrangler.toml may have no such bucket.
  if (!(env as Partial<Env>).BACKUPS) return;
  const store = must("open the buckets", await openBackupStore(env, now));
  const figures = must("read the figures of backups", await loadBackupFigures(store.db));
  // Without a backup there is nothing to look for.
  if (figures.at === undefined) return;
  const fault = must("look for the newest backup", await findNewestFault(store, figures));
  must("record what was found of the newest backup", await recordCheck(store, fault));
}
