import { fail, must, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch, writeFenced } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";
import { into } from "../tables/statements.ts";

/**
 * The steps of a job that write D1. A job has a row in D1 with the number of its last write; each write raises the number in its own batch,
 * and takes effect only after the write before it. So a job notices when D1 was restored to an earlier time: its row is behind, or gone.
 */

/** The writes of a job. A job that was forgotten may be created again with the same id, and then has another time. */
export interface JobWrites {
  readonly job: string;
  /** When it was created: Unix milliseconds. */
  readonly createdAt: number;
  /** How many of its steps have written. A step that is repeated has the same number again, and so have all writes of one step. */
  readonly writes: number;
  /** Whether the step that is under way has written: then D1 has its number. */
  readonly hasWritten?: boolean;
}

/** Carries out statements in one D1 call, behind the fence of a job. Errors: those of `writeStep`. */
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
 * Looks whether D1 has all writes of a job. One D1 call, and none before the first write. Errors: `database_restored`; `unavailable`.
 */
export async function requireWrites(db: D1Database, { job, createdAt, writes }: JobWrites): Promise<Result<undefined>> {
  if (writes === 0) return ok(undefined);
  const read = await runBatch<[{ writes: number }]>(db, db.prepare(SQL.last).bind(job, createdAt));
  if (!read.ok) return read;
  return read.value[0][0]!.writes >= writes ? ok(undefined) : fail("database_restored");
}

/**
 * Carries out the next write of a job, in one D1 call. Errors: `database_restored`, when D1 lacks an earlier write of the job; `database_full`;
 * `unavailable`, also when the write may have taken effect: it may be repeated.
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
 * Makes void what a job has written and is still on its way, when the job ends: the last write, whose number this raises by two, because D1 may
 * not have it. One D1 call. Errors: those of `writeStep`.
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

/** Deletes the rows of old jobs. One D1 call. In: Unix milliseconds. Throws when D1 fails. */
export async function forgetWrites(db: D1Database, now: number): Promise<void> {
  must("forget the writes of jobs", await runBatch(db, db.prepare(SQL.forget).bind(now - WRITES_KEPT_MS)));
}
