import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { partKey } from "../../src/store/backup/object-keys.ts";
import { writeStep } from "../../src/store/jobs/step-fence.ts";
import { untilLogged } from "../support/activity.ts";
import { backUp, backUpAll, newestOf, rowOf, stateOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { freshFile, pattern } from "../support/files.ts";
import { endOfJob, inOperator, JOBS, type Service, serviceWith, startJob } from "../support/jobs.ts";
import { changeManifest, damagePart, loseEverything, restore, vaultWithItem } from "../support/restores.ts";
import { admin, client, LOGIN, makeToken } from "../support/service.ts";

/** A restore as a job: what it excludes, when it may be stopped, and what becomes of it when others act meanwhile (contract 21.20, 26.3, 26.5 and 26.7). */

/** A vault that is backed up. */
async function backedUp() {
  const fresh = await freshFile(pattern(20_000));
  await backUp(fresh.vault);
  return { ...fresh, before: await stateOf(fresh.vault) };
}

/** Bindings of which the first D1 call waits at which a condition holds. Out: also what resolves then, and what lets it go on. */
function waitWhere(holds: () => Promise<boolean>) {
  const reached = Promise.withResolvers<void>();
  const goes = Promise.withResolvers<void>();
  let waits = true;
  const before = async () => {
    if (!waits || !(await holds())) return;
    waits = false;
    reached.resolve();
    await goes.promise;
  };
  return { bindings: { DB: wrapDatabase(env.DB, { before }) }, reached: reached.promise, goOn: goes.resolve };
}

const isRemoved = async (vault: string) => (await rowOf(vault)) === null;

/** Starts a restore, of which a call waits where the row of the vault is removed. */
async function startAndRemove(vault: string) {
  const { bindings, reached, goOn } = waitWhere(() => isRemoved(vault));
  const service = await serviceWith({}, bindings);
  const id = await startJob(service, { kind: "restore", vault });
  await reached;
  return { service, id, goOn };
}

const stop = ({ bindings }: Service, id: string) => admin("DELETE", `${JOBS}/${id}`, { env: bindings });

describe("a restore that has not ended", () => {
  it("excludes another one of its vault and one of everything, and no dry run (26.3)", async () => {
    const { vault, before } = await backedUp();
    const { service, id, goOn } = await startAndRemove(vault);
    const ask = (body: object) => admin("POST", JOBS, { body: { kind: "restore", ...body }, env: service.bindings });
    const again = await ask({ vault });
    expect([again.status, again.headers.get("Item-Vault-Error"), again.headers.get("Item-Vault-Job")]).toEqual([
      409,
      "job_exists",
      id,
    ]);
    expect(await ask({ vault, dryRun: true })).toMatchObject({ status: 202, body: { dryRun: true } });
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect(await stateOf(vault)).toEqual(before);
  });

  it("is stopped before its first change, and changes nothing", async () => {
    const { vault, before } = await backedUp();
    const { bindings, reached, goOn } = waitWhere(async () => true);
    const service = await serviceWith({}, bindings);
    const id = await startJob(service, { kind: "restore", vault });
    await reached;
    expect((await stop(service, id)).body).toMatchObject({ state: "stopped" });
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "stopped" });
    expect(await stateOf(vault)).toEqual(before);
    expect(await env.DB.prepare("SELECT 1 FROM restores WHERE vault_id = ?").bind(vault).first()).toBeNull();
  });

  it("is not stopped after its first change, and goes on (26.5)", async () => {
    const { vault, before } = await backedUp();
    const { service, id, goOn } = await startAndRemove(vault);
    const refused = await stop(service, id);
    expect([refused.status, refused.headers.get("Item-Vault-Error")]).toEqual([409, "job_unstoppable"]);
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect(await stateOf(vault)).toEqual(before);
  });
});

