import type { FailureKind } from "../../model/failure.ts";
import type { Finding } from "../../model/finding.ts";
import {
  type Job,
  type JobKind,
  type JobPlace,
  type JobProgress,
  type JobResult,
  type JobState,
  type NewJob,
  SERVICE_KINDS,
  SHOWN_FINDINGS_MAX,
} from "../../model/job.ts";
import { DAY } from "../../model/time.ts";

/** The rows of jobs in the SQLite of the Durable Object that runs them. */

export interface JobRow {
  readonly [column: string]: SqlStorageValue;
  readonly id: string;
  readonly request: string;
  readonly kind: JobKind;
  /** 1: the job changes nothing and only reports. */
  readonly dry_run: number;
  /** The lock of the job (jobs/kind.ts). */
  readonly holds: string | null;
  readonly state: JobState;
  /** Number of the job's writes to D1 (step-fence.ts). */
  readonly writes: number;
  /** The state of the kind between two steps: JSON. A list of jobs has its first piece only. */
  readonly data: string;
  readonly data_format: number;
  /** Number of kept steps. */
  readonly steps: number;
  /** Number of times that the next step has begun. */
  readonly tries: number;
  /** Due time of the next step. */
  readonly due: number;
  readonly done: number;
  readonly total: number;
  /** A `JobResult`: JSON. */
  readonly result: string | null;
  readonly created_at: number;
  readonly ended_at: number | null;
  readonly reason: FailureKind | null;
}

/** The state of the kind between two steps. */
interface JobData {
  readonly data: string;
  readonly format: number;
}

const UNENDED = "state IN ('waiting', 'running')";

/** Returns SQL that is true if two locks are equal, or one includes the other: `vaults` includes `vaults/<id>`. */
const overlap = (a: string, b: string): string => `(${a} || '/' LIKE ${b} || '/%' OR ${b} || '/' LIKE ${a} || '/%')`;

/**
 * SQL: true if a job may make steps. A job that waits for the jobs that exclude it begins after all such jobs created earlier have ended. A
 * job that has begun counts whatever its time, because the clock may have gone back.
 */
const MAY_STEP = `
  (state = 'running' OR state = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.${UNENDED} AND ${overlap("other.holds", "jobs.holds")}
      AND (other.state = 'running' OR (other.created_at, other.id) < (jobs.created_at, jobs.id))))`;

const SQL = {
  insert: `
    INSERT INTO jobs (id, request, kind, dry_run, holds, state, writes, data, data_format, tries, due, done, total, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', 0, ?6, ?7, 0, ?8, 0, 0, ?8)`,
  load: "SELECT * FROM jobs WHERE id = ?1",
  same: "SELECT * FROM jobs WHERE kind = ?1 AND request = ?2 AND state = 'waiting' LIMIT 1",
  holder: `SELECT id FROM jobs WHERE ${overlap("holds", "?1")} AND ${UNENDED} LIMIT 1`,
  due: `SELECT * FROM jobs WHERE ${MAY_STEP} AND due <= ?1 ORDER BY due, id LIMIT 1`,
  nextDue: `SELECT min(due) AS due FROM jobs WHERE ${MAY_STEP}`,
  list: `
    SELECT * FROM jobs
    WHERE ?2 IS NULL OR (created_at, id) < (?2, ?3)
    ORDER BY created_at DESC, id DESC LIMIT ?1`,
  unended: `SELECT 1 FROM jobs WHERE id = ?1 AND ${UNENDED}`,
  // A job that was stopped during its step stays stopped.
  begin: `UPDATE jobs SET state = 'running', tries = tries + 1, due = ?2 WHERE id = ?1 AND ${UNENDED}`,
  recordFailure: `UPDATE jobs SET reason = ?2 WHERE id = ?1 AND ${UNENDED}`,
  advance: `
    UPDATE jobs SET data = ?2, data_format = ?3, tries = 0, due = ?4, done = ?5, total = ?6, result = ?7, writes = ?8, reason = NULL,
      steps = steps + 1
    WHERE id = ?1 AND ${UNENDED} AND steps = ?9 RETURNING id`,
  moreData: "SELECT data FROM job_data WHERE job = ?1 ORDER BY number",
  addData: "INSERT INTO job_data (job, number, data) VALUES (?1, ?2, ?3)",
  removeData: "DELETE FROM job_data WHERE job = ?1",
  end: `UPDATE jobs SET state = ?2, ended_at = ?3, reason = ?4 WHERE id = ?1 AND ${UNENDED}`,
  failed: `
    SELECT id, kind, reason FROM jobs AS job
    WHERE (state = 'failed' OR EXISTS (
        SELECT 1 FROM job_findings
        WHERE job_findings.job = job.id AND finding ->> 'kind' = 'vault_skipped'))
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE kind = job.kind AND (created_at, id) > (job.created_at, job.id))`,
  old: `
    SELECT id FROM jobs AS job WHERE NOT ${UNENDED} AND (ended_at < ?1
      OR id NOT IN (SELECT id FROM jobs ORDER BY created_at DESC, id DESC LIMIT ?2)
      OR state = 'done' AND kind IN (SELECT value FROM json_each(?3)) AND EXISTS (
        SELECT 1 FROM jobs WHERE kind = job.kind AND state = 'done' AND (created_at, id) > (job.created_at, job.id)))`,
  remove: "DELETE FROM jobs WHERE id = ?1",
};

