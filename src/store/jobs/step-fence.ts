import { fail, must, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch, writeFenced } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";
import { into } from "../tables/statements.ts";

/**
 * The steps of a job that write to D1. A job has a row in D1 with the number of its last write. Each write raises the number in its own
 * batch, and takes effect only after the write before it. So a job notices a restore of D1 to an earlier time: its row is behind, or gone.
 */

/** The writes of a job. A job that was forgotten may be created again with the same id, and then has another time. */
export interface JobWrites {
  readonly job: string;
  /** Creation time of the job, in Unix milliseconds. */
  readonly createdAt: number;
  /** Number of its steps that have written. A repeated step has the same number again, and so have all writes of one step. */
  readonly writes: number;
  /** True if the current step has written: D1 then has its number. */
  readonly hasWritten?: boolean;
}

/** Runs statements in one D1 call, behind the fence of a job. Fails as `writeStep` does. */
export type WriteRows = (statements: readonly D1PreparedStatement[]) => Promise<Result<undefined>>;

const LAST_WRITE = "coalesce((SELECT writes FROM job_writes WHERE id = ?1 AND created_at = ?2), 0)";

const SQL = {
  /** A repeated write finds its own number, and so does a later write of the same step. */
  require: fence(`${LAST_WRITE} BETWEEN ?3 + ?4 AND ?3 + 1`),
  raise: `
    INSERT ${into("job_writes")} VALUES (?1, ?2, ?3 + 1)
    ON CONFLICT (id, created_at) DO UPDATE SET writes = excluded.writes`,
  last: `SELECT ${LAST_WRITE} AS writes`,
  forget: "DELETE FROM job_writes WHERE created_at < ?1",
};

/**
 * Checks that D1 has all writes of a job. Makes one D1 call, and none before the first write. Fails with `database_restored` or
 * `unavailable`.
 */
export async function requireWrites(db: D1Database, { job, createdAt, writes }: JobWrites): Promise<Result<undefined>> {
  if (writes === 0) return ok(undefined);
  const read = await runBatch<[{ writes: number }]>(db, db.prepare(SQL.last).bind(job, createdAt));
  if (!read.ok) return read;
  return read.value[0][0]!.writes >= writes ? ok(undefined) : fail("database_restored");
}

/**
 * Makes the next write of a job, in one D1 call. Fails with `database_restored` if D1 lacks an earlier write of the job, with
 * `database_full`, and with `unavailable`, also if the write may have taken effect. It can then be repeated.
 */
export async function writeStep(
  db: D1Database,
  written: JobWrites,
  statements: readonly D1PreparedStatement[],
): Promise<Result<undefined>> {
  const raised = raiseWrites(db, written);
  return writeFenced(db, [...raised, ...statements], "database_restored");
}

/**
 * Invalidates a write that may still be in flight when the job ends, by advancing the fence past it. The number is raised by two, because D1
 * may not have the last write. Makes one D1 call. Fails as `writeStep` does.
 */
export async function voidWrites(db: D1Database, written: JobWrites): Promise<Result<undefined>> {
  const next = { ...written, writes: written.writes + 1 };
  return writeFenced(db, [...raiseWrites(db, written), ...raiseWrites(db, next)], "database_restored");
}

/** The statements that begin a write. */
const raiseWrites = (db: D1Database, { job, createdAt, writes, hasWritten = false }: JobWrites): D1PreparedStatement[] => [
  db.prepare(SQL.require).bind(job, createdAt, writes, Number(hasWritten)),
  db.prepare(SQL.raise).bind(job, createdAt, writes),
];

/** Milliseconds for which the row of a job is kept, longer than jobs are kept after their end. A job that is older fails at its next write. */
const WRITES_KEPT_MS = 60 * DAY;

/** Deletes the rows of old jobs in one D1 call. `now` is in Unix milliseconds. Throws if D1 fails. */
export async function forgetWrites(db: D1Database, now: number): Promise<void> {
  must("forget the writes of jobs", await runBatch(db, db.prepare(SQL.forget).bind(now - WRITES_KEPT_MS)));
}
