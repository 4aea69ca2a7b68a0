import { existsSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textIn } from "node:stream/consumers";
import { describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { parseDocument, publicKeyOf, textOf } from "../../../packages/cli/src/admin/keys/document.ts";
import { wranglerIn } from "../../../packages/cli/src/admin/deploy/cloudflare.ts";
import { runHere } from "../support/here.ts";
import { recordSleeps } from "../support/hurry.ts";
import { runCli } from "../support/process.ts";

/** `admin keys` (docs/cli.md). What the service answers after an upload comes from a server of the test: its ROOT_KEYS change. */

const K1 = (JSON.parse(inject("secrets").ROOT_KEYS) as { keys: { k1: string } }).keys.k1;
const K2 = Buffer.alloc(32, 2).toString("base64");
const ADMIN = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };

/** A file of secrets, with a line before and one after ROOT_KEYS. */
function fileOf(value: string, mode = 0o600) {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-keys-"));
  const path = join(folder, "production.vars");
  writeFileSync(path, `ADMIN_TOKEN=a\nROOT_KEYS='${value}'\nMETRICS_TOKEN=m\n`, { mode });
  chmodSync(path, mode);
  const document = () => JSON.parse(/^ROOT_KEYS='(.*)'$/m.exec(readFileSync(path, "utf8"))![1]!) as object;
  return { folder, path, document };
}

const documentOf = (active: string, keys: object, verify?: object) => JSON.stringify({ active, keys, verify });
const BOTH = { k1: K1, k2: K2 };
/** The id of every job. */
const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const NONE = { vaults: 0, tokens: 0, endedTokens: 0 };
const key = (id: keyof typeof BOTH, state: string, more: object = {}) => {
  const publicKey = publicKeyOf(BOTH[id]);
  return { id, state, publicKey, verifies: true, backup: false, removable: false, ...NONE, ...more };
};

