import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseEnv } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { WRANGLER_VERSION } from "../../packages/cli/src/admin/deploy/cloudflare.ts";
import { ACCOUNT, type Cloudflare, startCloudflare } from "./support/cloudflare.ts";
import { deploy, deployCheckout, deployInTerminal, makeFolder, runLine, SECRETS, withEnv } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/** Deployments by the real wrangler, to a server that answers as Cloudflare's API documentation says. */

/** Node has no pseudo-terminals; `script` of util-linux makes one. */
const HAS_SCRIPT = spawnSync("script", ["--version"]).status === 0;
const NAME = "item-vault";
const REQUIRED = ["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"] as const;

let cloudflare: Cloudflare;
let folder: string;
const UPLOAD = /^PUT \/workers\/scripts\/item-vault$/;
const secretsFile = () => join(folder, "production.vars");

beforeAll(async () => {
  [cloudflare, folder] = await Promise.all([startCloudflare(), makeFolder()]);
});
afterAll(() => cloudflare.close());
afterEach(() => {
  // A call that the server does not know.
  if (cloudflare.unknown.length > 0) throw new Error(cloudflare.unknown.join(", "));
});

/** The calls that change something. Statements that only read are POST, too. */
const changes = () => cloudflare.calls.filter((call) => !call.startsWith("GET ") && !call.endsWith("/query"));
const worker = () => cloudflare.state.workers.get(NAME)!;
const secretOf = (name: string) =>
  worker().active.bindings.find((binding) => binding.name === name && binding.type === "secret_text")?.text;
const database = () => [...cloudflare.state.databases.values()][0]!;
const planOf = (output: string) => output.split("\n").filter((line) => line.startsWith("  "));
const HEALTH = expect.stringMatching(/^ {2}wait until \/health shows version \S+ without an error$/);
const MIGRATE = "  wrangler d1 migrations apply item-vault --remote";

/** Writes a file of secrets other than the ones that are deployed. */
function otherSecrets(text = SECRETS, mode = 0o600): string {
  const path = join(folder, "other.vars");
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode });
  return path;
}

/** Runs `deploy` with a changed wrangler.toml. */
async function deployChanged(from: string, to: string) {
  const path = join(folder, "wrangler.toml");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(from, to));
  const ran = await deploy(cloudflare, folder);
  writeFileSync(path, text);
  return ran;
}

describe("a first deployment", () => {
  it("with --dry-run is told and not begun", async () => {
    const { code, output } = await deployCheckout(cloudflare, "--dry-run", "--secrets", otherSecrets());
    expect([code, changes()]).toEqual([0, []]);
    expect(output).toContain(`as ${NAME} in account ${ACCOUNT}, the first deployment`);
    expect(planOf(output)).toEqual(["  wrangler d1 create item-vault", MIGRATE, "  wrangler deploy", HEALTH]);
  });

  it("stops before it changes anything when a secret is missing and there is no terminal, also with --yes", async () => {
    const { code, output } = await deploy(cloudflare, folder, "--yes");
    expect([code, changes()]).toEqual([2, []]);
    expect(output).toContain("(mode 600).\n");
    expect(() => statSync(secretsFile())).toThrow("ENOENT");
  });

  it("in a terminal generates the secrets into a file of mode 0600 before anything else, and applies the migrations before the upload", async () => {
    if (!HAS_SCRIPT) writeFileSync(secretsFile(), SECRETS, { mode: 0o600 });
    /** Whether the file was there, by the calls. */
    const there = new Map<string, boolean>();
    cloudflare.fail = { test: (call) => (there.set(call, existsSync(secretsFile())), UPLOAD.test(call)) };
    const { code, output } = await (HAS_SCRIPT ? deployInTerminal(cloudflare, folder, "y\r") : deploy(cloudflare, folder));
    cloudflare.fail = undefined;
    expect([code === 0, output]).toEqual([false, expect.stringContaining("Start the same command again")]);
    expect(there.get("POST /d1/database")).toBe(true);
    expect(statSync(secretsFile()).mode & 0o777).toBe(0o600);
    const made = parseEnv(readFileSync(secretsFile(), "utf8"));
    for (const name of REQUIRED) expect(output).not.toContain(made[name]!.slice(-12));
    const schema = cloudflare.calls.findLastIndex((call) => call === `POST /d1/database/${database().id}/query`);
    expect(schema).toBeGreaterThan(0);
    expect(cloudflare.calls.findIndex((call) => UPLOAD.test(call))).toBeGreaterThan(schema);
  });

  it("that was stopped goes on when it is started again, with the same storage and secrets", async () => {
    const { code, output } = await deploy(cloudflare, folder);
    expect([code, output]).toEqual([0, expect.stringContaining(`Deployed: ${cloudflare.origin}`)]);
    const made = parseEnv(readFileSync(secretsFile(), "utf8"));
    expect(REQUIRED.map(secretOf)).toEqual(REQUIRED.map((name) => made[name]));
    const { databases, buckets, queues } = cloudflare.state;
    const consumers = [...queues.values()].map((queue) => queue.consumers.length);
    expect([databases.size, buckets.size, consumers, worker().versions.length]).toEqual([1, 2, [1], 1]);
    expect([worker().onSubdomain, worker().schedules]).toEqual([true, [{ cron: "17 * * * *" }]]);
  });
});

