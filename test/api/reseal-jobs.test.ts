import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { parseKeyList } from "../../src/crypto/key-list.ts";
import type { Operator } from "../../src/index.ts";
import type { NewJob } from "../../src/model/job.ts";
import { everythingIn, fullVault } from "../support/full-vault.ts";
import {
  endOfJob,
  inOperator,
  JOBS,
  killOperator,
  operatorOf,
  type Service,
  serviceWith,
  startJob,
  tryAgain,
} from "../support/jobs.ts";
import {
  type Events,
  expectNothingUnder,
  inSlicesOf,
  resealBy,
  resealFully,
  resealInSlices,
  resealOf,
  steppedCoordinators,
} from "../support/reseals.ts";
import { snapshotDatabase } from "../support/restore.ts";
import { dataKeyOf, newestKeyOf } from "../support/sealed-columns.ts";
import { admin, freshVault, makeVault, type Reply } from "../support/service.ts";

/** Jobs that reseal a vault (contract 20.21 to 20.23, 26.3, 26.5, 26.8 and 26.9): what excludes them, what they survive, and that they may be paused and not stopped. */

resealInSlices(1);

const ask = ({ bindings }: Service, method: string, path = "", more: object = {}): Promise<Reply> =>
  admin(method, `${JOBS}${path}`, { ...more, env: bindings });

const kindOf = ({ status, headers }: Reply) => [status, headers.get("Item-Vault-Error")];

const numbersOf = async (vault: string) => {
  const list = await env.DB.prepare("SELECT keys FROM vaults WHERE id = ?").bind(vault).first<string>("keys");
  return parseKeyList(list!).map(({ number }) => number);
};

/** Loses most answers: the service calls a coordinator three times before the step has failed. */
function lose(step: number): void {
  if (step % 4 > 0) throw new Error("Network connection lost.");
}

/** A service whose coordinators have these events. */
const serviceOf = (events: Events) => {
  const { COORDINATOR, steps } = steppedCoordinators(events);
  return serviceWith({}, { COORDINATOR }).then((service) => ({ service, steps }));
};

/** A service whose coordinators make no step of a reseal until `release` is called. */
async function heldService() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { service, steps } = await serviceOf({ before: () => promise });
  return { service, steps, release: resolve };
}

const bodyOf = async (vault: string) => resealOf(vault, await dataKeyOf(vault));

/** The counts of a reseal of the vault that nothing disturbs. */
async function undisturbed(): Promise<object> {
  const { items, rows, unreadable } = await resealFully((await fullVault()).vault);
  return { items, rows, unreadable };
}

describe("a job of reseal", () => {
  it("tells its progress in Items, and what it has passed", async () => {
    const { vault } = await fullVault();
    const service = await serviceWith({});
    const job = await endOfJob(service, await startJob(service, await bodyOf(vault)));
    expect(job).toMatchObject({ kind: "reseal", state: "done", progress: { done: 1, total: 1 } });
    expect(job.result).toEqual({ resealed: { items: 1, rows: expect.any(Number), unreadable: 0 } });
  });

  it("takes the id of the keys also in base32", async () => {
    const { vault } = await freshVault();
    const service = await serviceWith({});
    const digits = BigInt(`0x${(await dataKeyOf(vault)).replaceAll("-", "")}`) << 2n;
    const base32 = Array.from(
      { length: 26 },
      (_, n) => "abcdefghijklmnopqrstuvwxyz234567"[Number((digits >> BigInt(125 - 5 * n)) & 31n)],
    );
    await endOfJob(service, await startJob(service, resealOf(vault, base32.join(""))));
    expect(await numbersOf(vault)).toEqual([2]);
  });

  it("changes nothing in a vault that has other keys already", async () => {
    const { vault } = await freshVault();
    const dataKey = await dataKeyOf(vault);
    await resealFully(vault);
    expect(await resealBy(vault, dataKey)).toMatchObject({ done: true, rows: 0, steps: 1 });
    expect(await numbersOf(vault)).toEqual([2]);
  });

  it("of the keys that a vault is getting finishes the reseal under way, and then replaces them", async () => {
    const { vault } = await freshVault();
    await resealBy(vault, await dataKeyOf(vault), {}, { most: 1 });
    expect(await numbersOf(vault)).toEqual([2, 1]);
    expect(await resealFully(vault)).toMatchObject({ done: true });
    expect(await numbersOf(vault)).toEqual([3]);
  });

  it("with the same Idempotency-Key is the same job, and with that of another vault refused", async () => {
    const [{ vault }, { vault: other }] = [await freshVault(), await freshVault()];
    const service = await serviceWith({});
    const headers = { "Idempotency-Key": "once" };
    const body = await bodyOf(vault);
    const { id } = (await ask(service, "POST", "", { body, headers })).body;
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    const again = await ask(service, "POST", "", { body, headers });
    expect([again.status, again.body]).toMatchObject([202, { id, state: "done" }]);
    expect(await numbersOf(vault)).toEqual([2]);
    expect(kindOf(await ask(service, "POST", "", { body: await bodyOf(other), headers }))).toEqual([409, "idempotency"]);
  });
});

