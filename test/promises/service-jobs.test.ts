import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { PURGE } from "../../src/jobs/purge.ts";
import { SERVICE_KINDS } from "../../src/model/job.ts";
import { ok } from "../../src/model/result.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { SLICE_MAX } from "../../src/store/commit/deleted-vaults.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { coordinatorsWhose, countingDatabase, LOST_OPERATOR, wrapDatabase } from "../support/bindings.ts";
import {
  endOfJob,
  endOfJobs,
  inOperator,
  JOBS,
  killOperator,
  runHourly,
  type Service,
  serviceWith,
  tryAgain,
} from "../support/jobs.ts";
import { snapshotDatabase } from "../support/restore.ts";
import { admin, makeVault } from "../support/service.ts";
import { unwrap } from "../support/versions.ts";

/** The jobs that the service starts by itself (contract 26.10): `expire` and `purge`. */

/** Makes a vault that has a deleted Item past its retention. */
async function dueVault(): Promise<string> {
  const vault = await makeVault();
  const item = crypto.randomUUID();
  await env.DB.batch([
    env.DB.prepare("INSERT INTO deleted_items SELECT ?1, ?2, 1, 1, ''").bind(vault, item),
    env.DB.prepare("INSERT INTO item_versions SELECT ?1, ?2, 1, '', ''").bind(vault, item),
    env.DB.prepare("UPDATE vaults SET deleted = deleted + 1, created_at = 1 WHERE id = ?1").bind(vault),
  ]);
  return vault;
}

/** Adds so many rows of a vault that was deleted. */
async function addDeletedVault(rows = 1): Promise<string> {
  const vault = crypto.randomUUID();
  const ids = JSON.stringify(Array.from({ length: rows }, (_, index) => index));
  await env.DB.batch([
    env.DB.prepare("INSERT INTO deleted_vaults (id, deleted_at) VALUES (?1, ?2)").bind(vault, Date.now()),
    env.DB.prepare("INSERT INTO replays (vault_id, key, id, sealed) SELECT ?1, value, '', 'x' FROM json_each(?2)").bind(
      vault,
      ids,
    ),
  ]);
  return vault;
}

const expired = (): Promise<number | null> => env.DB.prepare("SELECT count(*) AS n FROM deleted_items").first<number>("n");

/** Coordinators of which the calls wait until they are told to go on. */
function silentCoordinators() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const coordinators = coordinatorsWhose((real) => ({
    async expire(expiry: never) {
      await promise;
      return real.expire(expiry);
    },
  }));
  return { ...coordinators, answer: resolve };
}

/** Coordinators after whose calls something happens. */
const expiringThen = (act: () => Promise<unknown>): Partial<Env> =>
  coordinatorsWhose((real) => ({
    async expire(expiry: never) {
      const answer = await real.expire(expiry);
      await act();
      return answer;
    },
  }));

const run = ({ bindings }: Service) => cleanUp({ ...env, ...bindings }, Date.now());
const jobsOf = async ({ bindings }: Service) => (await admin("GET", JOBS, { env: bindings })).body;

