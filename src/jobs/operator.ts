import { DurableObject } from "cloudflare:workers";
import { logFailure } from "../log.ts";
import { hasEnded, type Job, type JobPlace, type JobRequestId, type NewJob, type ServiceKind } from "../model/job.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { openStore } from "../store/d1/database.ts";
import { migrateObject, OPERATOR_MIGRATIONS } from "../store/d1/object-schema.ts";
import {
  deleteOldJobs,
  endJob,
  type FailedJob,
  findHolder,
  findSame,
  insertJob,
  jobOf,
  listFailed,
  listJobRows,
  loadJob,
  type FindingPage,
  loadFindings,
  isUnended,
} from "../store/jobs/job-rows.ts";
import { type EngineContext, mayStop, runStep, setNextAlarm } from "./engine.ts";
import { KINDS } from "./kinds.ts";

/** Milliseconds between two checks of a request that waits for the end of a job. */
const LOOK_MS = 100;

/**
 * The only Durable Object of the deployment: it creates every job, keeps their list, and runs them. During a deployment, Workers of one
 * release call an operator of another, so its methods keep their names.
 */
export class Operator extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage.sql, OPERATOR_MIGRATIONS);
  }

  /**
   * Creates a job, once however often it is requested. Fails with `idempotency` if the id belongs to another request, with `job_exists`,
   * which has the id of the job with the same lock, and with `version_skew`.
   */
  async create(job: NewJob): Promise<Result<Job>> {
    const { sql } = this.ctx.storage;
    const existing = this.#find(job);
    if (!existing.ok) return existing;
    if (existing.value) return ok(existing.value);
    if (!Object.hasOwn(KINDS, job.kind)) return fail("version_skew");
    // Otherwise a further waiting job would be added each night.
    const same = job.waits ? findSame(sql, job) : undefined;
    if (same) return ok(jobOf(sql, same));
    const { format, holds: holdsOf, isDryRun, start } = KINDS[job.kind];
    const holds = holdsOf(job.input);
    const holder = job.waits ? undefined : findHolder(sql, holds);
    if (holder !== undefined) return fail("job_exists", holder);
    const effect = { holds, dryRun: isDryRun?.(job.input) ?? false };
    insertJob(sql, job, effect, { data: JSON.stringify(start(job.input)), format }, Date.now());
    deleteOldJobs(sql, Date.now());
    await setNextAlarm(this.ctx.storage);
    return this.#load(job.id);
  }

  /**
   * Starts a job of a kind that the service starts by itself. If a job of this kind is running: with `waits`, queues one more run; otherwise
   * does nothing. Fails with `version_skew`.
   */
  async start(kind: ServiceKind, waits: boolean): Promise<Result<undefined>> {
    const created = await this.create({ id: crypto.randomUUID(), request: "", kind, input: {}, waits });
    return created.ok || created.failure.kind === "job_exists" ? ok(undefined) : created;
  }

  /** Returns the job of a repeated request, or undefined. Fails with `idempotency` if the id belongs to another request. */
  async find(request: JobRequestId): Promise<Result<Job | undefined>> {
    return this.#find(request);
  }

  /** Returns a job. Waits at most `wait` milliseconds for its end. Fails with `job_not_found`. */
  async get(id: string, wait: number): Promise<Result<Job>> {
    for (let left = wait; left > 0 && isUnended(this.ctx.storage.sql, id); left -= LOOK_MS)
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, LOOK_MS)));
    return this.#load(id);
  }

  /** Returns jobs, newest first, after the place `after`. */
  async list(limit: number, after: JobPlace | undefined): Promise<Job[]> {
    const { sql } = this.ctx.storage;
    return listJobRows(sql, limit, after).map((row) => jobOf(sql, row));
  }

  /** Returns a page of findings after the number `after`. Fails with `job_not_found`. */
  async findings(id: string, after: number, limit: number): Promise<Result<FindingPage>> {
    const { sql } = this.ctx.storage;
    return loadJob(sql, id) ? ok(loadFindings(sql, id, after, limit)) : fail("job_not_found");
  }

  /** Returns the newest job of each kind, if it has failed or has left a vault out. */
  async failed(): Promise<FailedJob[]> {
    return listFailed(this.ctx.storage.sql);
  }

  /**
   * Stops a job between two steps. An ended job is not changed. Fails with `job_not_found`, and with `job_unstoppable` if the kind may not
   * stop in its state.
   */
  async stop(id: string): Promise<Result<Job>> {
    const { sql } = this.ctx.storage;
    const row = loadJob(sql, id);
    if (row && !hasEnded(row.state) && !mayStop(row)) return fail("job_unstoppable");
    endJob(sql, id, "stopped", Date.now());
    await setNextAlarm(this.ctx.storage); // of a job that has waited for this one
    return this.#load(id);
  }

  /** Makes one step, and sets the alarm for the next one. An exception in a step must not keep the other jobs from their steps. */
  override async alarm(): Promise<void> {
    const context: EngineContext = {
      storage: this.ctx.storage,
      openStore: () => openStore(this.env, Date.now()),
      bindings: this.env,
      clock: () => Date.now(),
    };
    try {
      await runStep(context);
    } catch (error) {
      logFailure("The alarm of the operator", error);
    } finally {
      await setNextAlarm(this.ctx.storage);
    }
  }

  #find({ id, request }: JobRequestId): Result<Job | undefined> {
    const { sql } = this.ctx.storage;
    const row = loadJob(sql, id);
    if (!row) return ok(undefined);
    return row.request === request ? ok(jobOf(sql, row)) : fail("idempotency");
  }

  #load(id: string): Result<Job> {
    const { sql } = this.ctx.storage;
    const row = loadJob(sql, id);
    return row ? ok(jobOf(sql, row)) : fail("job_not_found");
  }
}
