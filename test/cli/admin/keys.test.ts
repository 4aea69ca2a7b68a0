import { chmodSync, existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { wranglerIn } from "../../../packages/cli/src/admin/deploy/cloudflare.ts";
import { parseDocument, publicKeyOf, textOf } from "../../../packages/cli/src/admin/keys/document.ts";
import { type Answered, jobExists, startApi } from "../support/api.ts";
import { folderOf, modeOf, programOf } from "../support/files.ts";
import { ADMIN, ends, runHere, wordsOf } from "../support/here.ts";
import { recordSleeps } from "../support/hurry.ts";
import { runCli } from "../support/process.ts";

/** `admin keys` (docs/cli.md). What the service answers after an upload comes from a server of the test: its ROOT_KEYS change. */

const K1 = (JSON.parse(inject("secrets").ROOT_KEYS) as { keys: { k1: string } }).keys.k1;
const K2 = Buffer.alloc(32, 2).toString("base64");
const BOTH = { k1: K1, k2: K2 };
const documentOf = (active: string, keys: object, verify?: object) => JSON.stringify({ active, keys, verify });

/** A file of secrets, with a line before and one after ROOT_KEYS. */
function secretsOf(value: string, mode = 0o600) {
  const folder = folderOf({ "production.vars": `ADMIN_TOKEN=a\nROOT_KEYS='${value}'\nMETRICS_TOKEN=m\n` });
  const path = join(folder, "production.vars");
  chmodSync(path, mode);
  const text = () => readFileSync(path, "utf8");
  const document = () => JSON.parse(/^ROOT_KEYS='(.*)'$/m.exec(text())![1]!) as { keys: Record<string, string> };
  const run = (args: string, env: Record<string, string> = ADMIN) => runHere(`admin keys ${args} --file ${path}`, { env });
  const inFolder = (args: string, env: Record<string, string> = ADMIN) =>
    runCli(wordsOf(`admin keys ${args}`), { env, cwd: folder });
  return { folder, path, text, document, run, inFolder };
}

/** The id of every job. */
const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const key = (id: keyof typeof BOTH, state: string, more: object = {}) => {
  const counts = { vaults: 0, tokens: 0, endedTokens: 0 };
  return { id, state, publicKey: publicKeyOf(BOTH[id]), verifies: true, backup: false, removable: false, ...counts, ...more };
};
const job = (state: string, done: number, total: number, more: object = {}): Answered => {
  const common = { id: ID, kind: "rewrap", createdAt: "2026-11-23T09:30:00.000Z", findings: [] };
  return { body: { ...common, state, progress: { done, total }, ...more } };
};
const started = job("waiting", 0, 0);
const done = job("done", 5, 5);

/** A service with these keys, and with `keysAtEnd` after a POST. Requests about jobs, and writes, get these answers in turn. */
async function serve(keys: readonly object[], answers: readonly Answered[] = [], keysAtEnd = keys) {
  const left = [...answers];
  const api = await startApi(({ name }) => {
    if (!name.startsWith("GET") || name.startsWith("GET /v1/admin/jobs")) return left.shift()!;
    return { body: api.names().some((one) => one.startsWith("POST")) ? keysAtEnd : keys };
  });
  const run = (args: string) => runHere(`admin keys ${args}`, { env: api.env });
  return { ...api, run, waits: () => api.requests.filter(({ url }) => url.includes("wait=")) };
}

it("admin keys lists the keys of the service, and refuses an unknown action and a missing id", async () => {
  const { stdout } = await runHere("admin keys", { env: ADMIN });
  expect(stdout).toMatch(/^ID +STATE +FINGERPRINT +VAULTS +TOKENS +ENDED\s*\nk1 +active +[0-9a-f]{16} /);
  for (const args of ["rotate", "activate", "rewrap k1"])
    expect(await runHere(`admin keys ${args}`, { env: ADMIN })).toMatchObject({ code: 2 });
});

/** Variables with an `npx` that keeps its arguments and its input in a folder, and ends with this code. */
const recordingNpx = (folder: string, code = 0) => ({
  ...ADMIN,
  PATH: `${programOf("npx", `echo "$@" > ${folder}/args\ncat > ${folder}/input\nexit ${code}`)}:${process.env["PATH"]!}`,
});

describe("admin keys stage", () => {
  it("adds a random key to the file once, keeps the other lines and the mode, and prints no key", async () => {
    const { path, text, document, run } = secretsOf(K1);
    const first = await run("stage");
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(document()).toEqual({ active: "k1", keys: { k1: K1, k2: expect.stringMatching(/^.{43}=$/) as string } });
    expect([text(), modeOf(path)]).toEqual([expect.stringMatching(/^ADMIN_TOKEN=a\nROOT_KEYS='.*'\nMETRICS_TOKEN=m\n$/), 0o600]);
    expect(first.stderr).toContain(`Upload it with \`${wranglerIn(process.cwd()).join(" ")} secret bulk ${path}\``);
    for (const secret of Object.values(document().keys)) expect(first.stderr).not.toContain(secret);
    const before = text();
    expect((await run("stage")).stderr).toContain("has the new key k2 already");
    expect(text()).toBe(before);
  });

  it.each([
    ["with --dry-run", documentOf("k1", { k1: K1 }), "--dry-run", 0, "Nothing was changed"],
    ["for a file with other keys", documentOf("k1", { k1: K2 }), "", 1, "is not that of the service"],
    ["for a file that lacks the key of the service", documentOf("k2", { k2: K2 }), "", 1, "lacks the key k1"],
    ["for a malformed file", "{}", "", 2, "ROOT_KEYS is malformed"],
    ["for an id that is in use", documentOf("k1", { k1: K1 }), "k1", 5, "The root key id k1 was already used"],
  ])("changes nothing %s", async (_, value, args, code, message) => {
    const { text, run } = secretsOf(value);
    const before = text();
    const ran = await run(`stage ${args}`);
    expect(ran).toMatchObject(ends(code, message));
    expect(text()).toBe(before);
    for (const secret of [K1, K2]) expect(ran.stderr).not.toContain(secret);
  });

  it("says to restart a local service, and never uploads its keys to the deployed one", async () => {
    const { folder, path, inFolder } = secretsOf(K1);
    renameSync(path, join(folder, ".dev.vars"));
    expect(await inFolder("stage --upload --file .dev.vars")).toMatchObject(ends(2, "has the keys of a local service"));
    expect(readFileSync(join(folder, ".dev.vars"), "utf8")).not.toContain("k2");
    const { stderr } = await inFolder("stage --file .dev.vars");
    expect(stderr).toContain("Restart the local service, which reads .dev.vars");
    expect(stderr).toContain("Then run `item-vault admin keys activate k2 --file .dev.vars`");
    expect(stderr).not.toContain("wrangler");
    expect((await inFolder("activate k2 --file .dev.vars")).stderr).toContain("Restart the local service");
  });

  it("refuses a file that others may read", async () => {
    expect(await secretsOf(K1, 0o644).run("stage")).toMatchObject({ code: 2 });
  });

  it("gives ROOT_KEYS alone to the wrangler of the folder with --upload, by its path and on its input", async () => {
    const { folder, document, inFolder } = secretsOf(K1);
    const installed = folderOf({
      "wrangler/package.json": JSON.stringify({ bin: { wrangler: "run.cjs" } }),
      "wrangler/run.cjs": `const fs = require("node:fs");
fs.writeFileSync("by-path", process.argv.slice(2).join(" "));
fs.writeFileSync("input", fs.readFileSync(0));`,
    });
    renameSync(installed, join(folder, "node_modules"));
    expect(await inFolder("stage --upload", recordingNpx(folder))).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder, "by-path"), "utf8")).toBe("secret put ROOT_KEYS");
    expect(JSON.parse(readFileSync(join(folder, "input"), "utf8"))).toEqual(document());
    expect(existsSync(join(folder, "args"))).toBe(false);
  });

  it("gives them to the release of wrangler that this one names, where none is installed", async () => {
    const { folder, document, inFolder } = secretsOf(K1);
    expect(await inFolder("stage --upload", recordingNpx(folder))).toMatchObject({ code: 0 });
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { devDependencies: { wrangler: string } };
    expect(readFileSync(join(folder, "args"), "utf8")).toBe(`--yes wrangler@${devDependencies.wrangler} secret put ROOT_KEYS\n`);
    expect(JSON.parse(readFileSync(join(folder, "input"), "utf8"))).toEqual(document());
  });

  it("names the same release of wrangler when that fails, and without --upload", async () => {
    const { folder, inFolder } = secretsOf(K1);
    const env = recordingNpx(folder, 1);
    const named = `\`${wranglerIn(folder).join(" ")} secret bulk production.vars\``;
    expect(named).toMatch(/wrangler@\d/);
    expect(await inFolder("stage --upload", env)).toMatchObject(ends(1, `Run ${named} in the folder`));
    expect((await inFolder("stage", env)).stderr).toContain(`Upload it with ${named}`);
  });

  const LEAKED = { k1: publicKeyOf(K1) };
  it.each([
    ["has a key that was removed", documentOf("k2", BOTH), { verifies: false }, "no longer has the key"],
    ["verifies by a key that has leaked", documentOf("k2", { k2: K2 }, LEAKED), { verifies: false }, "no longer has the key"],
    ["lacks a public key", documentOf("k2", { k2: K2 }), {}, "lacks the public key k1"],
  ])("refuses a file that is older than the keys of the service, where it %s", async (_, value, removed, message) => {
    const { text, run } = secretsOf(value);
    const { env } = await serve([key("k2", "active"), key("k1", "removed", removed)]);
    expect(await run("stage", env)).toMatchObject(ends(1, message));
    expect(text()).toContain(value);
  });
});