describe("while a job reseals a vault", () => {
  it("every other job that changes the vault is a 409 that names it, and one of another vault is not", async () => {
    const [{ vault }, { vault: other }] = [await freshVault(), await freshVault()];
    const { service, release } = await heldService();
    const id = await startJob(service, await bodyOf(vault));
    for (const body of [await bodyOf(vault), { kind: "verify", vault, repair: true }, { kind: "verify", repair: true }]) {
      const refused = await ask(service, "POST", "", { body });
      expect([kindOf(refused), refused.headers.get("Item-Vault-Job")]).toEqual([[409, "job_exists"], id]);
    }
    for (const body of [{ kind: "verify", vault }, { kind: "verify", vault: other, repair: true }, { kind: "rewrap" }])
      expect((await ask(service, "POST", "", { body })).status).toBe(202);
    release();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect((await ask(service, "POST", "", { body: await bodyOf(vault) })).status).toBe(202);
  });

  it("a request to stop the job is a 409, and the job goes on", async () => {
    const { vault } = await freshVault();
    const { service, release } = await heldService();
    const id = await startJob(service, await bodyOf(vault));
    expect(kindOf(await ask(service, "DELETE", `/${id}`))).toEqual([409, "job_unstoppable"]);
    release();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect((await ask(service, "DELETE", `/${id}`)).body).toMatchObject({ state: "done" });
  });

  it("a verify that repairs all vaults excludes a reseal of any of them", async () => {
    const { vault } = await freshVault();
    const service = await serviceWith({}, { ROOT_KEYS: "malformed" });
    const id = await startJob(service, { kind: "verify", repair: true });
    const refused = await ask(service, "POST", "", { body: await bodyOf(vault) });
    expect([kindOf(refused), refused.headers.get("Item-Vault-Job")]).toEqual([[409, "job_exists"], id]);
  });
});

describe("POST /v1/admin/jobs/{job}/pause and /resume", () => {
  it("let a job make no step in between, and are updates of a JOB in the log of the admin", async () => {
    const full = await fullVault();
    const old = await newestKeyOf(full.vault);
    let job = "";
    const paused = Promise.withResolvers<Reply>();
    const { service, steps } = await serviceOf({
      after: async (step) => {
        if (step === 3) paused.resolve(await ask(service, "POST", `/${job}/pause`));
      },
      before: () => ready.promise,
    });
    const ready = Promise.withResolvers<void>();
    job = await startJob(service, await bodyOf(full.vault));
    ready.resolve();
    expect((await paused.promise).body).toMatchObject({ id: job, state: "paused" });
    // A step of another job comes after all that are due.
    await ask(service, "POST", "", { body: { kind: "rewrap" } }).then(({ body }) => endOfJob(service, body.id));
    expect((await ask(service, "GET", `/${job}`)).body).toMatchObject({ state: "paused" });
    expect([steps(), await numbersOf(full.vault)]).toEqual([3, [2, 1]]);
    const resumed = await ask(service, "POST", `/${job}/resume`);
    expect(resumed.body).toMatchObject({ id: job, state: "waiting" });
    expect(await endOfJob(service, job)).toMatchObject({ state: "done" });
    await expectNothingUnder(old, full.vault);
    const resource = { type: "JOB", job: { id: job } };
    await expect
      .poll(async () => (await admin("GET", "/v1/admin/activity?limit=20&action=UPDATE")).body)
      .toEqual(
        expect.arrayContaining(
          [1, 2].map(() => expect.objectContaining({ action: "UPDATE", resource: expect.objectContaining(resource) })),
        ),
      );
  });

  it("leave a job that has ended, and one that is not paused, as they are", async () => {
    const { vault } = await freshVault();
    const { service, release } = await heldService();
    const id = await startJob(service, await bodyOf(vault));
    await expect.poll(async () => (await ask(service, "POST", `/${id}/resume`)).body.state).toBe("running");
    release();
    await endOfJob(service, id);
    for (const change of ["pause", "resume"])
      expect((await ask(service, "POST", `/${id}/${change}`)).body).toMatchObject({ state: "done" });
  });

  it("are a 409 for a job whose kind is never paused, and a 404 for one that does not exist", async () => {
    const service = await serviceWith({}, { ROOT_KEYS: "malformed" });
    const id = await startJob(service, { kind: "rewrap" });
    expect(kindOf(await ask(service, "POST", `/${id}/pause`))).toEqual([409, "job_unstoppable"]);
    for (const change of ["pause", "resume"]) {
      expect(kindOf(await ask(service, "POST", `/${crypto.randomUUID()}/${change}`))).toEqual([404, "job_not_found"]);
      expect(kindOf(await ask(service, "POST", `/nothing/${change}`))).toEqual([400, "job_id"]);
    }
  });
});