describe("a vault that is deleted while it is restored", () => {
  it("comes back when it is deleted before its row is removed", async () => {
    const { vault, before } = await backedUp();
    const { bindings, reached, goOn } = waitWhere(async () => true);
    const service = await serviceWith({}, bindings);
    const id = await startJob(service, { kind: "restore", vault });
    await reached;
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done", result: { restored: { existing: "deleted" } } });
    expect(await stateOf(vault)).toEqual(before);
  });

  it("is a 404 while its row is missing, and comes back", async () => {
    const { vault, before } = await backedUp();
    const { service, id, goOn } = await startAndRemove(vault);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(404);
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect(await stateOf(vault)).toEqual(before);
  });

  it("stays deleted when it is deleted after its return, and the step of its return is repeated", async () => {
    const { vault } = await backedUp();
    let removed = false;
    let deleted = false;
    const DB = wrapDatabase(env.DB, {
      async after() {
        const isThere = !(await isRemoved(vault));
        removed ||= !isThere;
        if (!removed || !isThere || deleted) return;
        deleted = true;
        expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
        throw new Error("D1_ERROR: Network connection lost");
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await endOfJob(service, await startJob(service, { kind: "restore", vault }))).toMatchObject({ state: "done" });
    expect([deleted, await rowOf(vault)]).toEqual([true, null]);
    const ended = "SELECT count(*) AS n FROM activity WHERE vault_id = ? AND event = 'restored'";
    expect(await env.DB.prepare(ended).bind(vault).first("n")).toBe(1);
  });
});

describe("a backup that loses a part while it is restored", () => {
  it("ends the job as failed and names the part; the next job restores from another snapshot", async () => {
    const { vault, before, call, items } = await backedUp();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    const [part] = (await newestOf(vault)).manifest.parts;
    const { service, id, goOn } = await startAndRemove(vault);
    await env.BACKUPS.delete(`vaults/${vault}/parts/${part!.sha256}`);
    goOn();
    const job = await endOfJob(service, id);
    expect(job).toMatchObject({ state: "failed", reason: "backup_damaged", result: { restored: { vaults: 0 } } });
    expect(job.findings).toMatchObject([{ kind: "part_wrong", vault, detail: `part ${part!.sha256} is missing` }]);
    expect(await rowOf(vault)).toBeNull();
    expect(await restore({ vault, snapshot: 1 })).toMatchObject({ status: 200, body: { state: "done", vaults: 1 } });
    expect(await stateOf(vault)).toEqual(before);
  });
});

describe("a database that goes back to an earlier time while it is restored into", () => {
  it("ends the job, and the next one restores the vault", async () => {
    const { vault, before } = await backedUp();
    const written = "SELECT 1 FROM job_writes JOIN restores ON vault_id = ? WHERE writes > 1 AND created_at >= ?";
    const began = Date.now();
    const { bindings, reached, goOn } = waitWhere(
      async () => (await env.DB.prepare(written).bind(vault, began).first()) !== null,
    );
    const service = await serviceWith({}, bindings);
    const id = await startJob(service, { kind: "restore", vault });
    await reached;
    await env.DB.prepare("DELETE FROM job_writes WHERE id = ?").bind(id).run();
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "failed", reason: "database_restored" });
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await stateOf(vault)).toEqual(before);
  });
});

describe("a restore of everything", () => {
  it("leaves a vault out whose backup is damaged and names it; the others come back, and the next job brings it", async () => {
    const vaults = [await backedUp(), await backedUp(), await backedUp()];
    const [, { vault: damaged }] = vaults as [unknown, { vault: string }];
    await backUpAll();
    const [part] = (await newestOf(damaged)).manifest.parts;
    const key = `vaults/${damaged}/parts/${part!.sha256}`;
    const saved = await (await env.BACKUPS.get(key))!.bytes();
    await loseEverything();
    await env.BACKUPS.put(key, saved.with(saved.length - 100, saved.at(-100)! ^ 1));
    const named = [{ kind: "vault_skipped", vault: damaged, detail: expect.stringContaining(`part ${part!.sha256}`) }];
    const planned = await restore({ dryRun: true });
    expect(planned).toMatchObject({ status: 200, body: { state: "done", leftOut: 1, findings: named } });
    expect(await env.DB.prepare("SELECT count(*) AS n FROM vaults").first("n")).toBe(0);
    const { body } = await restore({});
    expect(body).toMatchObject({ state: "done", leftOut: 1, vaults: planned.body.vaults, findings: named });
    expect(await rowOf(damaged)).toBeNull();
    const others = vaults.filter(({ vault }) => vault !== damaged);
    for (const { vault, before } of others) expect(await stateOf(vault)).toEqual(before);
    await env.BACKUPS.put(key, saved);
    expect((await restore({})).body).toMatchObject({ state: "done", vaults: 1, kept: body.vaults, leftOut: 0, findings: [] });
    expect(await stateOf(damaged)).toEqual(vaults[1]!.before);
  });

  it("leaves out a snapshot in place of the one that its registry names, also if a newer registry names a later one (21.24)", async () => {
    const { vault } = await backedUp();
    await backUpAll();
    const { manifest } = await newestOf(REGISTRY);
    const snapshots = manifest.snapshots!.map((one) => Object.assign(one, { number: one.number + 1 }));
    const next = { vault: REGISTRY, number: manifest.number + 1 };
    await changeManifest({ vault: REGISTRY, number: manifest.number }, { ...next, snapshots }, next);
    await changeManifest({ vault, number: 1 }, { at: 1 });
    await loseEverything();
    const { body } = await restore({ snapshot: manifest.number });
    const detail = expect.stringContaining("is not the one that the registry names");
    expect(body).toMatchObject({ state: "done", leftOut: 1, findings: [{ kind: "vault_skipped", vault, detail }] });
    expect(await rowOf(vault)).toBeNull();
  });

  it("is refused where the deployment has something, and changes nothing (21.20)", async () => {
    const { vault, before } = await backedUp();
    await backUpAll();
    expect(await restore({})).toMatchObject({ status: 409, body: { message: expect.stringContaining("vaults or tokens") } });
    expect(await stateOf(vault)).toEqual(before);
  });

  it("brings the log of a deleted vault back, so that its id is not issued again (21.26)", async () => {
    const { vault: gone } = await vaultWithItem();
    await vaultWithItem();
    await admin("DELETE", `/v1/admin/vaults/${gone}`);
    await backUpAll();
    await loseEverything();
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 0 });
    const deletions = env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ? AND action = 'DELETE'");
    expect(await deletions.bind(gone).first("n")).toBe(1);
  });

  it("has no Item, replaces nothing, and is not asked for by the id of zeros: 400", async () => {
    const { vault } = await backedUp();
    for (const body of [{ vault: "00000000-0000-0000-0000-000000000000" }, { overwrite: true }, { item: vault }])
      expect(await restore(body)).toMatchObject({ status: 400 });
  });
});

