import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { startCloudflare } from "./support/cloudflare.ts";
import { copyFolder, deploy, makeFolder, runLine, SECRETS } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/** A deployment over one of release 0.2.0, and the way back. */

const KEPT = resolve("test/upgrade/0.2.0");
/** The migrations of release 0.2.0. */
const OLD = ["0001_initial.sql", "0002_bounds.sql"];

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
});

/** The folder with the bundle of the release, and without the migrations that it did not have. */
function folderOfRelease(): string {
  const old = copyFolder(folder);
  rmSync(join(old, "migrations"), { recursive: true });
  for (const name of OLD) cpSync(join("migrations", name), join(old, "migrations", name));
  writeFileSync(join(old, "code/index.js"), gunzipSync(readFileSync(join(KEPT, "index.js.gz"))));
  const config = readFileSync(join(KEPT, "wrangler.toml"), "utf8");
  writeFileSync(join(old, "wrangler.toml"), config.replace(/^main = .*$/m, 'main = "code/index.js"\nno_bundle = true'));
  writeFileSync(join(old, "package.json"), '{"version":"0.2.0"}');
  return old;
}

describe.runIf(process.env["LONG_RUN"] === "1")("over a deployment of release 0.2.0", () => {
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
