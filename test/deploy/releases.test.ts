import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startCloudflare } from "./support/cloudflare.ts";
import { copyFolder, deploy, makeFolder, runLine, SECRETS } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/** A deployment over one of an earlier release, and the way back. */

/** The migrations that the earlier release had. */
const OLD = ["0001_initial.sql", "0002_bounds.sql"];
/** The parts of wrangler.toml that it did not have: a bucket, and a queue with its consumer. */
const NEW = /\n(?:^#.*\n)*^\[\[\w+(?:\.\w+)?\]\]\n(?:(?!\n).*(?:"BACKUPS"|"JOBS"|"item-vault-jobs").*\n)(?:.+\n)*/gm;

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
});

/** The folder as an earlier release had it: without some migrations, and without the bucket and the queue of backups. */
function folderOfRelease(): string {
  const old = copyFolder(folder);
  rmSync(join(old, "migrations"), { recursive: true });
  for (const name of OLD) cpSync(join("migrations", name), join(old, "migrations", name));
  const config = readFileSync(join(old, "wrangler.toml"), "utf8");
  writeFileSync(join(old, "wrangler.toml"), config.replaceAll(NEW, ""));
  return old;
}

describe.runIf(process.env["LONG_RUN"] === "1")("over a deployment of an earlier release", () => {
  it("deploy adds what is missing, the schema first, and a rollback goes back with the schema and the secrets as they are", async () => {
    const cloudflare = await startCloudflare();
    const { buckets, queues, workers, databases } = cloudflare.state;
    expect(await deploy(cloudflare, folderOfRelease())).toMatchObject({ code: 0 });
    const worker = workers.get("item-vault")!;
    const before = worker.active;
    expect([[...buckets], [...queues.keys()]]).toEqual([["item-vault-files"], ["item-vault-activity"]]);
    const begun = cloudflare.calls.length;

    const upgraded = copyFolder(folder);
    rmSync(join(upgraded, "production.vars")); // the Worker has its secrets
    expect(await deploy(cloudflare, upgraded)).toMatchObject({ code: 0 });
    expect([buckets.size, queues.size, worker.versions.length]).toEqual([2, 2, 2]);
    const calls = cloudflare.calls.slice(begun);
    expect(calls.findLastIndex((call) => call.endsWith("/query"))).toBeLessThan(
      calls.findIndex((call) => call.endsWith("/versions")),
    );
    const secretsOf = ({ bindings }: typeof before) =>
      Object.fromEntries(bindings.filter(({ type }) => type === "secret_text").map(({ name, text }) => [name, text]));
    expect(secretsOf(worker.active)).toEqual(secretsOf(before));

    for (const command of commandsOf("Rollback")) expect(await runLine(cloudflare, upgraded, command)).toMatchObject({ code: 0 });
    expect(worker.active).toBe(before);
    const [database] = databases.values();
    expect(database!.sqlite.prepare("SELECT 1 FROM d1_migrations").all().length).toBeGreaterThan(OLD.length);
    expect(cloudflare.unknown).toEqual([]);
    await cloudflare.close();
  });
});
