import { fail, must, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch, tryBatch } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";

/**
 * The steps of a job that write D1. A job has a row in D1 with the number of its last write; each write raises the number in its own batch,
 * and takes effect only after the write before it. So a job notices when D1 was restored to an earlier time: its row is behind, or gone.
 */

/** A write of a job. */
export interface JobWrite {
  readonly job: string;
  /** 1 for the first write of the job. A step that is repeated has the same number again. */
  readonly number: number;
}

const SQL = {
  /** The first write makes the row. A repeated write finds its own number. */
  require: fence("?2 = 1 OR EXISTS (SELECT 1 FROM job_writes WHERE id = ?1 AND writes BETWEEN ?2 - 1 AND ?2)"),
  raise: `
    INSERT INTO job_writes (id, writes, created_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (id) DO UPDATE SET writes = max(writes, excluded.writes)`,
  forget: "DELETE FROM job_writes WHERE created_at < ?1",
};

/**
 * Carries out a write of a job, in one D1 call. In: Unix milliseconds. Errors: `database_restored`, when D1 lacks an earlier write of the job;
 * `database_full`; `unavailable`, also when the write may have taken effect: it may be repeated.
 */
export async function writeStep(
  db: D1Database,
  { job, number }: JobWrite,
  statements: readonly D1PreparedStatement[],
  now: number,
): Promise<Result<undefined>> {
  const raise = db.prepare(SQL.raise).bind(job, number, now);
  const outcome = await tryBatch(db, [db.prepare(SQL.require).bind(job, number), raise, ...statements]);
  if (outcome === "committed") return ok(undefined);
  if (outcome === "stale") return fail("database_restored");
  if (outcome === "full") return fail("database_full");
  return fail(outcome === "refused" ? "internal" : "unavailable");
}

/** Milliseconds for which a job may write: longer than jobs are kept after their end. */
const WRITES_MS_MAX = 60 * DAY;

/** Deletes the rows of old jobs. One D1 call. In: Unix milliseconds. Throws when D1 fails. */
export async function forgetWrites(db: D1Database, now: number): Promise<void> {
  must("forget the writes of jobs", await runBatch(db, db.prepare(SQL.forget).bind(now - WRITES_MS_MAX)));
}