beforeEach(async () => {
  const tables = ["vaults", "deleted_vaults", "deleted_items", "item_versions", "replays"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});

describe("the hourly run", () => {
  it("starts no job when nothing is due", async () => {
    await makeVault();
    expect(await runHourly()).toEqual([]);
  });

  it("starts a job for each kind of which something is due, and the list of jobs shows them", async () => {
    await dueVault();
    await addDeletedVault();
    const jobs = await runHourly();
    expect(new Set(jobs.map(({ kind }) => kind))).toEqual(new Set(SERVICE_KINDS));
    for (const job of jobs) expect(job).toMatchObject({ state: "done", progress: { done: 1, total: 1 }, findings: [] });
  });

  it("starts no other job beside one that has not ended", async () => {
    await dueVault();
    const { COORDINATOR, answer } = silentCoordinators();
    const service = await serviceWith({ COORDINATOR });
    await run(service);
    await run(service);
    expect(await jobsOf(service)).toHaveLength(1);
    answer();
    await endOfJobs(service);
    await dueVault();
    await run(service);
    await endOfJobs(service);
    expect(await expired()).toBe(0);
  });

  it("fails when the operator does not start a job", async () => {
    await addDeletedVault();
    await expect(cleanUp({ ...env, OPERATOR: LOST_OPERATOR }, Date.now())).rejects.toThrow("start the job");
  });
});

describe("a job that the service starts by itself", () => {
  it.each(SERVICE_KINDS)("is not started by a request: %s", async (kind) => {
    const { status, headers } = await admin("POST", JOBS, { body: { kind } });
    expect([status, headers.get("Item-Vault-Error")]).toEqual([400, "invalid"]);
  });

  it("replaces the one before it in the list when both are done, and not one that has failed or was stopped", async () => {
    const service = await serviceWith({});
    const ids: string[] = [];
    for (const state of ["failed", "stopped", "done", "done"]) {
      await addDeletedVault();
      await run(service);
      const [job] = await endOfJobs(service);
      ids.unshift(job.id);
      await inOperator(service, (sql) => sql.exec("UPDATE jobs SET state = ?1 WHERE id = ?2", state, job.id));
    }
    const listed = (await jobsOf(service)).map(({ id }: { id: string }) => id);
    expect(listed).toEqual([ids[0], ids[2], ids[3]]);
  });

  it("that has left a vault out is named by /health", async () => {
    const vault = await dueVault();
    const failing = coordinatorsWhose(() => ({ expire: async () => ({ ok: false, failure: { kind: "internal" } }) }));
    const service = await serviceWith({}, failing);
    await run(service);
    expect(await endOfJobs(service)).toMatchObject([
      { state: "done", findings: [{ kind: "vault_skipped", vault, detail: "The steps for the vault failed: internal" }] },
    ]);
    const { body } = await admin("GET", "/health", { env: service.bindings });
    expect(body.dependencies).toContainEqual(
      expect.objectContaining({
        service: "jobs",
        status: "WARNING",
        message: "The last expire job left vaults out",
      }),
    );
  });
});

describe("expire", () => {
  it("goes on when the operator was ended in a step", async () => {
    for (let count = 0; count < 12; count++) await dueVault();
    let calls = 0;
    const { COORDINATOR, answer } = silentCoordinators();
    const service = await serviceWith(
      {},
      coordinatorsWhose((real, vault) => (++calls <= 10 ? real : COORDINATOR.getByName(vault))),
    );
    await run(service);
    await expect.poll(() => calls).toBe(11);
    expect(await expired()).toBe(2);
    await killOperator(service);
    answer();
    await tryAgain(service);
    expect(await endOfJobs(service)).toMatchObject([{ state: "done", progress: { done: 12, total: 12 }, findings: [] }]);
    expect(await expired()).toBe(0);
  });

  it("does no harm to a vault that is gone when D1 goes back in the middle, and the next run does the rest", async () => {
    const before = await snapshotDatabase();
    const vaults = [await dueVault(), await dueVault()].toSorted();
    let calls = 0;
    const job = await runHourly(
      {},
      expiringThen(async () => void (++calls === 1 && (await before()))),
    );
    expect([calls, job]).toMatchObject([vaults.length, [{ state: "done", findings: [] }]]);
    expect(await runHourly()).toEqual([]);
  });

  it("destroys again what has come back when D1 goes back in the middle", async () => {
    await dueVault();
    const [first] = (await env.DB.prepare("SELECT id FROM vaults").all<{ id: string }>()).results;
    const before = await snapshotDatabase();
    await runHourly({}, expiringThen(before));
    expect(await expired()).toBe(1);
    expect(await runHourly()).toMatchObject([{ state: "done", findings: [] }]);
    expect([await expired(), await env.DB.prepare("SELECT id FROM vaults").first("id")]).toEqual([0, first!.id]);
  });

  it("waits for a D1 that fails, and leaves no vault out", async () => {
    await dueVault();
    let isDown = true;
    const DB = wrapDatabase(env.DB, { before: () => (isDown ? Promise.reject(new Error("D1_ERROR: lost")) : undefined) });
    const service = await serviceWith({}, { DB });
    await run(service);
    await expect.poll(async () => (await jobsOf(service))[0].reason).toBe("unavailable");
    isDown = false;
    const [{ id }] = await jobsOf(service);
    expect(await endOfJob(service, id)).toMatchObject({ state: "done", findings: [] });
    expect(await expired()).toBe(0);
  });
});

describe("purge", () => {
  it("makes at most 40 D1 calls in a step", async () => {
    await addDeletedVault(40 * SLICE_MAX.rows);
    const { count, db } = countingDatabase();
    const store = unwrap(await openStore({ ...env, DB: db }, Date.now()));
    const stepped = await PURGE.step(
      { store, write: async () => ok(undefined), bindings: env, clock: Date.now, callsMax: 24 },
      PURGE.start({}),
    );
    expect([count.calls, stepped]).toMatchObject([25, { ok: true, value: { done: false } }]);
    await runHourly();
    expect(await env.DB.prepare("SELECT count(*) AS n FROM replays").first("n")).toBe(0);
  });

  it("finds a vault that is deleted while it runs", async () => {
    await addDeletedVault();
    let lists = 0;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => {
        lists += Number(sql.includes("AS place FROM deleted_vaults"));
        return sql;
      },
      after: async () => {
        if (lists === 1) lists += Number(Boolean(await addDeletedVault()));
      },
    });
    expect(await runHourly({}, { DB })).toMatchObject([{ state: "done", progress: { done: 2, total: 2 } }]);
  });
});