/** A service that answers with these keys, and in turn with these answers to other requests, and to those about jobs; `exists`: with a 409 `job_exists`, `status`: with that status; `silent`: never. `keysAtEnd`: the keys after a POST. */
async function serve(
  keys: readonly object[],
  answers: readonly object[] = [],
  keysAtEnd = keys,
): Promise<{ env: Record<string, string>; asked: string[] }> {
  const asked: string[] = [];
  const left = [...answers];
  const server = createServer(async (incoming, response) => {
    const { method, url = "" } = incoming;
    asked.push(`${method} ${url} ${await textIn(incoming)}`.trim());
    const answer =
      method === "GET" && !url.startsWith("/v1/admin/jobs")
        ? asked.some((line) => line.startsWith("POST"))
          ? keysAtEnd
          : keys
        : left.shift()!;
    if ("silent" in answer) return;
    if ("status" in answer) response.statusCode = answer.status as number;
    if (!("page" in answer)) response.setHeader("Request-Id", "1").setHeader("Content-Type", "application/json");
    if ("exists" in answer) response.setHeader("Item-Vault-Error", "job_exists").setHeader("Item-Vault-Job", ID).writeHead(409);
    if ("cut" in answer) response.write('{"id"', () => response.destroy());
    else response.end("page" in answer ? "<html>" : JSON.stringify(answer));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as { port: number };
  return { env: { ...ADMIN, ITEM_VAULT_HOST: `http://127.0.0.1:${port}` }, asked };
}

const commandOf = (args: string) => ["admin", "keys", ...args.split(" ").filter(Boolean)];

/** `cwd`: the folder with the file of secrets. */
const keys = (args: string, { env, cwd }: { env: Record<string, string>; cwd?: string }) =>
  runHere([...commandOf(args), ...(cwd ? ["--file", join(cwd, "production.vars")] : [])], { env });

/** An `npx` that keeps its arguments and its input, in a folder that comes first in PATH. */
function recordNpx(folder: string): Record<string, string> {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npx"), `#!/bin/sh\necho "$@" > ${folder}/args\ncat > ${folder}/input\n`, { mode: 0o755 });
  return { ...ADMIN, PATH: `${bin}:${process.env["PATH"]!}` };
}

describe("admin keys", () => {
  it("lists the keys of the service, and refuses an unknown action and a missing id", async () => {
    const { stdout } = await keys("", { env: ADMIN });
    expect(stdout).toMatch(/^ID +STATE +FINGERPRINT +VAULTS +TOKENS +ENDED\s*\nk1 +active +[0-9a-f]{16} /);
    for (const args of ["rotate", "activate", "rewrap k1"]) expect(await keys(args, { env: ADMIN })).toMatchObject({ code: 2 });
  });
});

describe("admin keys stage", () => {
  it("adds a random key to the file once, keeps the other lines and the mode, and prints no key", async () => {
    const { folder, path, document } = fileOf(K1);
    const first = await keys("stage", { env: ADMIN, cwd: folder });
    expect(first).toMatchObject({ code: 0, stdout: "" });
    const { keys: table } = document() as { keys: Record<string, string> };
    expect(document()).toEqual({ active: "k1", keys: { k1: K1, k2: expect.stringMatching(/^.{43}=$/) as string } });
    expect(readFileSync(path, "utf8")).toMatch(/^ADMIN_TOKEN=a\nROOT_KEYS='.*'\nMETRICS_TOKEN=m\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(first.stderr).toContain(`Upload it with \`${wranglerIn(process.cwd()).join(" ")} secret bulk ${path}\``);
    for (const text of Object.values(table)) expect(first.stderr).not.toContain(text);
    const before = readFileSync(path, "utf8");
    expect((await keys("stage", { env: ADMIN, cwd: folder })).stderr).toContain("has the new key k2 already");
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it.each([
    ["with --dry-run", documentOf("k1", { k1: K1 }), "--dry-run", 0, "Nothing was changed"],
    ["for a file with other keys", documentOf("k1", { k1: K2 }), "", 1, "is not that of the service"],
    ["for a file that lacks the key of the service", documentOf("k2", { k2: K2 }), "", 1, "lacks the key k1"],
    ["for a malformed file", "{}", "", 2, "ROOT_KEYS is malformed"],
    ["for an id that is in use", documentOf("k1", { k1: K1 }), "k1", 5, "The root key id k1 was already used"],
  ])("changes nothing %s", async (_, value, args, code, message) => {
    const { folder, path } = fileOf(value);
    const before = readFileSync(path, "utf8");
    const ran = await keys(`stage ${args}`, { env: ADMIN, cwd: folder });
    expect([ran.code, readFileSync(path, "utf8")]).toEqual([code, before]);
    expect(ran.stderr).toContain(message);
    for (const text of [K1, K2]) expect(ran.stderr).not.toContain(text);
  });

  it("says to restart a local service, and never uploads its keys to the deployed one", async () => {
    const { folder, path } = fileOf(K1);
    renameSync(path, join(folder, ".dev.vars"));
    const inFolder = (args: string) => runCli(commandOf(args), { env: ADMIN, cwd: folder });
    const uploaded = await inFolder("stage --upload --file .dev.vars");
    expect([uploaded.code, uploaded.stderr]).toEqual([2, expect.stringContaining("has the keys of a local service")]);
    expect(readFileSync(join(folder, ".dev.vars"), "utf8")).not.toContain("k2");
    const { stderr } = await inFolder("stage --file .dev.vars");
    expect(stderr).toContain("Restart the local service, which reads .dev.vars");
    expect(stderr).toContain("Then run `item-vault admin keys activate k2 --file .dev.vars`");
    expect(stderr).not.toContain("wrangler");
    expect((await inFolder("activate k2 --file .dev.vars")).stderr).toContain("Restart the local service");
  });

  it("refuses a file that others may read", async () => {
    const { folder } = fileOf(K1, 0o644);
    expect(await keys("stage", { env: ADMIN, cwd: folder })).toMatchObject({ code: 2 });
  });

  it("gives ROOT_KEYS alone to the wrangler of the folder with --upload, by its path and on its input", async () => {
    const { folder, document } = fileOf(K1);
    const env = recordNpx(folder);
    mkdirSync(join(folder, "node_modules/wrangler"), { recursive: true });
    writeFileSync(join(folder, "node_modules/wrangler/package.json"), JSON.stringify({ bin: { wrangler: "run.cjs" } }));
    const record = `const fs = require("node:fs");
fs.writeFileSync("by-path", process.argv.slice(2).join(" "));
fs.writeFileSync("input", fs.readFileSync(0));`;
    writeFileSync(join(folder, "node_modules/wrangler/run.cjs"), record);
    expect(await runCli(commandOf("stage --upload"), { env, cwd: folder })).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder, "by-path"), "utf8")).toBe("secret put ROOT_KEYS");
    expect(JSON.parse(readFileSync(join(folder, "input"), "utf8"))).toEqual(document());
    expect(existsSync(join(folder, "args"))).toBe(false);
  });

  it("gives them to the release of wrangler that this one names, where none is installed", async () => {
    const { folder, document } = fileOf(K1);
    expect(await runCli(commandOf("stage --upload"), { env: recordNpx(folder), cwd: folder })).toMatchObject({ code: 0 });
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { devDependencies: { wrangler: string } };
    expect(readFileSync(join(folder, "args"), "utf8")).toBe(`--yes wrangler@${devDependencies.wrangler} secret put ROOT_KEYS\n`);
    expect(JSON.parse(readFileSync(join(folder, "input"), "utf8"))).toEqual(document());
  });

  it("names the same release of wrangler when that fails, and without --upload", async () => {
    const { folder } = fileOf(K1);
    const env = { ...recordNpx(folder), PATH: `${join(folder, "bin")}:${process.env["PATH"]!}` };
    writeFileSync(join(folder, "bin/npx"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const named = `\`${wranglerIn(folder).join(" ")} secret bulk production.vars\``;
    expect(named).toMatch(/wrangler@\d/);
    const failed = await runCli(commandOf("stage --upload"), { env, cwd: folder });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`Run ${named} in the folder`)]);
    expect((await runCli(commandOf("stage"), { env, cwd: folder })).stderr).toContain(`Upload it with ${named}`);
  });
});

describe("a file that is older than the keys of the service", () => {
  const active = key("k2", "active");
  it.each([
    ["has a key that was removed", documentOf("k2", BOTH), key("k1", "removed", { verifies: false }), "no longer has the key"],
    [
      "verifies by a key that has leaked",
      documentOf("k2", { k2: K2 }, { k1: publicKeyOf(K1) }),
      key("k1", "removed", { verifies: false }),
      "no longer has the key",
    ],
    ["lacks a public key", documentOf("k2", { k2: K2 }), key("k1", "removed"), "lacks the public key k1"],
  ])("is not staged when it %s", async (_, value, removed, message) => {
    const { folder, path } = fileOf(value);
    const { env } = await serve([active, removed]);
    const ran = await keys("stage", { env, cwd: folder });
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(readFileSync(path, "utf8")).toContain(value);
  });
});

describe("admin keys activate", () => {
  it("refuses a key that the service does not know yet, and activates one that it knows as staged", async () => {
    const { folder, document } = fileOf(documentOf("k1", BOTH));
    expect(await keys("activate k2", { env: ADMIN, cwd: folder })).toMatchObject({ code: 5 });
    const { env } = await serve([key("k1", "active"), key("k2", "staged")]);
    expect(await keys("activate k2", { env, cwd: folder })).toMatchObject({ code: 0 });
    expect(document()).toEqual({ active: "k2", keys: BOTH });
  });
});

const job = (state: string, done: number, total: number, more: object = {}) => ({
  id: ID,
  kind: "rewrap",
  state,
  progress: { done, total },
  findings: [],
  createdAt: "2026-11-23T09:30:00.000Z",
  ...more,
});

describe("admin keys rewrap", () => {
  const KEYS = [key("k2", "active"), key("k1", "retired", { vaults: 5 })];

  const REWRAPPED = [key("k2", "active", { vaults: 5 }), key("k1", "retired")];
  const LEFT = [key("k2", "active", { vaults: 2 }), key("k1", "retired", { vaults: 3 })];
  const unreadable = { kind: "row_unreadable", table: "vaults", id: "v", detail: "d", repairable: false };

  it("starts a job, waits for its end with one request a second, and says how many rows are left", async () => {
    const { env, asked } = await serve(KEYS, [job("waiting", 0, 0), job("running", 2, 5), job("done", 5, 5)], REWRAPPED);
    expect((await keys("rewrap --dry-run", { env })).stderr).toContain("Would rewrap 5 rows");
    const delays = recordSleeps();
    const now = vi.spyOn(Date, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    const ran = await keys("rewrap", { env });
    expect(delays).toEqual([1_000]);
    const words = "Rewrapped 5 rows under the active key k2; left under others: 0";
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(words)]);
    expect(asked.filter((line) => line.includes("jobs"))).toEqual([
      'POST /v1/admin/jobs {"kind":"rewrap"}',
      `GET /v1/admin/jobs/${ID}?wait=2`,
      `GET /v1/admin/jobs/${ID}?wait=2`,
    ]);
  });

  it("says cannot be decrypted of the rows that findings name, and of others to run it again", async () => {
    const { env } = await serve(KEYS, [job("done", 5, 5, { findings: [unreadable] })], LEFT);
    const some = await keys("rewrap", { env });
    expect([some.code, some.stderr]).toEqual([1, expect.stringContaining("left under others: 3")]);
    for (const words of ["1 row cannot be decrypted", `admin jobs show ${ID}`, "run the command again"])
      expect(some.stderr).toContain(words);
    const none = await keys("rewrap", { env: (await serve(KEYS, [job("done", 5, 5)], LEFT)).env });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("3 rows left under other keys")]);
    expect(none.stderr).not.toContain("cannot be decrypted");
  });

  it("shows the reason and the findings of a job that failed", async () => {
    const failed = job("failed", 2, 5, { reason: "database_restored", findings: [unreadable] });
    const { code, stderr } = await keys("rewrap", { env: (await serve(KEYS, [job("waiting", 0, 0), failed])).env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/The job 3fa85f64-\S+ failed: database_restored/)]);
    for (const words of ["row_unreadable: table vaults", `admin jobs show ${ID}`]) expect(stderr).toContain(words);
  });

  it("goes on after an answer that is no job, and after any failure that passes", async () => {
    const faults = [{ status: 500 }, { status: 520 }, { status: 503 }, { id: ID }, { cut: true }, { page: true }];
    const ran = faults.map(async (fault) => {
      const { env, asked } = await serve(KEYS, [job("waiting", 0, 0), fault, job("done", 5, 5)], REWRAPPED);
      const { code } = await keys("rewrap", { env });
      return [fault, code, asked.filter((line) => line.includes("wait=")).length];
    });
    expect(await Promise.all(ran)).toEqual(faults.map((fault) => [fault, 0, 2]));
  });

  it("goes on after a 503, and says of any other failure that the job goes on", async () => {
    const down = { status: 503, message: "down" };
    const { env } = await serve(KEYS, [job("waiting", 0, 0), down, down, down, down, job("done", 5, 5)], REWRAPPED);
    expect(await keys("rewrap", { env })).toMatchObject({ code: 0 });
    const refused = await serve(KEYS, [job("waiting", 0, 0), { status: 403, message: "no" }]);
    const ran = await keys("rewrap", { env: refused.env });
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringContaining(`It keeps running. Check it with \`item-vault admin jobs show ${ID}`),
    ]);
  });

  it("says once how often a step was tried and why it failed, while the service tries again", async () => {
    const tried = (tries: number, reason: string) => job("running", 2, 5, { tries, reason });
    const answers = [tried(1, "unavailable"), tried(1, "unavailable"), tried(2, "unavailable"), tried(3, "misconfigured")];
    const jobs = [job("waiting", 0, 0), ...answers, job("running", 3, 5), job("done", 5, 5)];
    const { stderr } = await keys("rewrap", { env: (await serve(KEYS, jobs, REWRAPPED)).env });
    expect(stderr.match(/^Try .*$/gm)).toEqual([
      "Try 1 of 10 failed: unavailable. The job tries again by itself.",
      "Try 2 of 10 failed: unavailable. The job tries again by itself.",
      "Try 3 of 10 failed: misconfigured. The job tries again by itself.",
    ]);
  });

  it("ends after one silence of the service, and says that the job goes on", async () => {
    const { env, asked } = await serve(KEYS, [job("waiting", 0, 0), { silent: true }]);
    const ran = await keys("rewrap --timeout 0.1", { env });
    expect([ran.code, ran.stderr]).toEqual([
      6,
      expect.stringContaining("did not answer within 0.1 s\nIt keeps running. Check it with"),
    ]);
    expect(asked.filter((line) => line.includes("wait="))).toHaveLength(1);
  });

  it("refuses an answer that is no job", async () => {
    const { code, stderr } = await keys("rewrap", { env: (await serve(KEYS, [{ id: ID, state: "running" }])).env });
    expect([code, stderr]).toEqual([6, expect.stringContaining("The service did not answer with a job")]);
  });

  it("waits for the job that is under way already", async () => {
    const answers = [{ exists: true }, job("running", 2, 5), job("done", 5, 5)];
    const { stderr } = await keys("rewrap", { env: (await serve(KEYS, answers, REWRAPPED)).env });
    expect(stderr).toContain("Rewrapped 5 rows under the active key k2; left under others: 0");
  });
});

