import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { retryDelay } from "../../src/jobs/engine.ts";
import { STEP_TRIES_MAX } from "../../src/model/job.ts";
import { sleep, wrapDatabase } from "../support/bindings.ts";
import {
  endOfJob,
  inOperator,
  JOBS,
  killOperator,
  operatorOf,
  rebindOperator,
  runJob,
  type Service,
  serviceWith,
  startJob,
  tryAgain,
} from "../support/jobs.ts";
import { newStages } from "../support/root-keys.ts";
import { seedVaults } from "../support/seed-vaults.ts";
import { admin, makeToken, makeVault, nextOf, outcome, type Reply } from "../support/service.ts";

/** Long jobs (contract 26.1 to 26.8). A rewrap stands for all kinds: what is told here is the engine's. */

const REWRAP = { kind: "rewrap" };

const ask = ({ bindings }: Service, method: string, path = "", more: object = {}): Promise<Reply> =>
  admin(method, `${JOBS}${path}`, { ...more, env: bindings });

const readNext = ({ bindings }: Service, page: Reply): Promise<Reply> => admin("GET", nextOf(page)!, { env: bindings });

/** A D1 that does not answer until it is told to. */
function silentDatabase() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { DB: wrapDatabase(env.DB, { before: () => promise }), answer: resolve };
}

const lostD1 = () => {
  throw new Error("D1_ERROR: Network connection lost.");
};

const idsOf = ({ body }: Reply) => body.map(({ id }: { id: string }) => id);

/** What /health says of jobs. */
const jobsIn = async ({ bindings }: Service) => {
  const { body } = await admin("GET", "/health", { env: bindings });
  return body.dependencies.find(({ service }: { service: string }) => service === "jobs");
};

