import { uuidOf } from "./model/ids.ts";
import type { BackupInput, NewJob } from "./model/job.ts";
import { must } from "./model/result.ts";
import { DAY, HOUR } from "./model/time.ts";
import { callOperator } from "./operator.ts";
import { parseSettings } from "./settings.ts";

/** The nightly backup (contract 21.10): the cron trigger starts a job, which waits for those that exclude it. */

/** How many hourly runs of a night start the backup: the later ones do it where the operator did not answer the earlier ones. */
const NIGHT_RUNS = 4;

/** Starts the nightly backup when its hour has come, unless an earlier run of the night has. In: the time of the cron trigger, in Unix milliseconds. Throws when that fails. */
export async function startBackup(env: Partial<Env>, now: number): Promise<void> {
  const { backupHour } = must("read the settings", parseSettings(env as Env));
  // A deployment may go without backups: its wrangler.toml has no bucket for them.
  if (!env.BACKUPS || backupHour === undefined) return;
  const sinceFirst = now - backupHour * HOUR;
  if (sinceFirst % DAY >= NIGHT_RUNS * HOUR) return;
  const input: BackupInput = { full: false, dryRun: false };
  const job: NewJob = {
    id: await idOfNight(Math.floor(sinceFirst / DAY)),
    request: "nightly",
    kind: "backup",
    input,
    waits: true,
  };
  must("start the nightly backup", await callOperator(env as Env, "unavailable", (operator) => operator.create(job)));
}

/** The job of a night has one id, so that it is started once. In: days since the beginning of 1970. */
async function idOfNight(night: number): Promise<string> {
  const text = new TextEncoder().encode(`nightly backup ${night}`);
  return uuidOf(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16));
}