describe("a later deployment", () => {
  it("applies the migrations before the upload, and replaces no secret", async () => {
    const [secrets, begun] = [REQUIRED.map(secretOf), cloudflare.calls.length];
    writeFileSync(join(folder, "migrations/0099_later.sql"), "CREATE TABLE later (id TEXT NOT NULL PRIMARY KEY) STRICT;");
    const { code, output } = await deploy(cloudflare, folder, "--secrets", otherSecrets());
    expect([code, planOf(output)]).toEqual([0, [MIGRATE, "  wrangler deploy", HEALTH]]);
    expect(REQUIRED.map(secretOf)).toEqual(secrets);
    const calls = cloudflare.calls.slice(begun);
    const schema = calls.findLastIndex((call) => call.endsWith("/query"));
    expect(schema).toBeLessThan(calls.findIndex((call) => call.endsWith("/versions")));
    expect(database().sqlite.prepare("SELECT name FROM sqlite_master WHERE name = 'later'").all()).toHaveLength(1);
  });

  it("is taken back by the runbook, with the schema and the secrets as they are", async () => {
    const [secrets, before] = [REQUIRED.map(secretOf), worker().versions[0]];
    for (const command of commandsOf("Rollback")) expect(await runLine(cloudflare, folder, command)).toMatchObject({ code: 0 });
    expect(worker().active).toBe(before);
    expect(REQUIRED.map(secretOf)).toEqual(secrets);
  });

  it("fails when /health does not show the version", async () => {
    const { code, output } = await deploy(cloudflare, folder, "--url", "http://127.0.0.1:9");
    expect([code, output]).toEqual([6, expect.stringContaining("http://127.0.0.1:9/health: no answer")]);
  });

  it.each([
    ["database", () => 'database_name = "item-vault"', () => `database_id = "${database().id}"`],
    ["bucket", () => 'binding = "FILES"', () => 'bucket_name = "item-vault-files"'],
  ])(
    "stops before it changes anything when wrangler.toml names another %s than the one that the Worker uses",
    async (kind, line, hint) => {
      const before = changes().length;
      const changed = kind === "bucket" ? `${line()}\nbucket_name = "another"` : 'database_name = "another"';
      const { code, output } = await deployChanged(line(), changed);
      expect([code, changes().length]).toEqual([5, before]);
      expect(output).toContain(`write ${hint()} into wrangler.toml`);
    },
  );

  it.each([
    ["database", () => cloudflare.state.databases.clear()],
    ["bucket", () => void cloudflare.state.buckets.delete("item-vault-files")],
  ])("stops before it changes anything when the %s of the Worker is gone", async (kind, lose) => {
    const [before, { databases, buckets }] = [changes().length, cloudflare.state];
    const kept = [[...databases], [...buckets]] as const;
    lose();
    const { code, output } = await deploy(cloudflare, folder);
    for (const [id, one] of kept[0]) databases.set(id, one);
    for (const name of kept[1]) buckets.add(name);
    expect([code, changes().length]).toEqual([5, before]);
    expect(output).toMatch(new RegExp(`The ${kind} \\S+ of this deployment is gone[^]*--new-database`));
  });

  it("with --new-database creates an empty database and bucket in place of lost ones, and keeps the secrets", async () => {
    const [secrets, { id: before }, { databases, buckets }] = [REQUIRED.map(secretOf), database(), cloudflare.state];
    databases.clear();
    buckets.delete("item-vault-files");
    expect(await deploy(cloudflare, folder, "--new-database")).toMatchObject({ code: 0 });
    expect([databases.size, buckets.has("item-vault-files"), database().id === before]).toEqual([1, true, false]);
    expect(worker().active.bindings.find(({ type }) => type === "d1")?.id).toBe(database().id);
    expect(REQUIRED.map(secretOf)).toEqual(secrets);
  });
});

