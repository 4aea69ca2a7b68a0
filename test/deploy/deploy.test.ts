import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseEnv } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WRANGLER_VERSION } from "../../packages/cli/src/admin/deploy/wrangler.ts";
import manifest from "../../package.json" with { type: "json" };
import { ACCOUNT, type Cloudflare, startCloudflare } from "./support/cloudflare.ts";
import { deploy, deployCheckout, deployInTerminal, makeFolder, SECRETS, withEnv } from "./support/folder.ts";

/** Deployments by the real wrangler, to a server that answers as Cloudflare's API documentation says. */

/** Node has no pseudo-terminals; `script` of util-linux makes one. */
const HAS_SCRIPT = spawnSync("script", ["--version"]).status === 0;
const NAME = "item-vault";
const REQUIRED = ["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"] as const;

let cloudflare: Cloudflare;
let folder: string;
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

describe("deploy", () => {
  it("--dry-run prints the plan of a first deployment and changes nothing", async () => {
    const { code, output } = await deployCheckout(cloudflare, "--dry-run");
    expect([code, changes()]).toEqual([0, []]);
    expect(output).toContain(`as ${NAME} in account ${ACCOUNT}, the first deployment`);
    expect(planOf(output)).toEqual([
      "  secrets     NOT SET, so the deployment stops here: ADMIN_TOKEN, ROOT_KEYS, METRICS_TOKEN",
      "  database    create the D1 database item-vault",
      "  migrations  apply 0001_initial.sql",
      "  worker      create the R2 bucket item-vault-files",
      "              create the R2 bucket item-vault-backups",
      "              create the queue item-vault-activity",
      expect.stringMatching(/^ {14}deploy version [\d.]+ as item-vault$/),
      "  health      wait until /health shows the version without an error",
    ]);
  });

  it("stops before it changes anything when a secret is missing and there is no terminal, also with --yes", async () => {
    const { code, output } = await deploy(cloudflare, folder, "--yes");
    expect([code, changes()]).toEqual([2, []]);
    expect(output).toContain("(mode 600).\n");
    expect(output).not.toContain("wrangler secret put"); // before the first version it fails
    expect(() => statSync(secretsFile())).toThrow("ENOENT");
  });

  it("in a terminal it generates the secrets into a file of mode 0600 and deploys; schema and secrets are there before the first version", async () => {
    if (!HAS_SCRIPT) writeFileSync(secretsFile(), SECRETS, { mode: 0o600 });
    const { code, output } = await (HAS_SCRIPT ? deployInTerminal(cloudflare, folder, "y\r") : deploy(cloudflare, folder));
    expect([code, output]).toEqual([0, expect.stringContaining(`Deployed: ${cloudflare.origin}`)]);
    expect(statSync(secretsFile()).mode & 0o777).toBe(0o600);
    const made = parseEnv(readFileSync(secretsFile(), "utf8"));
    for (const name of REQUIRED) {
      expect(output).not.toContain(made[name]!.slice(-12));
      expect(secretOf(name)).toBe(made[name]);
    }
    expect(worker().versions).toHaveLength(1);
    const schema = cloudflare.calls.findLastIndex((call) => call === `POST /d1/database/${database().id}/query`);
    expect(cloudflare.calls.indexOf(`PUT /workers/scripts/${NAME}`)).toBeGreaterThan(schema);
    expect([...cloudflare.state.queues.values()].map(({ consumers }) => consumers.length)).toEqual([1]);
    expect([worker().onSubdomain, worker().schedules]).toEqual([true, [{ cron: "17 * * * *" }]]);
  });

  it("--dry-run prints the plan of a second deployment, which creates nothing", async () => {
    const before = changes().length;
    const { code, output } = await deploy(cloudflare, folder, "--dry-run");
    expect([code, changes().length]).toEqual([0, before]);
    expect(planOf(output)).toEqual([
      "  secrets     nothing to do",
      "  database    nothing to do",
      "  migrations  nothing to do",
      expect.stringMatching(/^ {2}worker {6}deploy version [\d.]+ as item-vault$/),
      "  health      wait until /health shows the version without an error",
    ]);
  });

  it("stops before it changes anything when wrangler.toml names another database than the one that the Worker uses", async () => {
    const before = changes().length;
    const path = join(folder, "wrangler.toml");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace('database_name = "item-vault"', 'database_name = "another"'));
    const { code, output } = await deploy(cloudflare, folder);
    writeFileSync(path, text);
    expect([code, changes().length]).toEqual([5, before]);
    expect(output).toContain(`write database_id = "${database().id}" into wrangler.toml`);
  });

  it("creates another database when that of the deployed Worker is gone, and keeps the secrets", async () => {
    const secrets = REQUIRED.map(secretOf);
    const { id: before } = database();
    cloudflare.state.databases.clear();
    const plan = await deploy(cloudflare, folder, "--dry-run");
    expect([plan.code, planOf(plan.output).slice(0, 3)]).toEqual([
      0,
      [
        "  secrets     nothing to do",
        "  database    create the D1 database item-vault, because that of the deployed Worker is gone: restore a backup into it",
        "  migrations  apply 0001_initial.sql",
      ],
    ]);
    expect(await deploy(cloudflare, folder)).toMatchObject({ code: 0 });
    expect(database().id).not.toBe(before);
    expect(worker().active.bindings.find(({ type }) => type === "d1")?.id).toBe(database().id);
    expect(REQUIRED.map(secretOf)).toEqual(secrets);
  });
});

describe("what a deployment would lose", () => {
  it("a variable that was changed in the dashboard is named in the plan", async () => {
    const { active } = worker();
    const bindings = active.bindings.map((binding) =>
      binding.name === "DATABASE_LIMIT_MB" ? { ...binding, json: 500 } : binding,
    );
    worker().active = { ...active, bindings: [...bindings, { type: "plain_text", name: "MINE", text: "yes" }] };
    const { output } = await deploy(cloudflare, folder, "--dry-run");
    worker().active = active;
    expect(planOf(output)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("change the variable DATABASE_LIMIT_MB: 500 to 10000"),
        expect.stringContaining('remove the variable MINE: "yes"'),
      ]),
    );
  });

  it.each([
    ["has a vault", "CREATE TABLE vaults (id TEXT) STRICT; INSERT INTO vaults VALUES ('v')"],
    [
      "had one",
      "CREATE TABLE vaults (id TEXT) STRICT; CREATE TABLE root_keys (id TEXT) STRICT; INSERT INTO root_keys VALUES ('k1')",
    ],
  ])("no other root keys are made for a database that %s", async (_, rows) => {
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
  ])("a file of secrets is refused that %s", async (_, text, mode) => {
    const path = join(folder, "refused.vars");
    writeFileSync(path, text, { mode });
    const { code, output } = await deploy(cloudflare, folder, "--dry-run", "--secrets", path);
    rmSync(path);
    expect([code, output]).toEqual([2, expect.stringContaining("refused.vars")]);
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

  it("without a subdomain of workers.dev is refused before anything is changed", async () => {
    const before = changes().length;
    cloudflare.state.subdomain = undefined;
    const { code, output } = await deploy(cloudflare, folder);
    cloudflare.state.subdomain = "example";
    expect([code === 0, changes().length]).toEqual([false, before]);
    expect(output).toContain(`https://dash.cloudflare.com/${ACCOUNT}/workers/onboarding`);
  });
});

it("the command line without a checkout starts the wrangler that package.json pins", () => {
  expect(WRANGLER_VERSION).toBe(manifest.devDependencies.wrangler);
});
