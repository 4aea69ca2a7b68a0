import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { NAMED_MAX, REGISTRY } from "../../src/model/backup.ts";
import {
  afterSlices,
  backUp,
  backUpAll,
  expectSameRows,
  healthOfBackups,
  newestOf,
  rowOf,
  snapshotsOf,
  stateOf,
} from "../support/backup.ts";
import { sleep, watchBucket, wrapDatabase } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";
import { inOperator, operatorOf, runJob, serviceWith, startJob } from "../support/jobs.ts";
import { changeManifest, restore, vaultWithItem } from "../support/restores.ts";
import { isLong } from "../support/runs.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault, LOGIN, makeVault } from "../support/service.ts";

/** Backups of vaults with much of something, and the calls of their steps (contract 21). */

/** A bucket that counts its calls since it was asked last. */
function countingCalls(bucket: R2Bucket) {
  let calls = 0;
  return { bucket: watchBucket(bucket, () => calls++), take: () => [calls, (calls = 0)][0]! };
}

/** Backs up everything. Returns the number of R2 calls of each step. */
async function callsOfSteps(): Promise<number[]> {
  const { bucket, take } = countingCalls(env.BACKUPS);
  const steps: number[] = [];
  const service = await serviceWith({ BACKUPS: bucket });
  const id = await startJob(service, { kind: "backup" });
  await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = 1 WHERE ended_at IS NULL"));
  for (let n = 0; n < 200; n++) {
    const isOver = await inOperator(
      service,
      (sql) => sql.exec("SELECT ended_at FROM jobs WHERE id = ?", id).one()["ended_at"] !== null,
    );
    if (isOver) return steps;
    take();
    await runInDurableObject(operatorOf(service), (operator) => operator.alarm());
    steps.push(take());
  }
  throw new Error("the backup has not ended after 200 steps");
}

