import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { must } from "../../src/model/result.ts";
import { loadManifest } from "../../src/store/backup/load.ts";
import { partKey } from "../../src/store/backup/object-keys.ts";
import { beginVault, type VaultBackup } from "../../src/store/backup/vault-state.ts";
import { stepVault } from "../../src/store/backup/vault.ts";
import {
  backUp,
  backupStore,
  expectSameRows,
  newestOf,
  rowsInDatabase,
  rowsOfParts,
  snapshotsOf,
  valueOf,
} from "../support/backup.ts";
import { wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { failingBucket } from "../support/failing-bucket.ts";
import { freshFile } from "../support/files.ts";
import { endOfJob, inOperator, JOBS, killOperator, runJob, serviceWith, startJob } from "../support/jobs.ts";
import { addKeyInDatabase } from "../support/sealed-columns.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";
import { runSql } from "../support/sql.ts";

/** The steps of a backup: killed, repeated, with failing storage, and of vaults whose log does not tell what has changed (contract 21.3). */

/** Whether the newest snapshot has the rows of the vault, and the bucket all of its parts and contents. */
async function expectWhole(vault: string): Promise<void> {
  const rows = rowsOfParts((await newestOf(vault)).parts);
  expectSameRows(rows, await rowsInDatabase(vault));
  for (const { id, generation } of [...rows["files"]!, ...rows["file_versions"]!])
    expect(await env.BACKUPS.head(`contents/${vault}/${id}/${generation}`)).not.toBeNull();
}

const tag = (name: string) => ({ body: [{ op: "add", path: "/tags/-", value: name }] });

const lostD1 = () => {
  throw new Error("D1_ERROR: Network connection lost.");
};

describe("a step of a backup", () => {
  it("that may begin nothing after its first call reaches something", async () => {
    const { vault } = await freshFile();
    const store = await backupStore();
    const context = { store, isSpent: () => true, spaceCommits: async () => undefined };
    const begun = must("begin a backup", await beginVault(store, vault, false));
    let reached: object = begun as VaultBackup;
    for (let steps = 0; "stage" in reached && steps < 20; steps++)
      reached = must("make a step", await stepVault(context, reached as VaultBackup)) as object;
    expect(reached).toHaveProperty("open");
    await expectWhole(vault);
  });

  it("that R2 kills at any of its calls is tried again, and the snapshot is whole", async () => {
    const { vault, call, path } = await freshFile();
    await backUp(vault);
    for (let from = 0, isKilled = true; isKilled; from++) {
      await call("PATCH", path, tag(`t${from}`));
      const { bucket, calls } = failingBucket(env.BACKUPS, from, 1);
      expect(await backUp(vault, { env: { BACKUPS: bucket } })).toMatchObject({ state: "done", made: 1 });
      isKilled = calls() > from;
      await expectWhole(vault);
    }
  });

  it.each([
    ["is lost before", { before: true }],
    ["takes effect and its answer is lost", { before: false }],
  ])("whose D1 call, whichever it is, %s is tried again, and the snapshot is whole", async (_, { before }) => {
    const { vault, call, path } = await freshFile();
    for (let failing = 1, isKilled = true; isKilled; failing++) {
      await call("PATCH", path, tag(`t${failing}`));
      let calls = 0;
      const lose = () => (++calls === failing ? lostD1() : undefined);
      const DB = wrapDatabase(env.DB, before ? { before: lose } : { after: lose });
      const service = await serviceWith({}, { DB });
      expect(await runJob(service, { kind: "backup", vault })).toMatchObject({ state: "done" });
      isKilled = calls >= failing;
      await expectWhole(vault);
    }
  });

  it("that ends with its operator after it has written the manifest makes no second snapshot", async () => {
    const { vault } = await freshFile();
    const service = await serviceWith({});
    const id = await startJob(service, { kind: "backup", vault });
    await endOfJob(service, id);
    // As if the last step had not been kept.
    await inOperator(service, (sql) =>
      sql.exec(
        "UPDATE jobs SET state = 'running', ended_at = NULL, due = 1, data = json_set(data, '$.stage', 'vaults', '$.queue', json_array(?1), '$.done', json_array()) WHERE id = ?2",
        vault,
        id,
      ),
    );
    expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
    expect(await snapshotsOf(vault)).toEqual([1]);
  });

  it("goes on in another operator where the one before was killed", async () => {
    const { vault, items, call } = await freshVault();
    const seeds = Array.from({ length: 3_000 }, (_, index) => login(vault, `Item ${index}`, { tags: ["x".repeat(4_000)] }));
    await seedItems(env, vault, seeds);
    await call("POST", items, { body: LOGIN });
    let calls = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const DB = wrapDatabase(env.DB, { before: () => (++calls === 4 ? promise : undefined) });
    const service = await serviceWith({}, { DB });
    const id = await startJob(service, { kind: "backup", vault });
    await expect.poll(() => calls).toBe(4);
    await killOperator(service);
    resolve();
    expect(await endOfJob(service, id)).toMatchObject({ state: "done", result: { backup: { snapshot: 1 } } });
    await expectWhole(vault);
  });

  it("of a second job of the same vault is refused while the first one has not ended", async () => {
    const { vault } = await freshVault();
    const { promise, resolve } = Promise.withResolvers<void>();
    const service = await serviceWith({}, { DB: wrapDatabase(env.DB, { before: () => promise }) });
    const id = await startJob(service, { kind: "backup", vault });
    for (const body of [{ kind: "backup", vault }, { kind: "backup" }, { kind: "verify", repair: true, vault }]) {
      const refused = await admin("POST", JOBS, { body, env: service.bindings });
      expect([refused.status, refused.headers.get("Item-Vault-Job")]).toEqual([409, id]);
    }
    resolve();
    await endOfJob(service, id);
  });

  it("of a vault that is deleted meanwhile ends as failed, and leaves no manifest", async () => {
    const { vault } = await freshFile();
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      after: async () => void (++calls === 2 && (await admin("DELETE", `/v1/admin/vaults/${vault}`))),
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup", vault })).toMatchObject({ state: "failed", reason: "vault_not_found" });
    expect(await snapshotsOf(vault)).toEqual([]);
  });
});

/** A bucket that confirms each part of a backup and does not keep it. */
const withoutParts = wrapBucket(
  {
    put: (...call: Parameters<R2Bucket["put"]>) => (call[0].includes("/parts/") ? Promise.resolve({}) : env.BACKUPS.put(...call)),
  },
  env.BACKUPS,
);

describe("a bucket that loses a part between two steps", () => {
  it("gets all parts again before the manifest names them", async () => {
    const { vault, call, path } = await freshFile();
    await backUp(vault);
    const { keyring, backups } = await backupStore();
    const { manifest } = valueOf(await loadManifest(backups, keyring, { vault, number: 1 }));
    await call("PATCH", path, tag("t"));
    for (const { sha256 } of manifest.parts) await env.BACKUPS.delete(partKey(vault, sha256));
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2 });
    await expectWhole(vault);
  });

  it("for ever has no manifest in the end, and the job fails", async () => {
    const { vault } = await freshFile();
    expect(await backUp(vault, { env: { BACKUPS: withoutParts } })).toMatchObject({ state: "failed", reason: "backup_damaged" });
    expect(await snapshotsOf(vault)).toEqual([]);
  });
});

