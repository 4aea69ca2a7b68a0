import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { REGISTRY } from "../../src/model/backup.ts";
import { presentManifest } from "../../src/store/backup/manifest.ts";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { backUpAll, healthOfBackups, newestOf, snapshotsOf, valueOf } from "../support/backup.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { freshFile } from "../support/files.ts";
import { changeManifest, loseEverything, restore, restoreAll } from "../support/restores.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/**
 * The row of the table `deployment` has the id that each backup names: its loss is named (contract 22.4). The loss of the database, and what a
 * new, empty one makes of the bucket of backups (contract 21.6 and 21.25).
 */

const LOSSES = [
  ["lost", "DELETE FROM deployment"],
  ["damaged", "UPDATE deployment SET id = substr(id, 2)"],
] as const;

const idOf = () => env.DB.prepare("SELECT id FROM deployment").first<string>("id");

/** Makes a backup and loses the row. Returns what puts the row back, too. */
async function loseRow(sql: string) {
  const { vault } = await freshFile();
  await backUpAll();
  const id = (await idOf())!;
  await run(sql);
  const putBack = async () => {
    await run("DELETE FROM deployment");
    await run("INSERT INTO deployment (id) VALUES (?1)", id);
  };
  return { vault, id, putBack };
}

describe.each(LOSSES)("a row of the deployment that is %s", (_, sql) => {
  beforeEach(() => emptyBucket(env.BACKUPS));

  it("is named by /health and by `verify`", async () => {
    const { putBack } = await loseRow(sql);
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING", message: expect.stringContaining("table deployment") });
    expect((await verifyAll()).findings).toMatchObject([{ kind: "schema_incomplete", table: "deployment" }]);
    await putBack();
  });

  it("ends a backup as `misconfigured`, until it is put back (21.6)", async () => {
    const { vault, id, putBack } = await loseRow(sql);
    expect(await backUpAll()).toMatchObject({ state: "failed", reason: "misconfigured" });
    await putBack();
    expect(await backUpAll()).toMatchObject({ state: "done" });
    expect((await newestOf(vault)).manifest.deployment).toBe(id);
  });

  it("keeps no vault from a restore", async () => {
    const { vault, putBack } = await loseRow(sql);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    await putBack();
  });
});

it("a database that was never used makes no backup, whose number another one would need that is restored into it", async () => {
  await emptyBucket(env.BACKUPS);
  await loseEverything();
  expect(await backUpAll()).toMatchObject({ state: "done" });
  expect(await snapshotsOf(REGISTRY)).toEqual([]);
});

describe("a database that was never used, beside a bucket with backups", () => {
  let vault: string;
  /** The number of the registry that has the vault. */
  let number: number;

  beforeAll(async () => {
    await emptyBucket(env.BACKUPS);
    await loseEverything();
    vault = (await freshFile()).vault;
    await backUpAll();
    number = (await snapshotsOf(REGISTRY)).at(-1)!;
    await loseEverything();
  });

  it("gets no backup, and /health says that it is not restored yet", async () => {
    expect(await backUpAll()).toMatchObject({ state: "failed", reason: "not_restored" });
    expect((await snapshotsOf(REGISTRY)).at(-1)).toBe(number);
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING", message: expect.stringContaining("Not restored yet") });
  });

  it("is restored from the newest registry that has vaults, and not from one that is older than an unreadable one", async () => {
    const { manifest } = await newestOf(REGISTRY);
    await changeManifest(
      { vault: REGISTRY, number },
      { number: number + 1, snapshots: [] },
      { vault: REGISTRY, number: number + 1 },
    );
    const other = valueOf(await openKeyring(JSON.stringify({ active: "k9", keys: { k9: btoa("9".repeat(32)) } })));
    const foreign = await presentManifest(other, { ...manifest, number: number + 2, snapshots: [] });
    await env.BACKUPS.put(manifestKey(REGISTRY, number + 2), foreign);
    const unreadable = { status: 422, body: { message: expect.stringContaining("the root key k9") } };
    expect(await restore({ dryRun: true })).toMatchObject(unreadable);
    expect(await restore({})).toMatchObject(unreadable);
    await env.BACKUPS.delete(manifestKey(REGISTRY, number + 2));
    const skipped = [{ snapshot: number + 1, reason: "it has no vaults" }];
    expect(await restore({ dryRun: true })).toMatchObject({ status: 200, body: { snapshot: number, skipped, vaults: 1 } });
    expect((await restore({ dryRun: true, snapshot: number })).body).toMatchObject({ snapshot: number, skipped: [], vaults: 1 });
    await restoreAll();
    expect(await restore({ vault, dryRun: true })).toMatchObject({ status: 200, body: { existing: "older" } });
    expect(await healthOfBackups()).not.toMatchObject({ message: expect.stringContaining("Not restored yet") });
  });
});