it("admin keys activate refuses a key that the service does not know yet, and activates one that it knows as staged", async () => {
  const { document, run } = secretsOf(documentOf("k1", BOTH));
  expect(await run("activate k2")).toMatchObject({ code: 5 });
  const { env } = await serve([key("k1", "active"), key("k2", "staged")]);
  expect(await run("activate k2", env)).toMatchObject({ code: 0 });
  expect(document()).toEqual({ active: "k2", keys: BOTH });
});

describe("admin keys rewrap", () => {
  const KEYS = [key("k2", "active"), key("k1", "retired", { vaults: 5 })];
  const REWRAPPED = [key("k2", "active", { vaults: 5 }), key("k1", "retired")];
  const LEFT = [key("k2", "active", { vaults: 2 }), key("k1", "retired", { vaults: 3 })];
  const finding = { kind: "row_unreadable", table: "vaults", id: "v", detail: "d", repairable: false };
  const WORDS = "Rewrapped 5 rows under the active key k2; left under others: 0";
  const RUNNING = `It keeps running. Check it with \`item-vault admin jobs show ${ID}`;
  const down: Answered = { status: 503, body: { status: 503, message: "down" } };

  it("starts a job, waits for its end with one request a second, and says how many rows are left", async () => {
    const { run, requests, waits } = await serve(KEYS, [started, job("running", 2, 5), done], REWRAPPED);
    expect((await run("rewrap --dry-run")).stderr).toContain("Would rewrap 5 rows");
    const delays = recordSleeps();
    const now = vi.spyOn(Date, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    expect(await run("rewrap")).toMatchObject(ends(0, WORDS));
    expect(delays).toEqual([1_000]);
    expect(requests.filter(({ name }) => name.startsWith("POST"))).toMatchObject([
      { url: "/v1/admin/jobs", body: '{"kind":"rewrap"}' },
    ]);
    expect(waits().map(({ url }) => url)).toEqual(Array(2).fill(`/v1/admin/jobs/${ID}?wait=2`));
  });

  it.each<[string, readonly Answered[], readonly object[], number, ...words: (string | RegExp)[]]>([
    ["the job that is under way already", [jobExists(ID), job("running", 2, 5), done], REWRAPPED, 0, WORDS],
    ["one after four refusals for a moment", [started, down, down, down, down, done], REWRAPPED, 0],
    [
      "one that names rows that cannot be decrypted",
      [started, job("done", 5, 5, { findings: [finding] })],
      LEFT,
      1,
      "left under others: 3",
      "1 row cannot be decrypted",
      `admin jobs show ${ID}`,
      "run the command again",
    ],
    ["one that leaves rows", [started, done], LEFT, 1, "3 rows left under other keys", /^(?![^]*cannot be decrypted)/],
    [
      "one that fails",
      [started, job("failed", 2, 5, { reason: "database_restored", findings: [finding] })],
      KEYS,
      1,
      `The job ${ID} failed: database_restored`,
      "row_unreadable: table vaults",
      `admin jobs show ${ID}`,
    ],
    ["one of which it is refused the state", [started, { status: 403, body: { status: 403, message: "no" } }], KEYS, 3, RUNNING],
    ["what is no job", [{ body: { id: ID, state: "running" } }], KEYS, 6, "The service did not answer with a job"],
  ])("waits for %s, and tells the end", async (_, answers, keysAtEnd, code, ...words) => {
    const { run } = await serve(KEYS, answers, keysAtEnd);
    expect(await run("rewrap")).toMatchObject(ends(code, ...words));
  });

  it.each<[string, Answered]>([
    ["a 500", { status: 500 }],
    ["a 520", { status: 520 }],
    ["a 503", { status: 503 }],
    ["what is no job", { body: { id: ID } }],
    ["half an answer", { raw: (reply) => reply.write('{"id"', () => reply.destroy()) }],
    ["a page", { raw: (reply) => reply.end("<html>") }],
  ])("goes on after %s", async (_, fault) => {
    const { run, waits } = await serve(KEYS, [started, fault, done], REWRAPPED);
    expect([(await run("rewrap")).code, waits().length]).toEqual([0, 2]);
  });

  it("says once how often a step was tried and why it failed, while the service tries again", async () => {
    const tried = (tries: number, reason: string) => job("running", 2, 5, { tries, reason });
    const answers = [tried(1, "unavailable"), tried(1, "unavailable"), tried(2, "unavailable"), tried(3, "misconfigured")];
    const { run } = await serve(KEYS, [started, ...answers, job("running", 3, 5), done], REWRAPPED);
    expect((await run("rewrap")).stderr.match(/^Try .*$/gm)).toEqual([
      "Try 1 of 10 failed: unavailable. The job tries again by itself.",
      "Try 2 of 10 failed: unavailable. The job tries again by itself.",
      "Try 3 of 10 failed: misconfigured. The job tries again by itself.",
    ]);
  });

  it("ends after one silence of the service, and says that the job goes on", async () => {
    const { run, waits } = await serve(KEYS, [started, { raw: () => undefined }]);
    const words = "did not answer within 0.1 s\nIt keeps running. Check it with";
    expect(await run("rewrap --timeout 0.1")).toMatchObject(ends(6, words));
    expect(waits()).toHaveLength(1);
  });

  it("says that the service does not use a staged key yet", async () => {
    const { run } = await serve([key("k1", "active", { vaults: 5 }), key("k2", "staged")], [job("done", 0, 0)]);
    expect(await run("rewrap")).toMatchObject(ends(0, "The service does not use the key k2 yet"));
  });
});

it("admin jobs show has all findings of a job that shows only some", async () => {
  const finding = { kind: "row_unreadable", detail: "d", repairable: false };
  const findings = Array.from({ length: 150 }, (_, row) => ({ ...finding, id: `${row}` }));
  const { env } = await serve([], [job("done", 5, 5, { findings: findings.slice(0, 100) }), { body: findings }]);
  expect((await runHere(`admin jobs show ${ID}`, { env })).stdout.match(/row_unreadable/g)).toHaveLength(150);
});

describe("admin keys remove", () => {
  const removable = [key("k2", "active"), key("k1", "retired", { removable: true })];

  it.each([
    ["the active key", "k2", {}, "is the active key"],
    ["a key that holds something", "k1", { tokens: 2 }, "still holds 0 vaults, 2 tokens"],
    ["a key that the newest backup needs", "k1", { backup: true }, "The newest backup cannot be decrypted without k1"],
  ])("refuses %s", async (_, id, retired, message) => {
    const { text, run } = secretsOf(documentOf("k2", BOTH));
    const before = text();
    const { env } = await serve([key("k2", "active"), key("k1", "retired", retired)]);
    expect(await run(`remove ${id}`, env)).toMatchObject(ends(5, message));
    expect(text()).toBe(before);
  });

  it("says that the service was not given the file since another key was removed", async () => {
    const { run } = secretsOf(documentOf("k2", { k2: K2, k3: K1 }));
    const { env } = await serve([...removable, { ...key("k1", "staged", { removable: true }), id: "k3" }]);
    const hint = `When \`remove k1\` took it out: Upload it with \`${wranglerIn(process.cwd()).join(" ")} secret bulk`;
    expect((await run("remove k3", env)).stderr).toContain(hint);
  });

  it("keeps the public key, with --leaked not, and drops a kept one with --leaked", async () => {
    const { env } = await serve(removable);
    const planned = secretsOf(documentOf("k2", BOTH));
    expect(await planned.run("remove k1", env)).toMatchObject({ code: 0 });
    expect(planned.document()).toEqual({ active: "k2", keys: { k2: K2 }, verify: { k1: publicKeyOf(K1) } });
    expect((await planned.run("remove k1", env)).stderr).toContain("has no key k1 any more");
    for (const { run, document } of [secretsOf(documentOf("k2", BOTH)), planned]) {
      expect(await run("remove k1 --leaked", env)).toMatchObject({ code: 0 });
      expect(document()).toEqual({ active: "k2", keys: { k2: K2 } });
    }
  });
});

it("a document of ROOT_KEYS is read from one key, keeps attributes that it does not know, and derives the public key", async () => {
  expect(parseDocument(`${K1}\n`, "file")).toEqual({ active: "k1", keys: { k1: K1 } });
  expect(textOf(parseDocument(JSON.stringify({ active: "k1", keys: { k1: K1 }, later: 1 }), "file"))).toContain('"later":1');
  const { stdout } = await runHere("admin keys --format json", { env: ADMIN });
  expect(JSON.parse(stdout)).toMatchObject([{ id: "k1", publicKey: publicKeyOf(K1) }]);
});
