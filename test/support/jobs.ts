import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Operator } from "../../src/index.ts";
import type { Finding } from "../../src/model/finding.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { sleep } from "./bindings.ts";
import { admin } from "./service.ts";

/** Long jobs (contract 26), run by an operator of the test's own. */

export const JOBS = "/v1/admin/jobs";

export interface Service {
  /** The bindings of a Worker: those of the test, and the operator with them. */
  readonly bindings: Partial<Env>;
  /** The name of its operator. */
  readonly name: string;
}

/** A Worker and an operator with these bindings, and an operator with the others too. The operator has no job yet. */
export async function serviceWith(bindings: Partial<Env>, ofOperator: Partial<Env> = {}): Promise<Service> {
  const name = crypto.randomUUID();
  await rebindOperator({ name }, { ...bindings, ...ofOperator });
  const OPERATOR = { getByName: () => env.OPERATOR.getByName(name) } as unknown as Env["OPERATOR"];
  return { bindings: { ...bindings, OPERATOR }, name };
}

/** Gives the operator other bindings, until its object is ended. */
export async function rebindOperator({ name }: Pick<Service, "name">, bindings: Partial<Env>): Promise<void> {
  await runInDurableObject(env.OPERATOR.getByName(name), (operator: Operator) => {
    Object.defineProperty(operator, "env", { value: { ...env, ...bindings }, configurable: true });
  });
}

/** Ends the operator as a lack of memory does: its next instance has the bindings of all tests. */
export const killOperator = (service: Service): Promise<unknown> =>
  runInDurableObject(operatorOf(service), (_, state) => state.abort("killed")).catch(() => undefined);

/** Starts a job. Out: its id. */
export async function startJob({ bindings }: Service, body: object): Promise<string> {
  const started = await admin("POST", JOBS, { body, env: bindings });
  expect([started.status, started.body.message]).toEqual([202, undefined]);
  return started.body.id;
}

/** Waits for the end of a job, and makes steps that failed due at once. Out: the job as the API shows it. */
export async function endOfJob(service: Service, id: string): Promise<any> {
  for (;;) {
    const { status, body } = await admin("GET", `${JOBS}/${id}`, { env: service.bindings });
    expect(status).toBe(200);
    if (body.endedAt !== undefined) return body;
    await ring(service, body.reason !== undefined);
    await sleep(2);
  }
}

/**
 * Makes a step that is due by the clock of the test, which may have been set forward. Not by `runDurableObjectAlarm`, which would interrupt a
 * step that an alarm has begun. In: whether steps that failed are due too.
 */
const ring = (service: Service, isFailed: boolean): Promise<void> =>
  runInDurableObject(operatorOf(service), (operator, { storage }) => {
    if (isFailed) storage.sql.exec("UPDATE jobs SET due = 1 WHERE reason IS NOT NULL AND ended_at IS NULL");
    return operator.alarm();
  });

/** Makes all steps due, and rings the alarm. */
export async function tryAgain(service: Service): Promise<void> {
  await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = 1"));
  await runDurableObjectAlarm(operatorOf(service));
}

export async function runJob(service: Service, body: object): Promise<any> {
  return endOfJob(service, await startJob(service, body));
}

/** Waits for the end of all jobs. Out: all jobs of the operator as the API shows them, the newest first. */
export async function endOfJobs(service: Service): Promise<any[]> {
  for (;;) {
    const { body } = await admin("GET", JOBS, { env: service.bindings });
    const unended = body.find(({ endedAt }: { endedAt?: string }) => endedAt === undefined);
    if (!unended) return body;
    await endOfJob(service, unended.id);
  }
}

/** The hourly run, and the end of the jobs that it has started. In: as `serviceWith`. Out: the jobs. */
export async function runHourly(bindings: Partial<Env> = {}, ofOperator: Partial<Env> = {}, now = Date.now()): Promise<any[]> {
  const service = await serviceWith(bindings, ofOperator);
  await cleanUp({ ...env, ...service.bindings }, now);
  return endOfJobs(service);
}

/** All findings of a job, page after page. */
export async function findingsOf({ bindings }: Service, id: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let query = ""; ;) {
    const { body, headers } = await admin("GET", `${JOBS}/${id}/findings${query}`, { env: bindings });
    findings.push(...(body as Finding[]));
    const next = /<(.*)>/.exec(headers.get("Link") ?? "")?.[1];
    if (next === undefined) return findings;
    query = new URL(next).search;
  }
}

/** A new stub: one whose object was ended stays broken. */
export const operatorOf = ({ name }: Service): DurableObjectStub<Operator> => env.OPERATOR.getByName(name);

/** In: what reads or changes the SQLite of the operator. */
export const inOperator = <T>(service: Service, use: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(operatorOf(service), (_, { storage }) => use(storage.sql));
