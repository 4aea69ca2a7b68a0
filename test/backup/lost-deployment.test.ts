import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { backUpAll, newestOf } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { send } from "../support/service.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { restore } from "../support/restores.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/** The row of the table `deployment` has the id that each backup names. Its loss is named (contract 22.4). */

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

  it("ends a backup as `misconfigured`, until it is put back (21.6)", async () => {
    const { vault } = await freshFile();
    await backUpAll();
    const id = (await idOf())!;
    await run(sql);
    expect(await backUpAll()).toMatchObject({ state: "failed", reason: "misconfigured" });
    await run("DELETE FROM deployment");
    await run("INSERT INTO deployment (id) VALUES (?1)", id);
    expect(await backUpAll()).toMatchObject({ state: "done" });
    const { manifest } = await newestOf(vault);
    expect(manifest.deployment).toBe(id);
  });

  it("keeps no vault from a restore", async () => {
    const { vault } = await freshFile();
    await backUpAll();
    const id = (await idOf())!;
    await run(sql);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    await run("DELETE FROM deployment");
    await run("INSERT INTO deployment (id) VALUES (?1)", id);
  });
});