/** The lock and the effect of a job. */
interface JobEffect {
  /** The lock of the job (jobs/kind.ts). */
  readonly holds: string | undefined;
  /** True if the job changes nothing and only reports. */
  readonly dryRun: boolean;
}

/** Adds a job, which is due immediately. `now` is in Unix milliseconds. */
export function insertJob(
  sql: SqlStorage,
  { id, request, kind }: NewJob,
  { holds, dryRun }: JobEffect,
  { data, format }: JobData,
  now: number,
): void {
  sql.exec(SQL.insert, id, request, kind, dryRun ? 1 : 0, holds ?? null, data, format, now);
}

/** SQLite in a Durable Object has rows of at most 2 MB, and a character has at most 3 bytes. */
const PIECE_CHARACTERS = 512 * 1024;

/** The pieces of a state, each of which fits into a row; one at least. No character is cut in two. */
function piecesOf(data: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < data.length || pieces.length === 0;) {
    const end = at + PIECE_CHARACTERS;
    const isInPair = /[\uD800-\uDBFF]/.test(data[end - 1] ?? "");
    pieces.push(data.slice(at, isInPair ? end - 1 : end));
    at += pieces.at(-1)!.length || 1;
  }
  return pieces;
}

/** A row with its whole state. */
const wholeRow = (sql: SqlStorage, row: JobRow | undefined): JobRow | undefined =>
  row && { ...row, data: [row, ...sql.exec<{ data: string }>(SQL.moreData, row.id).toArray()].map(({ data }) => data).join("") };

export const loadJob = (sql: SqlStorage, id: string): JobRow | undefined =>
  wholeRow(sql, sql.exec<JobRow>(SQL.load, id).toArray()[0]);

/** Returns a job for the same request that has not begun. */
export const findSame = (sql: SqlStorage, { kind, request }: Pick<NewJob, "kind" | "request">): JobRow | undefined =>
  sql.exec<JobRow>(SQL.same, kind, request).toArray()[0];

/** Returns the id of a running job whose lock overlaps with this one. */
export const findHolder = (sql: SqlStorage, holds: string | undefined): string | undefined =>
  holds === undefined ? undefined : sql.exec<{ id: string }>(SQL.holder, holds).toArray()[0]?.id;

/** Returns the job whose step has been due longest. `now` is in Unix milliseconds. */
export const findDue = (sql: SqlStorage, now: number): JobRow | undefined =>
  wholeRow(sql, sql.exec<JobRow>(SQL.due, now).toArray()[0]);

/** Returns the due time of the next step, in Unix milliseconds. */
export const nextDue = (sql: SqlStorage): number | undefined =>
  sql.exec<{ due: number | null }>(SQL.nextDue).toArray()[0]?.due ?? undefined;

/** Returns jobs, newest first, after the place `after`. */
export const listJobRows = (sql: SqlStorage, limit: number, after: JobPlace | undefined): JobRow[] =>
  sql.exec<JobRow>(SQL.list, limit, after?.createdAt ?? null, after?.id ?? null).toArray();

/** Counts a try of the next step. `retryAt` is the time of the retry if this try does not end. */
export function beginStep(sql: SqlStorage, id: string, retryAt: number): void {
  sql.exec(SQL.begin, id, retryAt);
}

/** Stores the reason why the step will be retried. */
export function recordFailure(sql: SqlStorage, id: string, reason: FailureKind): void {
  sql.exec(SQL.recordFailure, id, reason);
}

/** The result of a step, as the admin sees it. */
export interface JobReached {
  readonly progress: JobProgress;
  readonly result?: JobResult | undefined;
}

/** The data that the engine keeps of a step. */
interface StepOutcome extends JobData, JobReached {
  /** Number of the job's writes to D1. */
  readonly writes: number;
}

/**
 * Keeps the result of a step, unless another try of the step has since been kept. The row has not changed since the step began. `now` is in
 * Unix milliseconds. Returns true if it was kept.
 */
