import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { afterEach, expect, it } from "vitest";
import { ensureSecrets } from "../../scripts/secrets.ts";
import { LOCAL, WRANGLER } from "../../scripts/wrangler.ts";
import { freePort } from "./support/free-port.ts";

/** `npm start` in a copy of the checkout (docs/operations.md, The database is gone). Only the long run has it: each start builds everything. */

const PARTS = ["docs", "migrations", "packages", "scripts", "src", "package.json", "tsconfig.json", "wrangler.toml"];

const running: ChildProcess[] = [];
afterEach(() => Promise.all(running.splice(0).map(end)));

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  const ended = new Promise<void>((done) => void child.on("close", () => done()));
  child.kill("SIGINT");
  return ended;
}

function makeCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-start-"));
  for (const part of PARTS)
    cpSync(part, join(folder, part), { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Starts the service. Out: when its greeting is printed, its address and what it has printed. */
async function start(cwd: string, ...args: string[]) {
  const port = await freePort();
  const child = spawn(process.execPath, ["scripts/start.ts", ...args], { cwd, env: { ...process.env, PORT: String(port) } });
  running.push(child);
  let output = "";
  await new Promise<void>((greeted, reject) => {
    const read = (text: Buffer) => {
      output += text.toString();
      if (/^npx --no item-vault (item list|token create)/m.test(output)) greeted();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", () => reject(new Error(output)));
  });
  return { child, url: `http://127.0.0.1:${port}`, output };
}

function runAdmin(cwd: string, url: string, ...args: string[]): Promise<string> {
  const { ADMIN_TOKEN } = parseEnv(readFileSync(join(cwd, ".dev.vars"), "utf8"));
  const command = ["--conditions=source", "packages/cli/src/main.ts", ...args];
  const env = { ...process.env, ITEM_VAULT_HOST: url, ITEM_VAULT_ADMIN_TOKEN: ADMIN_TOKEN! };
  const child = spawn(process.execPath, command, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text: Buffer) => void (printed += text.toString()));
  return new Promise((done, reject) => {
    child.on("close", (code) => (code === 0 ? done(printed) : reject(new Error(`${args.join(" ")} ended with ${code}`))));
  });
}

/** Of all processes, where the system has /proc. */
const commandLines = (): string[] =>
  (existsSync("/proc/self/cmdline") ? readdirSync("/proc") : []).flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, "utf8")] : [];
    } catch {
      return []; // The process has ended.
    }
  });

const idsOf = (text: string) => (JSON.parse(text) as { id: string }[]).map(({ id }) => id);

it("a whole deployment is restored in place of the demo, no secret is printed into a log, and no page starts the hourly run by /__scheduled", async () => {
  const folder = makeCheckout();
  const first = await start(folder);
  const { token } = JSON.parse(readFileSync(join(folder, ".wrangler/demo.json"), "utf8")) as { token: string };
  expect(first.output).not.toContain("#sign-in=");
  expect(first.output).not.toContain(token);
  expect((await fetch(`${first.url}/__scheduled`)).status).toBe(404);
  await runAdmin(folder, first.url, "admin", "backup", "--to", "backups");
  const vaults = await runAdmin(folder, first.url, "vault", "list", "--admin", "--format", "json");
  await end(first.child);

  const restored = await start(folder, "--restore", "backups");
  const after = await runAdmin(folder, restored.url, "vault", "list", "--admin", "--format", "json");
  expect(idsOf(after)).toEqual(idsOf(vaults));
  expect((await fetch(`${restored.url}/v1/token`, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(401);
  await end(restored.child);

  const again = await start(folder);
  expect(idsOf(await runAdmin(folder, again.url, "vault", "list", "--admin", "--format", "json"))).toEqual(idsOf(vaults));
  expect(existsSync(join(folder, ".wrangler/demo.json"))).toBe(false);
});

it("`npm run console` prints a link that signs in once, as long as the service runs", async () => {
  const folder = makeCheckout();
  const runConsole = () =>
    spawnSync(process.execPath, ["scripts/console.ts"], { cwd: folder, encoding: "utf8", timeout: 60_000 });
  const { child, url, output } = await start(folder);
  expect(output).toContain("To open the console, run: npm run console");
  const [, codes = ""] = /#sign-in=(.*)\n/.exec(runConsole().stdout)!;
  const signIn = async (code: string) => {
    const headers = { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };
    return (await fetch(`${url}/console/session`, { method: "POST", headers, body: JSON.stringify({ code }) })).status;
  };
  const statuses = [];
  for (const code of [...codes.split("."), ...codes.split(".")]) statuses.push(await signIn(code));
  expect(statuses).toEqual([200, 200, 401, 401]);
  await end(child);
  expect(runConsole()).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("npm start") as string });
});

it("`npm run console` sends no secret to the port of a service that was killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-console-"));
  const killed = spawnSync(process.execPath, ["--version"]).pid;
  let requests = 0;
  const server = createServer((_, answer) => void (requests++, answer.end("{}")));
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  mkdirSync(join(folder, ".wrangler"));
  writeFileSync(join(folder, ".dev.vars"), "ADMIN_TOKEN=secret\n");
  for (const pid of [`${killed} `, ""]) {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, ".wrangler/address"), `${pid}${address}`);
    const child = spawn(process.execPath, [resolve("scripts/console.ts")], { cwd: folder, stdio: "ignore" });
    expect(await new Promise((done) => void child.on("close", done))).toBe(1);
  }
  server.close();
  expect(requests).toBe(0);
});

