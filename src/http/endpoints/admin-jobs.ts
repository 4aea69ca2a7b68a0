import type * as z from "zod/mini";
import type { Presented, Schemas } from "../../api/answer.ts";
import { anyJob, jobInputs } from "../../api/job-bodies.ts";
import { fingerprint } from "../../crypto/seal.ts";
import { callOperator } from "../../durable-object-calls.ts";
import { REGISTRY } from "../../model/backup.ts";
import { isId } from "../../model/ids.ts";
import type { Job, JobPlace, NewJob, RequestedKind, JobResult, RewrapInput } from "../../model/job.ts";
import { COUNTS, parseCount } from "../../model/query.ts";
import type { RestoreInput } from "../../model/restore.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { SECOND } from "../../model/time.ts";
import { createRequestId } from "../../request-id.ts";
import { type BackupStore, withBuckets } from "../../store/backup/load.ts";
import { checkRootKeys } from "../../store/keys/root-keys.ts";
import { checkRestore } from "../../store/restore/check.ts";
import { checkItem } from "../../store/restore/item.ts";
import { requireVault } from "../../store/vaults/vaults.ts";
import { requireBackup } from "../../store/verify/stages.ts";
import { newId } from "../new-id.ts";
import { nextPage } from "../optional-headers.ts";
import { presentTime } from "../present/time.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/jobs (contract 26): creates, shows and stops long jobs. */

interface Wanted extends Pick<NewJob, "input"> {
  readonly kind: RequestedKind;
}

export const createJob = serveBy({
  parse({ body }: ParseCall): Result<Wanted> {
    const job = parseValue(anyJob, body!.json, "the job");
    if (!job.ok) return job;
    const { kind, ...attributes } = job.value;
    return map(parseValue<z.ZodMiniType<object>>(jobInputs[kind], attributes, "the job"), (input) => ({ kind, input }));
  },
  async handle(call: Call, wanted: Wanted): ReplyTo<"createJob"> {
    const { env } = call.c;
    const request = { id: await newId(call, "new job"), request: await fingerprint(JSON.stringify(wanted)) };
    // A repeated request gets its job even if no new job would be created now.
    const known =
      call.idempotencyKey === undefined
        ? ok(undefined)
        : await callOperator(env, "unavailable", (operator) => operator.find(request));
    if (!known.ok) return known;
    if (known.value) return answerJob(known.value, 202);
    const row: JobRequest = JOB_REQUESTS[wanted.kind];
    const checked = row.seals ? await checkRootKeys(call.store.db, call.store.keyring) : ok(undefined);
    if (!checked.ok) return checked;
    const input = await row.prepare(call, wanted.input);
    if (!input.ok) return input;
    const job: NewJob = { ...request, kind: wanted.kind, input: input.value };
    const created = await callOperator(env, "uncertain", (operator) => operator.create(job));
    if (created.ok) return answerJob(created.value, 202);
    const { kind, detail } = created.failure;
    if (kind === "job_exists") call.c.header("Item-Vault-Job", detail);
    return created;
  },
});

export const getJob = serveBy({
  parse: ({ query: { rest } }: ParseCall): Result<number> => parseCount(rest, COUNTS.JobWait),
  async handle(call: Call, wait: number): ReplyTo<"getJob"> {
    const job = await callOperator(call.c.env, "unavailable", (operator) => operator.get(call.job, wait * SECOND));
    return job.ok ? answerJob(job.value) : job;
  },
});

export async function stopJob(call: Call): ReplyTo<"stopJob"> {
  const job = await callOperator(call.c.env, "uncertain", (operator) => operator.stop(call.job));
  return job.ok ? answerJob(job.value) : job;
}

const answerJob = (job: Job, status?: 202) => ok({ json: presentJob(job), status, made: job.id });

interface Page {
  readonly limit: number;
  /** The last job of the page before. */
  readonly after: JobPlace | undefined;
}

/** `<createdAt>.<id>`: a cursor that has only the id would end the list when its job is deleted between two pages. */
const presentPlace = ({ createdAt, id }: JobPlace): string => `${createdAt}.${id}`;

