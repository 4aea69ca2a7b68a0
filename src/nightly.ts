import { uuidOf } from "./model/ids.ts";
import type { BackupInput, NewJob } from "./model/job.ts";
import { must } from "./model/result.ts";
import { DAY } from "./model/time.ts";
import { callOperator } from "./operator.ts";
import { parseSettings } from "./settings.ts";

/** The nightly backup (contract 21.10): the cron trigger starts a job, which waits for those that exclude it. */

/** Starts the nightly backup when its hour has come. In: the time of the cron trigger, in Unix milliseconds. Throws when that fails. */
export async function startBackup(env: Partial<Env>, now: number): Promise<void> {
  const { backupHour } = must("read the settings", parseSettings(env as Env));
  // A deployment may go without backups: its wrangler.toml has no bucket for them.
  if (!env.BACKUPS || new Date(now).getUTCHours() !== backupHour) return;
  const input: BackupInput = { full: false, dryRun: false };
  const job: NewJob = { id: await idOfNight(now), request: "nightly", kind: "backup", input, waits: true };
  must("start the nightly backup", await callOperator(env as Env, "unavailable", (operator) => operator.create(job)));
}

/** The cron trigger may come twice: the job of a day has one id. */
async function idOfNight(now: number): Promise<string> {
  const day = new TextEncoder().encode(`nightly backup ${Math.floor(now / DAY)}`);
  return uuidOf(new Uint8Array(await crypto.subtle.digest("SHA-256", day)).slice(0, 16));
}