it("a variable of .dev.vars reaches the service, and no value is in the list of processes: webhooks to WEBHOOK_TEST_ORIGIN are accepted", async () => {
  const folder = makeCheckout();
  const [admin, metrics] = ["x".repeat(43), "y".repeat(43)];
  const rootKey = Buffer.alloc(32, 7).toString("base64");
  const origin = "http://127.0.0.1:9000";
  writeFileSync(
    join(folder, ".dev.vars"),
    `ADMIN_TOKEN=${admin}\nMETRICS_TOKEN=${metrics}\nROOT_KEYS='${rootKey}'\nWEBHOOK_TEST_ORIGIN=${origin}\n`,
    { mode: 0o600 },
  );
  const { url } = await start(folder);
  const { vault } = JSON.parse(readFileSync(join(folder, ".wrangler/demo.json"), "utf8")) as { vault: string };
  const answer = await fetch(`${url}/v1/admin/vaults/${vault}/webhooks`, {
    method: "POST",
    headers: { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" },
    body: JSON.stringify({ url: `${origin}/x` }),
  });
  expect(answer.status).toBe(200);
  const values = Object.values(parseEnv(readFileSync(join(folder, ".dev.vars"), "utf8")));
  expect(commandLines().filter((line) => values.some((value) => line.includes(value!)))).toEqual([]);
});

it("`wrangler dev` alone says what a fresh checkout lacks, and serves when it has the secrets and the migrations", async () => {
  const folder = makeCheckout();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const stateOf = async (name: string) => {
    const { dependencies } = (await (await fetch(`${url}/health`)).json()) as { dependencies: { service: string }[] };
    return dependencies.find(({ service }) => service === name);
  };
  const { ADMIN_TOKEN: _, METRICS_TOKEN: __, ROOT_KEYS: ___, ...others } = process.env; // the tests' own secrets
  const env = { ...others, ...LOCAL };
  const wrangler = (...args: string[]) =>
    spawn(process.execPath, [WRANGLER, ...args], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  const serve = async () => {
    const child = wrangler("dev", `--port=${port}`, "--inspector-port=0");
    running.push(child);
    await expect
      .poll(
        () =>
          fetch(`${url}/heartbeat`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 120_000 },
      )
      .toBe(200);
    return child;
  };

  const first = await serve();
  expect(await stateOf("keys")).toMatchObject({ status: "ERROR", message: "ROOT_KEYS is missing" });
  const schema = await stateOf("schema");
  expect(schema).toMatchObject({
    status: "ERROR",
    message: expect.stringContaining("(`--local` under `wrangler dev`)") as string,
  });
  await end(first);

  const { adminToken } = ensureSecrets(join(folder, ".dev.vars"));
  const [command] = /wrangler d1 migrations apply DB/.exec((schema as unknown as { message: string }).message)!;
  const applied = wrangler(...command.split(" ").slice(1), "--local");
  expect(await new Promise((done) => void applied.on("close", done))).toBe(0);
  await serve();
  expect(await stateOf("schema")).toMatchObject({ status: "ACTIVE" });
  const vaults = await fetch(`${url}/v1/admin/vaults`, { headers: { Authorization: `Bearer ${adminToken}` } });
  expect([vaults.status, await vaults.json()]).toEqual([200, []]);
});

it("a deployment is restored without what its backup has damaged", async () => {
  const folder = makeCheckout();
  const first = await start(folder);
  await runAdmin(folder, first.url, "admin", "backup", "--to", "backups");
  const vaults = await runAdmin(folder, first.url, "vault", "list", "--admin", "--format", "json");
  await end(first.child);
  rmSync(join(folder, "backups/contents"), { recursive: true });
  const restored = await start(folder, "--restore", "backups");
  expect(restored.output).toContain("content_missing");
  const after = await runAdmin(folder, restored.url, "vault", "list", "--admin", "--format", "json");
  expect(idsOf(after)).toEqual(idsOf(vaults));
});

it("another folder is restored in place of the one that was restored before", async () => {
  const folder = makeCheckout();
  const first = await start(folder);
  await runAdmin(folder, first.url, "admin", "backup", "--to", "one");
  await end(first.child);
  cpSync(join(folder, "one"), join(folder, "two"), { recursive: true });
  for (const [from, isMoved] of [
    ["one", true],
    ["one", false],
    ["two", true],
  ] as const) {
    const { child, output } = await start(folder, "--restore", from);
    expect([from, output.includes("The data of before was moved to")]).toEqual([from, isMoved]);
    await end(child);
  }
});
