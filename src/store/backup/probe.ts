import { ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { loadBackupFigures } from "../backup-figures.ts";

/** The check of /health on the nightly backup. */

interface Report {
  readonly status: "ACTIVE" | "WARNING";
  readonly message: string;
}

/** After so long without a backup there is a warning. */
const LATE = 3 * DAY;

const active = (message: string): Result<Report> => ok({ status: "ACTIVE", message });
const warning = (message: string): Result<Report> => ok({ status: "WARNING", message });

/** In: whether the bucket is bound; the hour of the nightly backup, if there is one; Unix milliseconds. Errors: `unavailable`. */
export async function probeBackups(
  db: D1Database,
  bound: boolean,
  hour: number | undefined,
  now: number,
): Promise<Result<Report>> {
  if (!bound) return hour === undefined ? active("Backups are off") : warning("BACKUPS is missing: there are no backups");
  const figures = await loadBackupFigures(db);
  if (!figures.ok) return figures;
  const { at, oldestVault, behind } = figures.value;
  const last = at === undefined ? "There is no backup yet" : `The last backup is of ${new Date(at).toISOString()}`;
  if (hour === undefined) return active(`${last}; nightly backups are off`);
  if ((at ?? oldestVault ?? now) < now - LATE) return warning(last);
  return behind > 0 ? warning(`${last}, and of ${behind} vaults it has no snapshot or an older one`) : active(last);
}