it("admin jobs show has all findings of a job that shows only some", async () => {
  const findings = Array.from({ length: 150 }, (_, row) => ({
    kind: "row_unreadable",
    id: `${row}`,
    detail: "d",
    repairable: false,
  }));
  const { env } = await serve([], [job("done", 5, 5, { findings: findings.slice(0, 100) }), findings]);
  const { stdout } = await runHere(["admin", "jobs", "show", job("", 0, 0).id], { env });
  expect(stdout.match(/row_unreadable/g)).toHaveLength(150);
});

it("admin keys rewrap says that the service does not use a staged key yet", async () => {
  const { env } = await serve([key("k1", "active", { vaults: 5 }), key("k2", "staged")], [job("done", 0, 0)]);
  const { code, stderr } = await keys("rewrap", { env });
  expect([code, stderr]).toEqual([0, expect.stringContaining("The service does not use the key k2 yet")]);
});

describe("admin keys remove", () => {
  const removable = [key("k2", "active"), key("k1", "retired", { removable: true })];

  it.each([
    ["the active key", [key("k2", "active")], "k2", "is the active key"],
    [
      "a key that holds something",
      [key("k2", "active"), key("k1", "retired", { tokens: 2 })],
      "k1",
      "still holds 0 vaults, 2 tokens",
    ],
    [
      "a key that the newest backup needs",
      [key("k2", "active"), key("k1", "retired", { backup: true })],
      "k1",
      "The newest backup cannot be decrypted without k1",
    ],
  ])("refuses %s", async (_, answers, id, message) => {
    const { folder, path } = fileOf(documentOf("k2", BOTH));
    const before = readFileSync(path, "utf8");
    const ran = await keys(`remove ${id}`, { env: (await serve(answers)).env, cwd: folder });
    expect([ran.code, readFileSync(path, "utf8")]).toEqual([5, before]);
    expect(ran.stderr).toContain(message);
  });

  it("says that the service was not given the file since another key was removed", async () => {
    const { folder } = fileOf(documentOf("k2", { k2: K2, k3: K1 }));
    const { env } = await serve([...removable, { ...key("k1", "staged", { removable: true }), id: "k3" }]);
    const hint = `When \`remove k1\` took it out: Upload it with \`${wranglerIn(process.cwd()).join(" ")} secret bulk`;
    expect((await keys("remove k3", { env, cwd: folder })).stderr).toContain(hint);
  });

  it("keeps the public key, with --leaked not, and drops a kept one with --leaked", async () => {
    const { env } = await serve(removable);
    const planned = fileOf(documentOf("k2", BOTH));
    expect(await keys("remove k1", { env, cwd: planned.folder })).toMatchObject({ code: 0 });
    expect(planned.document()).toEqual({ active: "k2", keys: { k2: K2 }, verify: { k1: publicKeyOf(K1) } });
    expect((await keys("remove k1", { env, cwd: planned.folder })).stderr).toContain("has no key k1 any more");
    const leaked = fileOf(documentOf("k2", BOTH));
    for (const { folder, document } of [leaked, planned]) {
      expect(await keys("remove k1 --leaked", { env, cwd: folder })).toMatchObject({ code: 0 });
      expect(document()).toEqual({ active: "k2", keys: { k2: K2 } });
    }
  });
});

describe("a document of ROOT_KEYS", () => {
  it("is read from one key, keeps attributes that it does not know, and derives the public key of the service", async () => {
    expect(parseDocument(`${K1}\n`, "file")).toEqual({ active: "k1", keys: { k1: K1 } });
    expect(textOf(parseDocument(JSON.stringify({ active: "k1", keys: { k1: K1 }, later: 1 }), "file"))).toContain('"later":1');
    const { stdout } = await keys("--format json", { env: ADMIN });
    expect(JSON.parse(stdout)).toMatchObject([{ id: "k1", publicKey: publicKeyOf(K1) }]);
  });
});
