import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { backUp, backUpAll, newestOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { admin, LOGIN, send } from "../support/service.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { restore } from "../support/restores.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/** The row of the table `deployment` has the id that each backup names. Its loss ends no backups (contract 21.10, 22.4). */

const LOSSES = [
  ["lost", "DELETE FROM deployment"],
  ["damaged", "UPDATE deployment SET id = substr(id, 2)"],
] as const;

const idOf = () => env.DB.prepare("SELECT id FROM deployment").first<string>("id");

const healthOfBackups = async () => {
  const { body } = await send("GET", "/health", { env: {} });
  return body.dependencies.find(({ service }: { service: string }) => service === "backups");
};

describe.each(LOSSES)("a row of the deployment that is %s", (_, sql) => {
  beforeEach(() => emptyBucket(env.BACKUPS));

  it("is named by /health and by `verify`", async () => {
    await freshFile();
    await backUpAll();
    const id = (await idOf())!;
    await run(sql);
    expect(await healthOfBackups()).toMatchObject({ status: "WARNING", message: expect.stringContaining("table deployment") });
    expect((await verifyAll()).findings).toMatchObject([{ kind: "schema_incomplete", table: "deployment" }]);
    await run("DELETE FROM deployment");
    await run("INSERT INTO deployment (id) VALUES (?1)", id);
  });

  it.each([
    ["of all vaults", {}],
    ["of one vault", undefined],
  ])("is put back from the newest manifest by the next backup %s", async (_name, body) => {
    const { vault, items, call } = await freshFile();
    await backUpAll();
    const id = await idOf();
    await run(sql);
    await call("POST", items, { body: LOGIN });
    expect(await (body ? backUpAll({}, body) : backUp(vault))).toMatchObject({ state: "done" });
    const { manifest } = await newestOf(vault);
    expect([await idOf(), manifest.deployment, manifest.number]).toEqual([id, id, 2]);
    expect((await verifyAll()).findings).toEqual([]);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
  });

  it("is put back by a restore of a vault whose data keys are others, and no dry run writes it", async () => {
    const { vault } = await freshFile();
    await backUpAll();
    const id = await idOf();
    await run("UPDATE vaults SET keys = ?2 || substr(keys, 37) WHERE id = ?1", vault, crypto.randomUUID());
    await run(sql);
    const lost = await idOf();
    expect(await backUpAll({}, { dryRun: true })).toMatchObject({ state: "done" });
    expect(await restore({ vault, overwrite: true, dryRun: true })).toMatchObject({ status: 200 });
    expect(await idOf()).toBe(lost);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await idOf()).toBe(id);
  });

  it("is made anew when the bucket has no backup", async () => {
    await freshFile();
    await run(sql);
    expect(await backUpAll()).toMatchObject({ state: "done" });
    expect(await idOf()).toMatch(/^[0-9a-f]{32}$/);
  });

  it("is never made anew when the bucket has backups that ROOT_KEYS does not open", async () => {
    await freshFile();
    await backUpAll();
    const id = (await idOf())!;
    const { objects } = await env.BACKUPS.list();
    await Promise.all(objects.map(({ key }) => env.BACKUPS.put(key, "damaged")));
    await run(sql);
    const before = await idOf();
    expect(await backUpAll()).toMatchObject({ state: "failed", reason: "misconfigured" });
    expect(await idOf()).toBe(before);
    await run("DELETE FROM deployment");
    await run("INSERT INTO deployment (id) VALUES (?1)", id);
  });
});