beforeEach(async () => {
  const tables = ["vaults", "tokens", "ended_tokens", "root_keys", "root_key_uses", "job_writes"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  await makeVault();
});

describe("POST /v1/admin/jobs", () => {
  it("starts a job, which goes on by itself until it is done", async () => {
    const service = await serviceWith({});
    const { status, body } = await ask(service, "POST", "", { body: REWRAP });
    expect([status, body]).toMatchObject([202, { kind: "rewrap", progress: { done: 0, total: 0 }, findings: [] }]);
    expect(await endOfJob(service, body.id)).toMatchObject({ id: body.id, state: "done", createdAt: body.createdAt });
  });

  it("with the same Idempotency-Key is the same job, also after its end", async () => {
    const service = await serviceWith({});
    const headers = { "Idempotency-Key": "one" };
    const first = await ask(service, "POST", "", { body: REWRAP, headers });
    await endOfJob(service, first.body.id);
    const again = await ask(service, "POST", "", { body: REWRAP, headers });
    expect([again.status, again.body]).toMatchObject([202, { id: first.body.id, state: "done" }]);
    expect((await ask(service, "GET")).body).toHaveLength(1);
  });

  it("is a 409 that names the job of the same kind that has not ended", async () => {
    const { DB, answer } = silentDatabase();
    const service = await serviceWith({}, { DB });
    const id = await startJob(service, REWRAP);
    const refused = await ask(service, "POST", "", { body: REWRAP });
    expect([outcome(refused), refused.headers.get("Item-Vault-Job")]).toEqual([[409, "job_exists"], id]);
    answer();
    await endOfJob(service, id);
    await runJob(service, REWRAP);
  });

  it("is a CREATE of a JOB in the log of the admin, and a stop a DELETE, also when they are repeated", async () => {
    const service = await serviceWith({});
    const headers = { "Idempotency-Key": "logged" };
    const { id } = (await ask(service, "POST", "", { body: REWRAP, headers })).body;
    await endOfJob(service, id);
    await ask(service, "POST", "", { body: REWRAP, headers });
    for (let count = 0; count < 2; count++) await ask(service, "DELETE", `/${id}`);
    const aboutJob = ({ resource }: { resource: { job?: { id: string } } }) => resource.job?.id === id;
    await expect
      .poll(async () => (await admin("GET", "/v1/admin/activity?limit=20")).body.filter(aboutJob))
      .toMatchObject(["DELETE", "DELETE", "CREATE", "CREATE"].map((action) => ({ action, resource: { type: "JOB" } })));
  });
});

describe("GET /v1/admin/jobs", () => {
  it("lists the jobs, the newest first, in pages", async () => {
    const service = await serviceWith({});
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift((await runJob(service, REWRAP)).id);
    const first = await ask(service, "GET", "?limit=2");
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    const second = await readNext(service, first);
    expect([idsOf(second), second.headers.get("Link")]).toEqual([ids.slice(2), null]);
  });

  it("says of a dry run that it is one, and of no other job, also after its end (26.1)", async () => {
    const service = await serviceWith({});
    const vault = await makeVault();
    await runJob(service, { kind: "backup", vault });
    const restore = { kind: "restore", vault, overwrite: true };
    const expected = [true, undefined, undefined];
    for (const [index, body] of [{ ...restore, dryRun: true }, { ...restore, dryRun: false }, restore].entries()) {
      const started = await ask(service, "POST", "", { body });
      expect([started.status, started.body.dryRun]).toEqual([202, expected[index]]);
      expect((await endOfJob(service, started.body.id)).dryRun).toBe(expected[index]);
    }
    const jobs: { dryRun?: boolean }[] = (await ask(service, "GET")).body;
    expect(jobs.map(({ dryRun }) => dryRun)).toEqual([...expected.toReversed(), undefined]);
  });

  it("goes on after a job that was deleted between two pages (11.5)", async () => {
    const service = await serviceWith({});
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.unshift((await runJob(service, REWRAP)).id);
    const first = await ask(service, "GET", "?limit=2");
    await inOperator(service, (sql) => sql.exec("DELETE FROM jobs WHERE id = ?", ids[1]));
    expect(idsOf(await readNext(service, first))).toEqual(ids.slice(2));
  });

  it("forgets jobs that ended 30 days ago, and more than 1,000", async () => {
    const service = await serviceWith({});
    await runJob(service, REWRAP);
    const copies = `
      INSERT INTO jobs SELECT 'copy ' || value, request, kind, holds, state, writes, data, data_format, tries, due, done, total, result, created_at - value, ended_at, reason, steps, dry_run
      FROM jobs, json_each(?1)`;
    await inOperator(service, (sql) => {
      sql.exec(copies, JSON.stringify(Array.from({ length: 1_200 }, (_, index) => index)));
      sql.exec("UPDATE jobs SET id = 'old', ended_at = ended_at - 31 * 86400000 WHERE id NOT LIKE 'copy %'");
    });
    const { id } = await runJob(service, REWRAP);
    const kept = await inOperator(service, (sql) => sql.exec("SELECT id FROM jobs").toArray());
    expect([kept.length, kept.some((job) => job["id"] === "old")]).toEqual([999, false]);
    expect(kept).toContainEqual({ id });
  });
});

describe("GET /v1/admin/jobs/{job}", () => {
  it("waits for the end of the job, as long as it is told to", async () => {
    const { DB, answer } = silentDatabase();
    const service = await serviceWith({}, { DB });
    const id = await startJob(service, REWRAP);
    const early = await ask(service, "GET", `/${id}?wait=1`);
    expect([early.status, early.body.endedAt]).toEqual([200, undefined]);
    const late = ask(service, "GET", `/${id}?wait=30`);
    answer();
    expect((await late).body).toMatchObject({ state: "done" });
  });
});

describe("DELETE /v1/admin/jobs/{job}", () => {
  it("stops a job, whose step under way changes nothing of that, and leaves one that has ended as it is", async () => {
    const { DB, answer } = silentDatabase();
    const service = await serviceWith({}, { DB });
    const id = await startJob(service, REWRAP);
    expect((await ask(service, "DELETE", `/${id}`)).body).toMatchObject({ id, state: "stopped" });
    answer();
    await tryAgain(service);
    expect((await ask(service, "GET", `/${id}`)).body).toMatchObject({ state: "stopped" });
    const { id: done } = await runJob(service, REWRAP);
    expect((await ask(service, "DELETE", `/${done}`)).body).toMatchObject({ state: "done" });
  });
});

describe("GET /v1/admin/jobs/{job}/findings", () => {
  it("lists all findings in pages, of which the job itself shows 100", async () => {
    const { active } = await newStages();
    const service = await serviceWith(active);
    const { id } = await makeToken({});
    const [row] = (await env.DB.prepare("SELECT * FROM tokens WHERE id = ?1").bind(id).all()).results;
    const columns = Object.keys(row!).filter((column) => column !== "id" && column !== "sealed");
    const list = JSON.stringify(Array.from({ length: 1_100 }, (_, index) => `broken ${index}`));
    const copies = `INSERT INTO tokens (id, sealed, ${columns.join()}) SELECT value, 'damaged', ${columns.map((name) => `tokens.${name}`).join()} FROM tokens, json_each(?1)`;
    await env.DB.prepare(copies).bind(list).run();
    const job = await runJob(service, REWRAP);
    expect([job.state, job.progress, job.findings.length]).toEqual(["done", { done: 2, total: 1_102 }, 100]);
    const first = await ask(service, "GET", `/${job.id}/findings`);
    const second = await readNext(service, first);
    const found = [...first.body, ...second.body];
    expect([found.length, new Set(found.map((one) => one.id)).size]).toEqual([1_100, 1_100]);
    expect(second.headers.get("Link")).toBeNull();
  });
});

describe("a step of a job", () => {
  it("that fails is tried 10 times, each after a longer time, and then the job has failed with its reason", async () => {
    const service = await serviceWith({}, { DB: wrapDatabase(env.DB, { before: lostD1 }) });
    const id = await startJob(service, REWRAP);
    const delays: number[] = [];
    for (let tries = 1; tries < STEP_TRIES_MAX; tries++) {
      await expect.poll(async () => (await ask(service, "GET", `/${id}`)).body).toMatchObject({ reason: "unavailable", tries });
      const row = await inOperator(service, (sql) => sql.exec("SELECT tries, due FROM jobs").one());
      expect(row["tries"]).toBe(tries);
      delays.push(Number(row["due"]) - Date.now());
      await tryAgain(service);
    }
    expect(delays.map((delay) => Math.ceil(delay / 5_000))).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120]);
    const { body } = await ask(service, "GET", `/${id}`);
    expect([body.state, body.reason, body.tries]).toEqual(["failed", "unavailable", undefined]);
    expect(retryDelay(STEP_TRIES_MAX)).toBe(600_000);
  });

  it("that its object does not survive is counted, and tried again by the next one", async () => {
    const service = await serviceWith({}, { DB: silentDatabase().DB });
    const id = await startJob(service, REWRAP);
    await expect.poll(async () => inOperator(service, (sql) => sql.exec("SELECT tries FROM jobs").one()["tries"])).toBe(1);
    await killOperator(service);
    expect((await ask(service, "GET", `/${id}`)).body).toMatchObject({ state: "running" });
    await tryAgain(service);
    expect((await ask(service, "GET", `/${id}`)).body).toMatchObject({ state: "done" });
  });

  it("of a later release is not carried out: the job fails as version_skew", async () => {
    for (const change of ["data_format = 99", "kind = 'later'"]) {
      const service = await serviceWith({}, { DB: silentDatabase().DB });
      const id = await startJob(service, REWRAP);
      await inOperator(service, (sql) => sql.exec(`UPDATE jobs SET ${change}`));
      await killOperator(service);
      await tryAgain(service);
      const row = await inOperator(service, (sql) => sql.exec("SELECT id, state, reason FROM jobs").one());
      expect(row).toEqual({ id, state: "failed", reason: "version_skew" });
    }
  });

  it.each([1, 2, 3])("after D1 was restored to before write %i of the job ends the job", async (write) => {
    const { active } = await newStages();
    await seedVaults(60);
    const moments: string[] = [];
    let isRestored = false;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => {
        if (sql.includes("INSERT INTO job_writes")) moments.push(sql);
        return sql;
      },
      after: async () => {
        if (isRestored || moments.length < write) return;
        isRestored = true;
        await env.DB.prepare("UPDATE job_writes SET writes = writes - 1").run();
        await env.DB.prepare("DELETE FROM job_writes WHERE writes = 0").run();
      },
    });
    expect(await runJob(await serviceWith(active, { DB }), REWRAP)).toMatchObject({
      state: "failed",
      reason: "database_restored",
    });
    expect(moments.length).toBeGreaterThanOrEqual(write);
  });

  it("that seals is not made with another key under the id of the active one (contract 20.3)", async () => {
    await seedVaults(3);
    const { id, active } = await newStages();
    const keys = { ...(JSON.parse(active.ROOT_KEYS!) as { keys: object }).keys, [id]: btoa("wrong".padEnd(32)) };
    await admin("POST", "/v1/admin/tokens", { body: { name: "proof", vaults: {} }, env: active });
    const service = await serviceWith(active, { ROOT_KEYS: JSON.stringify({ active: id, keys }) });
    const job = await startJob(service, REWRAP);
    expect(await endOfJob(service, job)).toMatchObject({ state: "failed", reason: "misconfigured" });
    expect(await env.DB.prepare("SELECT count(*) AS n FROM vaults WHERE root_key_id <> 'k1'").first("n")).toBe(0);
  });

  it("waits for an operator that has the ROOT_KEYS of before (contract 20.3)", async () => {
    await seedVaults(3);
    const { staged, active } = await newStages();
    const service = await serviceWith(active, staged);
    const job = await startJob(service, REWRAP);
    await expect.poll(async () => (await ask(service, "GET", `/${job}`)).body.reason).toBe("misconfigured");
    await rebindOperator(service, active);
    expect(await endOfJob(service, job)).toMatchObject({ state: "done", progress: { done: 7, total: 7 }, findings: [] });
  });

  it("of a job whose id was used before does not find the writes of that job", async () => {
    const { active, staged } = await newStages();
    await seedVaults(60);
    const headers = { "Idempotency-Key": "monthly" };
    for (const bindings of [active, staged]) {
      const service = await serviceWith(bindings);
      const { id } = (await ask(service, "POST", "", { body: REWRAP, headers })).body;
      expect(await endOfJob(service, id)).toMatchObject({ state: "done", findings: [] });
      await sleep(2); // another time of creation
    }
  });

  it("is made by the alarm, which does not fail however the step ends", async () => {
    const service = await serviceWith({ ROOT_KEYS: env.ROOT_KEYS }, { ROOT_KEYS: "malformed" });
    const id = await startJob(service, REWRAP);
    await expect.poll(async () => (await ask(service, "GET", `/${id}`)).body.reason).toBe("misconfigured");
    await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = 1"));
    expect(await runDurableObjectAlarm(operatorOf(service))).toBe(true);
    expect(await inOperator(service, (sql) => sql.exec("SELECT tries FROM jobs").one()["tries"])).toBe(2);
    expect((await ask(service, "GET", `/${id}`)).body).toMatchObject({ state: "running" });
  });
});

describe("/health", () => {
  it("says within seconds that the operator does not answer", async () => {
    const OPERATOR = { getByName: () => ({ failed: () => new Promise(() => undefined) }) } as unknown as Env["OPERATOR"];
    const { body } = await admin("GET", "/health", { env: { OPERATOR } });
    const report = body.dependencies.find(({ service }: { service: string }) => service === "jobs");
    expect(report).toMatchObject({ status: "ERROR", message: "The operator does not answer" });
  });

  it("warns of the newest job of a kind when it has failed, until a later one is done", async () => {
    const service = await serviceWith({ ROOT_KEYS: env.ROOT_KEYS }, { ROOT_KEYS: "malformed" });
    const id = await startJob(service, REWRAP);
    const failed = await endOfJob(service, id);
    expect(failed).toMatchObject({ state: "failed", reason: "misconfigured" });
    expect(await jobsIn(service)).toEqual({
      service: "jobs",
      status: "WARNING",
      message: "The last rewrap job failed: misconfigured",
    });
    await killOperator(service);
    await runJob(service, REWRAP);
    expect(await jobsIn({ ...service, bindings: { ...service.bindings } })).toMatchObject({ status: "ACTIVE" });
  });
});