export function advanceJob(
  sql: SqlStorage,
  { id, steps }: Pick<JobRow, "id" | "steps">,
  { data, format, progress: { done, total }, result, writes }: StepOutcome,
  now: number,
): boolean {
  const text = result ? JSON.stringify(result) : null;
  const [first, ...more] = piecesOf(data);
  if (sql.exec(SQL.advance, id, first, format, now, done, total, text, writes, steps).toArray().length === 0) return false;
  sql.exec(SQL.removeData, id);
  for (const [number, piece] of more.entries()) sql.exec(SQL.addData, id, number, piece);
  return true;
}

/** Returns true if a job has not ended. Reads one row, because a waiting request asks often. */
export const isUnended = (sql: SqlStorage, id: string): boolean => sql.exec(SQL.unended, id).toArray().length > 0;

export function endJob(sql: SqlStorage, id: string, state: JobState, now: number, reason?: FailureKind): void {
  sql.exec(SQL.end, id, state, now, reason ?? null);
}

/** A job that has failed, or has left a vault out: then without a reason. */
export type FailedJob = Pick<JobRow, "id" | "kind" | "reason">;

/** Returns the newest job of each kind, if it has failed or has left a vault out. */
export const listFailed = (sql: SqlStorage): FailedJob[] =>
  sql.exec<Pick<JobRow, "id" | "kind" | "reason">>(SQL.failed).toArray();

/**
 * Retention of ended jobs, and their maximum number. Of a kind that the service starts by itself, only the newest done job is kept. Otherwise
 * the hourly jobs would displace the admin's jobs.
 */
const KEPT = { milliseconds: 30 * DAY, jobs: 1_000 };

/** Deletes old jobs that have ended. `now` is in Unix milliseconds. */
export function deleteOldJobs(sql: SqlStorage, now: number): void {
  const old = sql.exec<{ id: string }>(SQL.old, now - KEPT.milliseconds, KEPT.jobs, JSON.stringify(SERVICE_KINDS));
  for (const { id } of old.toArray()) {
    removeFindings(sql, id);
    sql.exec(SQL.removeData, id);
    sql.exec(SQL.remove, id);
  }
}

/** The job as the admin sees it. */
export function jobOf(sql: SqlStorage, row: JobRow): Job {
  const { id, kind, dry_run, state, done, total, result, created_at, ended_at, reason, tries } = row;
  return {
    id,
    kind,
    dryRun: dry_run !== 0,
    state,
    progress: { done, total },
    result: result === null ? undefined : (JSON.parse(result) as JobResult),
    findings: loadFindings(sql, id, 0, SHOWN_FINDINGS_MAX).findings,
    createdAt: created_at,
    endedAt: ended_at ?? undefined,
    reason: reason ?? undefined,
    tries: reason === null || ended_at !== null ? undefined : tries,
  };
}

/** The findings of a job, in the SQLite of the Durable Object that runs it. Each finding is one row. */

const FINDINGS_SQL = {
  list: "SELECT number, finding FROM job_findings WHERE job = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
  add: `
    INSERT INTO job_findings (job, number, finding)
    SELECT ?1, coalesce((SELECT max(number) FROM job_findings WHERE job = ?1), 0) + 1, ?2 WHERE true
    ON CONFLICT DO NOTHING`,
  // The finding keeps its number, after which pages begin.
  repair: "UPDATE OR REPLACE job_findings SET finding = ?3 WHERE job = ?1 AND finding = ?2",
  remove: "DELETE FROM job_findings WHERE job = ?1",
};

/** Adds findings that the job does not have yet. A repaired finding replaces the same finding without the repair. */
export function addFindings(sql: SqlStorage, id: string, findings: readonly Finding[]): void {
  for (const finding of findings) {
    const text = JSON.stringify(finding);
    if (finding.repaired) sql.exec(FINDINGS_SQL.repair, id, JSON.stringify({ ...finding, repaired: false }), text);
    sql.exec(FINDINGS_SQL.add, id, text);
  }
}

export interface FindingPage {
  readonly findings: readonly Finding[];
  /** The number of the last one, after which the next page begins; absent on the last page. */
  readonly next: number | undefined;
}

/** Returns the page of findings after the number `after`. */
export function loadFindings(sql: SqlStorage, id: string, after: number, limit: number): FindingPage {
  // One more, which shows whether another page follows.
  const rows = sql.exec<{ number: number; finding: string }>(FINDINGS_SQL.list, id, after, limit + 1).toArray();
  const page = rows.slice(0, limit);
  const findings = page.map(({ finding }) => JSON.parse(finding) as Finding);
  return { findings, next: rows.length > limit ? page.at(-1)!.number : undefined };
}

function removeFindings(sql: SqlStorage, id: string): void {
  sql.exec(FINDINGS_SQL.remove, id);
}