describe("a step of a backup", () => {
  it("makes at most 40 calls of R2 also when it prunes a vault with many kept snapshots", async () => {
    const { vault } = await vaultWithItem();
    await backUpAll();
    const { manifest } = await newestOf(REGISTRY);
    const { manifest: own } = await newestOf(vault);
    // As backups of each hour leave them: more than BACKUPS_KEPT within as many days, and an old one that has to go.
    for (let n = 1; n <= 60; n++) {
      const at = Date.now() - (n === 1 ? 60 * DAY : DAY);
      await changeManifest({ vault, number: own.number }, { number: n, at }, { vault, number: n });
      const snapshots = [{ vault, number: n, sha256: "x" }];
      await changeManifest(
        { vault: REGISTRY, number: manifest.number },
        { number: n, at, snapshots },
        { vault: REGISTRY, number: n },
      );
    }
    expect(Math.max(...(await callsOfSteps()))).toBeLessThanOrEqual(40);
  });

  it("makes at most 40 calls of R2 also when the registry has many logs", async () => {
    const sql = `INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
      SELECT value, value, 'READ', 'SUCCESS', 'x', 'k1', 'x' FROM json_each(?)`;
    const logs = Array.from({ length: 100 }, () => crypto.randomUUID());
    await env.DB.prepare(sql).bind(JSON.stringify(logs)).run();
    expect(Math.max(...(await callsOfSteps()))).toBeLessThanOrEqual(40);
    expect((await newestOf(REGISTRY)).manifest.parts.length).toBeGreaterThan(100);
  });

  it("that fails after it has written the registry leaves /health with the figures of that backup", async () => {
    const { vault } = await vaultWithItem();
    const before = (await snapshotsOf(REGISTRY)).length;
    let isLost = false;
    const DB = wrapDatabase(env.DB, {
      async before() {
        if (isLost || (await snapshotsOf(REGISTRY)).length === before) return;
        isLost = true;
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup" })).toMatchObject({ state: "done" });
    expect({ isLost, vault }).toMatchObject({ isLost: true });
    const { message } = await healthOfBackups();
    expect(message).toContain(new Date((await newestOf(REGISTRY)).manifest.at).toISOString());
  });
});

/** Adds rows of Files that do not open, and of which FILES has no content. */
const addFiles = (vault: string, item: string, count: number) =>
  env.DB.prepare(
    `INSERT INTO files (vault_id, item_id, id, generation, size, sealed, since)
     WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?3)
     SELECT ?1, ?2, printf('%08x-0000-4000-8000-000000000000', n), printf('%08x-0000-4000-8000-000000000001', n), 0, 'x', 1 FROM n`,
  )
    .bind(vault, item, count)
    .run();

describe("a backup", () => {
  it("beside writes between all of its D1 calls ends, and stores at most four times the bytes of the vault (21.3)", async () => {
    const { vault, items, call } = await vaultWithItem();
    const fields = [1, 2, 3, 4, 5, 6].map((label) => ({ label: `${label}`, value: "x".repeat(50_000) }));
    const made = [1, 2].map(async (n) => call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } }));
    const ids = (await Promise.all(made)).map(({ body }) => body.id as string);
    let written = 0;
    const write = async () => {
      written++;
      const body = [{ op: "replace", path: "/title", value: `${written}` }];
      for (const id of ids) await call("PATCH", `${items}/${id}`, { body });
    };
    for (let version = 0; version < 5; version++) await write();
    expect(await backUp(vault, { env: afterSlices(write) })).toMatchObject({ state: "done", snapshot: 1 });
    const { objects } = await env.BACKUPS.list({ prefix: `vaults/${vault}/parts/` });
    const stored = objects.reduce((sum, { size }) => sum + size, 0);
    expect(stored).toBeLessThanOrEqual(4 * Number((await rowOf(vault))!["sealed_bytes"]));
  });

  it.each(isLong ? [100, 10_000] : [100])("and a restore of %i Items are whole", async (count) => {
    const { vault } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: count }, (_, index) => login(vault, `Item ${index}`, { tags: ["x".repeat(800)] })),
    );
    const { rows: before } = await stateOf(vault);
    await backUp(vault);
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { items: count } });
    expectSameRows((await stateOf(vault)).rows, before);
  });

  it.runIf(isLong)("ends although one Item with 6,100 Files is written every 250 ms while D1 takes 70 ms", async () => {
    const { vault, id } = await vaultWithItem();
    await addFiles(vault, id, 6_100);
    let written = 0;
    // As a write to the Item would: the number of the vault and an entry of the log.
    const write = () =>
      env.DB.batch([
        env.DB.prepare("UPDATE vaults SET content_version = content_version + 1 WHERE id = ?").bind(vault),
        env.DB.prepare(
          `INSERT INTO activity (vault_id, id, action, result, actor, item_id, version, root_key_id, sealed, sequence, at)
           SELECT id, ?2, 'UPDATE', 'SUCCESS', 'admin', ?3, 1, 'k1', 'x', content_version + attribute_version, updated_at FROM vaults WHERE id = ?1`,
        ).bind(vault, crypto.randomUUID(), id),
      ]);
    const DB = wrapDatabase(env.DB, {
      async before() {
        await sleep(70);
        if (Date.now() - written < 250) return;
        written = Date.now();
        await write();
      },
    });
    const service = await serviceWith({}, { DB });
    const job = await startJob(service, { kind: "backup", vault });
    const read = () => inOperator(service, (sql) => sql.exec("SELECT reason, ended_at FROM jobs WHERE id = ?", job).one());
    for (let row = await read(); row["reason"] === null && row["ended_at"] === null; row = await read())
      await runInDurableObject(operatorOf(service), (operator) => operator.alarm());
    expect((await read())["reason"]).toBeNull();
  });

  it("is made although FILES has lost 200 contents: it names some of them, and looks for all of them the next time", async () => {
    const { vault, id } = await vaultWithItem();
    await addFiles(vault, id, 200);
    const { state, snapshot, contents, findings } = await backUp(vault);
    expect([state, snapshot, contents, findings.length]).toEqual(["done", 1, 200, NAMED_MAX]);
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2, contents: 200 });
  });

  it("of the registry ends although 3,000 names of tokens do not open", async () => {
    await makeVault();
    await env.DB.prepare(
      `INSERT INTO ended_tokens (id, root_key_id, sealed, created_at, expires_at, ended_at, signed_by)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 3000)
       SELECT printf('%08x-0000-4000-8000-000000000000', n), 'k1', printf('%.*c', 200, 'x'), 1, 2, 2, 'k1' FROM n`,
    ).run();
    expect(await backUpAll()).toMatchObject({ state: "done" });
    await env.DB.prepare("DELETE FROM ended_tokens WHERE sealed LIKE 'xx%'").run();
  });
});
