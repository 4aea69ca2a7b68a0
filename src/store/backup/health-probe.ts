import { REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY, isTime } from "../../model/time.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { DEPLOYMENT_LOST, isInUse } from "../d1/deployment.ts";
import { loadBackupFigures } from "../health/backup-figures.ts";
import { listBackupNumbers } from "./load.ts";

/** The check of /health on the nightly backup. */

interface Report {
  readonly status: "ACTIVE" | "WARNING";
  readonly message: string;
  /** Time of the last backup, in Unix milliseconds. Undefined without a backup. */
  readonly at?: number | undefined;
}

/** After this time without a backup there is a warning. */
const LATE_MS = 3 * DAY;

const active = (message: string, at?: number): Result<Report> => ok({ status: "ACTIVE", message, at });
const warning = (message: string, at?: number): Result<Report> => ok({ status: "WARNING", message, at });

/**
 * Probes the backups. `bucket` is the bound bucket. `hour` is the hour of the nightly backup, if there is one. `now` is in Unix milliseconds.
 * Fails with `unavailable`.
 */
export async function probeBackups(
  db: D1Database,
  bucket: Bucket | undefined,
  hour: number | undefined,
  now: number,
): Promise<Result<Report>> {
  if (!bucket) return hour === undefined ? active("Backups are off") : warning("BACKUPS is missing: there are no backups");
  const figures = await loadBackupFigures(db);
  if (!figures.ok) return figures;
  const { oldestVault, behind, hasDeployment } = figures.value;
  const at = figures.value.at !== undefined && isTime(figures.value.at) ? figures.value.at : undefined;
  if (at === undefined && oldestVault === undefined) {
    const unrestored = await isUnrestored(db, bucket);
    if (!unrestored.ok) return unrestored;
    if (unrestored.value)
      return warning('Not restored yet: the database is new, and the bucket has backups. Run "item-vault admin restore"');
  }
  if (!hasDeployment) return warning(`No backup can be made: ${DEPLOYMENT_LOST}`, at);
  const last = at === undefined ? "No backup yet" : `The last backup is of ${new Date(at).toISOString()}`;
  if (hour === undefined) return active(`${last}; nightly backups are off`, at);
  const isLate = (at ?? oldestVault ?? now) < now - LATE_MS;
  if (behind > 0) return warning(`${last}, and ${behind} vaults are missing from it or out of date`, at);
  return isLate ? warning(last, at) : active(last, at);
}

/** Returns true if the bucket has backups although the database was never used. Fails with `unavailable`. */
async function isUnrestored(db: D1Database, bucket: Bucket): Promise<Result<boolean>> {
  const used = await isInUse(db);
  if (!used.ok || used.value) return used.ok ? ok(false) : used;
  const numbers = await listBackupNumbers(bucket, REGISTRY);
  return numbers.ok ? ok(numbers.value.length > 0) : numbers;
}
