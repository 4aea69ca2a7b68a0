import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startCloudflare } from "./support/cloudflare.ts";
import { copyFolder, deploy, makeFolder, runLine, SECRETS } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/** A deployment over one of an earlier release, and the way back. */

/** A migration that the earlier release did not have. */
const ADDED = { name: "0002_later.sql", sql: "CREATE TABLE later (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;" };
/** The parts of wrangler.toml that it did not have: a bucket, and a queue with its consumer. */
const NEW = /\n(?:^#.*\n)*^\[\[\w+(?:\.\w+)?\]\]\n(?:(?!\n).*(?:"BACKUPS"|"ACTIVITY"|"item-vault-activity").*\n)(?:.+\n)*/gm;

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
});

/** The folder as an earlier release had it: without the bucket of backups and the queue of the log. */
function folderOfRelease(): string {
  const old = copyFolder(folder);
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
    expect([[...buckets], [...queues.keys()]]).toEqual([["item-vault-files"], []]);
    const begun = cloudflare.calls.length;

    const upgraded = copyFolder(folder);
    rmSync(join(upgraded, "production.vars")); // the Worker has its secrets
    writeFileSync(join(upgraded, "migrations", ADDED.name), ADDED.sql);
    expect(await deploy(cloudflare, upgraded)).toMatchObject({ code: 0 });
    expect([buckets.size, queues.size, worker.versions.length]).toEqual([2, 1, 2]);
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
    expect(database!.sqlite.prepare("SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1").all()).toEqual([
      { name: ADDED.name },
    ]);
    expect(cloudflare.unknown).toEqual([]);
    await cloudflare.close();
  });
});