describe("a step of a reseal", () => {
  it("whose answer is lost is made again, and the counts are those of a reseal that nothing disturbs", async () => {
    const full = await fullVault();
    const [before, old] = [await everythingIn(full), await newestKeyOf(full.vault)];
    const { done, items, rows, unreadable } = await resealBy(full.vault, await dataKeyOf(full.vault), {}, { after: lose });
    expect([done, { items, rows, unreadable }]).toEqual([true, await undisturbed()]);
    expect(await numbersOf(full.vault)).toEqual([2]);
    await expectNothingUnder(old, full.vault);
    expect(await everythingIn(full)).toEqual(before);
  });

  it("that its operator does not survive is made again by the next one, with all counts", async () => {
    const full = await fullVault();
    const { service, steps } = await serviceOf({ after: (step) => (step === 4 ? new Promise(() => undefined) : undefined) });
    const id = await startJob(service, await bodyOf(full.vault));
    await expect.poll(steps).toBe(4);
    await killOperator(service);
    await tryAgain(service);
    const job = await endOfJob(service, id);
    expect([job.state, job.result.resealed]).toEqual(["done", await undisturbed()]);
    expect(await numbersOf(full.vault)).toEqual([2]);
  });

  it("of a vault that was deleted meanwhile ends the job as vault_not_found", async () => {
    const { vault } = await fullVault();
    const remove = async (step: number) => step === 3 && (await admin("DELETE", `/v1/admin/vaults/${vault}`));
    expect(await resealBy(vault, await dataKeyOf(vault), {}, { after: remove })).toMatchObject({
      done: false,
      reason: "vault_not_found",
    });
  });

  it("after D1 was restored to an earlier time goes on from there, whenever that was, and the job ends with its work", async () => {
    inSlicesOf(4);
    const full = await fullVault();
    const [before, old, dataKey] = [await everythingIn(full), await newestKeyOf(full.vault), await dataKeyOf(full.vault)];
    const begin = await snapshotDatabase();
    const { steps } = await resealBy(full.vault, dataKey);
    for (let at = 1; at <= steps; at++) {
      await begin();
      // Before the last step: what it has read is then older than the database.
      const restored = await resealBy(
        full.vault,
        dataKey,
        {},
        { after: async (step) => (step === at && at < steps ? begin() : undefined) },
      );
      expect(restored).toMatchObject({ done: true, items: 1, unreadable: 0 });
      expect(await numbersOf(full.vault)).toEqual([2]);
      expect(await dataKeyOf(full.vault)).not.toBe(dataKey);
      await expectNothingUnder(old, full.vault);
      expect(await everythingIn(full)).toEqual(before);
    }
  });
});

/** Creates a job that waits for those that exclude it. */
async function createWaiting(service: Service, more: Pick<NewJob, "kind" | "input">): Promise<string> {
  const id = crypto.randomUUID();
  const job: NewJob = { id, request: id, waits: true, ...more };
  const created = await runInDurableObject(operatorOf(service), (operator: Operator) => operator.create(job));
  expect(created).toMatchObject({ ok: true, value: { id, state: "waiting" } });
  return id;
}

describe("a job that waits for those that exclude it", () => {
  it("begins when they have ended, also when it was paused and resumed before", async () => {
    const vault = await makeVault();
    const { service, release } = await heldService();
    const first = await startJob(service, await bodyOf(vault));
    const input = { vault, dataKey: crypto.randomUUID() };
    const second = await createWaiting(service, { kind: "reseal", input });
    expect((await ask(service, "POST", `/${second}/pause`)).body.state).toBe("paused");
    expect((await ask(service, "POST", `/${second}/resume`)).body.state).toBe("waiting");
    const other = await startJob(service, { kind: "verify", vault: await makeVault(), quick: true });
    expect((await ask(service, "GET", `/${second}`)).body.state).toBe("waiting");
    release();
    for (const id of [first, second, other]) expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    const [begun] = await inOperator(service, (sql) =>
      sql
        .exec("SELECT b.ended_at >= a.ended_at AS after FROM jobs AS a, jobs AS b WHERE a.id = ? AND b.id = ?", first, second)
        .toArray(),
    );
    expect(begun).toEqual({ after: 1 });
  });

  it("for all vaults begins after one of a vault, and keeps out what is started meanwhile", async () => {
    const vault = await makeVault();
    const { service, release } = await heldService();
    const first = await startJob(service, await bodyOf(vault));
    const all = await createWaiting(service, {
      kind: "verify",
      input: { repair: true, quick: true, acceptLoss: false, backup: false },
    });
    const refused = await ask(service, "POST", "", { body: await bodyOf(await makeVault()) });
    expect([kindOf(refused), refused.headers.get("Item-Vault-Job")]).toEqual([[409, "job_exists"], all]);
    expect((await ask(service, "GET", `/${all}`)).body.state).toBe("waiting");
    release();
    for (const id of [first, all]) expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
  });
});