describe("the secrets", () => {
  it.each([
    ["has a vault", "CREATE TABLE vaults (id TEXT) STRICT; INSERT INTO vaults VALUES ('v')"],
    [
      "had one",
      "CREATE TABLE vaults (id TEXT) STRICT; CREATE TABLE root_keys (id TEXT) STRICT; INSERT INTO root_keys VALUES ('k1')",
    ],
  ])("have no new root keys for a database that %s", async (_, rows) => {
    const other = await startCloudflare();
    const sqlite = new DatabaseSync(":memory:");
    sqlite.exec(rows);
    other.state.databases.set("id", { id: "id", name: NAME, sqlite, bookmarks: [] });
    const { code, output } = await deploy(other, folder, "--dry-run", "--secrets", "none.vars");
    await other.close();
    expect([code, output]).toEqual([5, expect.stringContaining("The database has data, but no ROOT_KEYS are set")]);
  });

  it.each([
    ["is a placeholder", "ADMIN_TOKEN=replace-me: openssl rand -base64 32", 0o600],
    ["is too short", "ADMIN_TOKEN=short", 0o600],
    ["may be read by others", SECRETS, 0o644],
  ])("are refused in a file that %s", async (_, text, mode) => {
    const { code, output } = await deploy(cloudflare, folder, "--dry-run", "--secrets", otherSecrets(text, mode));
    expect([code, output]).toEqual([2, expect.stringContaining("other.vars")]);
  });
});

describe("the account", () => {
  it("is the only one that the login reaches; with several, they are listed and one has to be named", async () => {
    const without = withEnv(cloudflare, { CLOUDFLARE_ACCOUNT_ID: undefined });
    expect((await deploy(without, folder, "--dry-run")).output).toContain(`in account ${ACCOUNT}`);
    cloudflare.state.accounts = [ACCOUNT, "f".repeat(32)];
    const { code, output } = await deploy(without, folder, "--dry-run");
    cloudflare.state.accounts = [ACCOUNT];
    expect([code, output]).toEqual([2, expect.stringContaining("Set CLOUDFLARE_ACCOUNT_ID")]);
    expect(output).toContain("f".repeat(32));
  });

  it("without a valid token is refused with what to do", async () => {
    const { code, output } = await deploy(withEnv(cloudflare, { CLOUDFLARE_API_TOKEN: "unknown-7f3a" }), folder, "--dry-run");
    expect([code, output]).toEqual([3, expect.stringContaining("npx wrangler login")]);
    expect(output).not.toContain("unknown-7f3a");
  });
});

it("the command line without a checkout starts the wrangler that package.json pins", () => {
  expect(WRANGLER_VERSION).toBe(manifest.devDependencies.wrangler);
});