/** A vault whose last write has the number 7, with a snapshot. */
async function backedUp() {
  const { vault, items, call } = await freshVault();
  for (let n = 0; n < 6; n++) await call("POST", items, { body: LOGIN });
  await backUp(vault);
  return { vault, items, post: () => call("POST", items, { body: LOGIN }) };
}

describe("a backup", () => {
  it.each<[string, number, (vault: string) => Promise<unknown>]>([
    [
      "begins again when the log lacks an entry of a write since it began",
      2,
      (vault) => runSql("UPDATE activity SET sequence = NULL, at = NULL WHERE vault_id = ? AND sequence = 8", vault),
    ],
    [
      "begins again when D1 was restored to an earlier time",
      2,
      (vault) => runSql("UPDATE activity SET at = at - 1 WHERE vault_id = ? AND sequence = 8", vault),
    ],
    ["goes on when the vault has got other keys", 1, (vault) => addKeyInDatabase(vault)],
  ])("%s, and is whole", async (_, changedAfter, change) => {
    const { vault, post } = await backedUp();
    await post();
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      async after() {
        if (++calls !== changedAfter) return;
        await post();
        await change(vault);
      },
    });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "backup", vault })).toMatchObject({ state: "done" });
    await expectWhole(vault);
  });
});

describe("a snapshot", () => {
  it("is made when the manifest before is not authentic, with all of its parts (21.7)", async () => {
    const { vault, post } = await backedUp();
    await env.BACKUPS.put(`vaults/${vault}/00000001.manifest`, "x");
    await post();
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2 });
    await expectWhole(vault);
    expect((await admin("GET", `/v1/admin/backups/vaults/${vault}`)).body).toMatchObject([
      { number: 2 },
      { number: 1, broken: "integrity" },
    ]);
  });

  it("is made of an unchanged vault when a request asks for a full one (21.4)", async () => {
    const { vault } = await backedUp();
    expect(await backUp(vault)).toMatchObject({ unchanged: 1 });
    expect(await backUp(vault, { full: true })).toMatchObject({ state: "done", snapshot: 2 });
  });
});