function parsePlace(cursor: string): JobPlace | undefined {
  const [, createdAt, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(cursor) ?? [];
  return id !== undefined && isId(id) ? { createdAt: Number(createdAt), id } : undefined;
}

/** Each job may show 100 findings. */
const PAGE_JOBS_MAX = 50;

export const listJobs = serveBy({
  parse({ query: { rest } }: ParseCall): Result<Page> {
    const limit = parseCount(rest, COUNTS.Limit);
    if (!limit.ok) return limit;
    const cursor = rest.get("cursor");
    const after = cursor === null ? undefined : parsePlace(cursor);
    if (cursor !== null && !after) return invalid("cursor: is not one that this service gave");
    return ok({ limit: Math.min(limit.value ?? PAGE_JOBS_MAX, PAGE_JOBS_MAX), after });
  },
  async handle(call: Call, { limit, after }: Page): ReplyTo<"listJobs"> {
    const { c } = call;
    // One more job shows if another page follows.
    const jobs = await callOperator(c.env, "unavailable", async (operator) => ok(await operator.list(limit + 1, after)));
    if (!jobs.ok) return jobs;
    const page = jobs.value.slice(0, limit);
    const link = nextPage(c, jobs.value.length > limit ? `limit=${limit}&cursor=${presentPlace(page.at(-1)!)}` : undefined);
    return ok({ json: page.map(presentJob), headers: link });
  },
});

const PAGE_FINDINGS_MAX = 1_000;

export const listJobFindings = serveBy({
  parse({ query: { rest } }: ParseCall): Result<number> {
    const text = rest.get("cursor") ?? "0";
    return /^\d{1,15}$/.test(text) ? ok(Number(text)) : invalid("cursor: is not one that this service gave");
  },
  async handle(call: Call, after: number): ReplyTo<"listJobFindings"> {
    const { c } = call;
    const page = await callOperator(call.c.env, "unavailable", (operator) =>
      operator.findings(call.job, after, PAGE_FINDINGS_MAX),
    );
    if (!page.ok) return page;
    const { findings, next } = page.value;
    const link = nextPage(c, next === undefined ? undefined : `cursor=${next}`);
    return ok({ json: findings, headers: link });
  },
});

/** Jobs on the wire (contract 26.1). */

function presentJob({ dryRun, createdAt, endedAt, result, ...job }: Job): Presented<Schemas.Job> {
  return {
    ...job,
    dryRun: dryRun || undefined,
    result: result && presentResult(result),
    createdAt: presentTime(createdAt),
    endedAt: endedAt === undefined ? undefined : presentTime(endedAt),
  };
}

function presentResult({ restored, ...others }: JobResult) {
  if (!restored) return others;
  const { takenAt } = restored;
  return { ...others, restored: { ...restored, takenAt: takenAt === undefined ? undefined : presentTime(takenAt) } };
}

/** The preconditions of a job and its input, by kind (contract 26.2). */

interface JobRequest<Input extends object = object> {
  /**
   * True if the job seals. The root keys are then first compared with those in the database, because no other key decrypts texts
   * sealed under a wrong key.
   */
  readonly seals?: true;
  /** Checks a request before its job is created. Returns the input of the job. */
  prepare(call: Call, input: Input): Promise<Result<object>>;
}

const JOB_REQUESTS: { readonly [Kind in RequestedKind]: JobRequest<z.output<(typeof jobInputs)[Kind]>> } = {
  rewrap: {
    seals: true,
    prepare: async ({ store: { keyring } }) => ok<RewrapInput>({ activeKey: keyring.active.id }),
  },
  verify: { prepare: prepareOfVault },
  backup: { prepare: prepareOfVault },
  restore: { seals: true, prepare: prepareRestore },
};

/** Fails with `vault_not_found`, `backup_not_found`, or with `misconfigured` if no backup bucket is bound. */
async function prepareOfVault<Input extends { readonly vault?: string | undefined; readonly backup?: boolean }>(
  { store, c }: Call,
  input: Input,
): Promise<Result<Input>> {
  const { vault, backup } = input;
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  if (vault === undefined) return ok(input);
  return map(await (backup ? requireBackup(buckets.value, vault) : requireVault(store.db, vault)), () => input);
}

type RestoreRequest = Omit<RestoreInput, "entry">;

/** Fails with `misconfigured` if no backup bucket is bound, as `checkRestore` and `checkItem` do, and with `database_full`. */
async function prepareRestore({ store, c }: Call, input: RestoreRequest): Promise<Result<RestoreInput>> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const checked = await requireRestorable(buckets.value, input);
  if (!checked.ok) return checked;
  // The job keeps its input, and the operator has it from another isolate.
  return ok({ ...input, entry: createRequestId(Date.now()) });
}

async function requireRestorable(store: BackupStore, input: RestoreRequest): Promise<Result<undefined>> {
  const { item, vault = REGISTRY, ...wanted } = input;
  const request = { vault, ...wanted };
  const checked = item === undefined ? await checkRestore(store, request) : await checkItem(store, request, item);
  if (!checked.ok) return checked;
  const lacksRoom = "room" in checked.value && !checked.value.room && !wanted.dryRun;
  return lacksRoom ? fail("database_full") : ok(undefined);
}
