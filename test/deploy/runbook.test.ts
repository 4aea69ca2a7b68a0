import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startCloudflare } from "./support/cloudflare.ts";
import { bookmarkDatabase } from "./support/databases.ts";
import { deploy, makeFolder, runLine, SECRETS } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/** The runbook of a D1 restore, line by line (docs/operations.md). Only the long run has it: it starts wrangler a dozen times. */

const REQUIRED = ["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"] as const;

it("the runbook refuses the tokens of before, restores the minute, and applies the migrations that it lacks; secrets stay as they are", async () => {
  const [cloudflare, folder] = await Promise.all([startCloudflare(), makeFolder()]);
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
  expect(await deploy(cloudflare, folder)).toMatchObject({ code: 0 });
  const secretOf = (name: string) =>
    cloudflare.state.workers
      .get("item-vault")!
      .active.bindings.find((binding) => binding.name === name && binding.type === "secret_text")?.text;
  const database = () => [...cloudflare.state.databases.values()][0]!;

  const kept = REQUIRED.map(secretOf);
  const [time] = [new Date(), await bookmarkDatabase(database())];
  const minute = database().bookmarks.at(-1)!.time;
  // Since the restored minute a release with a further migration was deployed, and a vault was lost.
  const migration = "0099_later.sql";
  writeFileSync(join(folder, "migrations", migration), "CREATE TABLE later (id INTEGER) STRICT;");
  database().sqlite.exec("CREATE TABLE later (id INTEGER) STRICT; CREATE TABLE lost (id INTEGER) STRICT;");
  database().sqlite.exec(`INSERT INTO d1_migrations (name) VALUES ('${migration}')`);
  const begun = cloudflare.calls.length;

  // This server has no isolates of before to wait for.
  const commands = commandsOf("The database was restored to an earlier minute").filter((line) => !line.startsWith("sleep "));
  for (const command of commands) {
    const { code, output } = await runLine(cloudflare, folder, command.replace("<minute>", new Date(minute + 1).toISOString()));
    expect([code, command, output]).toEqual([0, command, expect.any(String)]);
  }

  const calls = cloudflare.calls.slice(begun);
  const at = (wanted: RegExp) => calls.findIndex((call) => wanted.test(call));
  const order = [/^PUT .*\/secrets$/, /time_travel\/restore$/, /\/versions$/].map(at);
  expect([Math.min(...order) >= 0, order]).toEqual([true, order.toSorted((one, other) => one - other)]);
  expect(Date.parse(secretOf("TOKENS_NOT_BEFORE")!)).toBeGreaterThan(time.getTime() - 1000);
  expect(REQUIRED.map(secretOf)).toEqual(kept);
  const tables = new Set(
    database()
      .sqlite.prepare("SELECT name FROM sqlite_master")
      .all()
      .map(({ name }) => name),
  );
  expect(["later", "lost", "vaults"].map((name) => tables.has(name))).toEqual([true, false, true]);
  expect(cloudflare.unknown).toEqual([]);
  await cloudflare.close();
});