describe("a restore of everything that is asked for again because it has left a vault out", () => {
  it("does not bring a vault back that was restored and then deleted", async () => {
    const [lost, deleted] = [await vaultWithItem(), await vaultWithItem()];
    await backUpAll();
    await damagePart(lost.vault);
    await loseEverything();
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 1 });
    expect((await admin("DELETE", `/v1/admin/vaults/${deleted.vault}`)).status).toBeLessThan(300);
    expect(await isRemoved(deleted.vault)).toBe(true);
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 1 });
    expect(await isRemoved(deleted.vault)).toBe(true);
  });

  it("keeps no vault that is older than the snapshot", async () => {
    const [lost, older] = [await vaultWithItem(), await vaultWithItem()];
    await backUp(older.vault);
    const { id } = (await older.call("POST", `/v1/vaults/${older.vault}/items`, { body: { ...LOGIN, title: "second" } })).body;
    await backUpAll();
    await damagePart(lost.vault);
    await loseEverything();
    expect((await restore({})).body).toMatchObject({ state: "done", leftOut: 1 });
    expect((await restore({ vault: older.vault, snapshot: 1, overwrite: true })).body).toMatchObject({ state: "done" });
    await restore({});
    const found = await env.DB.prepare("SELECT 1 FROM items WHERE id = ?").bind(id).first();
    expect(found).not.toBeNull();
  });
});

describe("a write of a restore that has failed", () => {
  it("has no effect when it comes late", async () => {
    const { vault } = await backedUp();
    const { service, id, goOn } = await startAndRemove(vault);
    const { manifest } = await newestOf(vault);
    await env.BACKUPS.delete(manifest.parts.map(({ sha256 }) => partKey(vault, sha256)));
    goOn();
    expect(await endOfJob(service, id)).toMatchObject({ state: "failed", reason: "backup_damaged" });
    const row = await inOperator(service, (sql) => sql.exec("SELECT created_at, writes FROM jobs").one());
    const last = { job: id, createdAt: Number(row["created_at"]), writes: Number(row["writes"]) };
    const late = env.DB.prepare("DELETE FROM deployment");
    expect(await writeStep(env.DB, last, [late])).toMatchObject({ ok: false });
    expect(await env.DB.prepare("SELECT count(*) AS n FROM deployment").first("n")).toBe(1);
  });
});

const createBy = (actor: object) => expect.objectContaining({ action: "CREATE", actor: expect.objectContaining(actor) });

describe("the User-Agent and the address of the request for a restore", () => {
  it("are in the log of the admin, and neither in the state of the job nor in the log of the vault (21.22)", async () => {
    const { vault } = await backedUp();
    const service = await serviceWith({});
    const headers = { "User-Agent": "canary-agent/1", "CF-Connecting-IP": "203.0.113.77" };
    const started = await admin("POST", JOBS, { body: { kind: "restore", vault }, headers, env: service.bindings });
    expect(started.status).toBe(202);
    await endOfJob(service, started.body.id);
    const rows = await inOperator(service, (sql) => JSON.stringify(sql.exec("SELECT * FROM jobs").toArray()));
    const { body, text } = await client((await makeToken({ [vault]: "rwd" })).token)("GET", "/v1/activity?limit=50");
    expect(body).toContainEqual(createBy({ id: "admin", userAgent: "", requestIp: "" }));
    for (const one of [rows, text]) expect(one).not.toMatch(/canary-agent|203\.0\.113\.77/);
    await untilLogged();
    const log = await admin("GET", "/v1/admin/activity?limit=50");
    expect(log.body).toContainEqual(createBy({ id: "admin", userAgent: "canary-agent/1", requestIp: "203.0.113.77" }));
  });
});

it("a snapshot that is damaged is refused before a job exists (21.24)", async () => {
  const { vault } = await backedUp();
  await changeManifest({ vault, number: 1 }, { schema: 99 });
  expect(await restore({ vault })).toMatchObject({ status: 422, kind: "backup_too_new" });
});
