import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { startFewVaults } from "../support/few-vaults.ts";
import { type Interceptor, startInterceptor } from "../support/interceptor.ts";
import { runHere } from "../support/here.ts";

/** `admin backup` as a process (contract 21). */

let vault: string;
let service: Interceptor;
beforeAll(async () => {
  vault = await makeVault("Backup");
  const { token } = await makeToken({ [vault]: "rw" }, "uuid");
  const body = { title: "One", category: "LOGIN", vault: { id: vault } };
  const { id } = (await sendRequest("POST", `v1/vaults/${vault}/items`, token, body)) as { id: string };
  await sendRequest("POST", `v1/vaults/${vault}/items/${id}/files?name=f`, token, "content");
  service = await startFewVaults(vault);
});
afterAll(() => service.close());

const hash = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const run = (...args: string[]) => {
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: service.url };
  return runHere(["admin", "backup", ...args], { env });
};

it("admin backup --to fills a folder that mirrors the bucket, and then copies only what it lacks", async () => {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
  const planned = await run("--dry-run", "--to", folder);
  expect(planned).toMatchObject({ code: 0, stdout: "" });
  expect(planned.stderr).toMatch(/^Would copy \d+ objects? \(\d+ bytes?\) to /);
  expect(readdirSync(folder)).toEqual([]);

  const first = await run("--to", folder);
  expect(first.stderr).toMatch(
    /^Backed up 1 vault with \d+ rows \(\d+ bytes\), and looked at 1 content; unchanged: 0 of 1 vault\n/,
  );
  expect(first.stderr).toContain("Backup 1 is complete\n");
  expect(first.stderr).toMatch(/Copied [1-9]\d* objects/);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  expect(paths).toContain(join(folder, "vaults", vault, "00000001.manifest"));
  expect(paths.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(paths.map(() => "600"));
  for (const path of paths.filter((one) => one.includes("/parts/"))) expect(path.endsWith(hash(path))).toBe(true);

  const manifest = join(folder, "vaults", vault, "00000001.manifest");
  rmSync(manifest);
  const kept = paths.filter((path) => path !== manifest);
  const times = () => kept.map((path) => statSync(path).mtimeMs);
  const before = times();
  const again = await run("--vault", vault, "--to", folder);
  // The service is that of all files of tests, which make backups of other vaults meanwhile.
  expect(again.stderr).toMatch(/Copied [1-9]\d* objects? /);
  expect(times()).toEqual(before);
  expect(statSync(manifest).size).toBeGreaterThan(0);
  expect(again.stderr).toContain("unchanged: 1 of 1 vault");
});

it.each(["manifest", "part", "content"])("admin backup --to never replaces a %s that differs, and names it", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
  await run("--to", folder);
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const parts: Record<string, RegExp> = { manifest: /\.manifest$/, part: /parts\/./, content: /contents\/[^/]+\/[^/]+\/./ };
  const path = join(
    folder,
    paths.find((one) => parts[kind]!.test(one))!,
  );
  const lacking = join(
    folder,
    paths.find((one) => /parts\/./.test(one) && join(folder, one) !== path)!,
  );
  rmSync(lacking);
  writeFileSync(path, "the copy that is left");
  for (const more of [[], ["--dry-run"]]) {
    const again = await run("--to", folder, ...more);
    expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining(`${path}: 21 bytes, in the bucket `) });
    expect(readFileSync(path, "utf8")).toBe("the copy that is left");
    expect(existsSync(lacking)).toBe(false);
  }
});

it.each(["manifest", "part"])(
  "admin backup --to names a %s of the same size with other bytes, and copies nothing",
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
    await run("--to", folder);
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
    const ofKind = kind === "part" ? /parts.[0-9a-f]{64}$/ : /\.manifest$/;
    const path = paths.find((one) => one.includes(vault) && ofKind.test(one))!;
    const lacking = paths.find((one) => /parts.[0-9a-f]{64}$/.test(one) && one !== path)!;
    rmSync(lacking);
    const changed = readFileSync(path);
    changed[0]! ^= 1;
    writeFileSync(path, changed);
    for (const more of [["--copy-only"], ["--copy-only", "--dry-run"]]) {
      const again = await run("--to", folder, ...more);
      expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining(`Nothing was copied`) });
      expect(again.stderr.split("\n").filter((line) => line.startsWith(folder))).toEqual([
        `${path}: ${kind === "part" ? "its SHA-256 is not its name" : "other bytes than in the bucket"}`,
      ]);
      expect(readFileSync(path)).toEqual(changed);
      expect(existsSync(lacking)).toBe(false);
    }
  },
);

it.each([
  ["keeps a manifest", true],
  ["does without a manifest that the folder lacks", false],
])("admin backup --to %s when the service deletes it after it has listed it", async (_, isInFolder) => {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
  await run("--to", folder);
  const key = `vaults/${vault}/99999999.manifest`;
  if (isInFolder) writeFileSync(join(folder, key), "an old manifest");
  const lists = "GET /v1/admin/backups/objects";
  const { url } = await startInterceptor({
    answer: (name) => (name === lists ? { objects: [{ key, size: 15 }] } : undefined),
  });
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: url };
  const again = await runHere(["admin", "backup", "--copy-only", "--to", folder], { env });
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("Copied 0 objects (0 bytes)") });
  expect(existsSync(join(folder, key))).toBe(isInFolder);
});

it("admin backup --list shows the backups, and the snapshots of a vault", async () => {
  await run();
  const all = JSON.parse((await run("--list", "--format", "json")).stdout);
  expect(all[0]).toMatchObject({ number: 1, vaults: 1 });
  expect((await run("--list")).stdout).toMatch(/^NUMBER +CREATED +VAULTS\n1 +20\S+ +1\n/);
  const { stdout } = await run("--list", "--vault", vault);
  expect(stdout).toMatch(/^NUMBER +CREATED +ROWS +BYTES\n1 +20\S+ +\d+ +\d+\n/);
});

it("admin backup --vaults shows the vaults of the backups by name", async () => {
  await run("--vault", vault);
  const { code, stdout } = await run("--vaults");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ID +NAME +SNAPSHOT +CREATED +ITEMS\n/);
  expect(stdout).toMatch(new RegExp(`^${vault} +Backup +1 +20\\S+Z +1$`, "m"));
  const listed = JSON.parse((await run("--vaults", "--format", "json")).stdout) as { id: string }[];
  expect(listed.find(({ id }) => id === vault)).toMatchObject({ name: "Backup", snapshot: 1, items: 1, skipped: [] });
});

const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const MADE = { made: 1, unchanged: 0, behind: 0, rows: 3, bytes: 100, contents: 0 };
const jobOf = (backup: object, findings: readonly object[] = [], more: object = {}) => ({
  id: ID,
  kind: "backup",
  state: "done",
  progress: { done: 1, total: 1 },
  result: { backup: { ...MADE, ...backup } },
  findings,
  createdAt: "2026-01-01T00:00:00.000Z",
  ...more,
});

/** Runs `admin backup` against a service that answers with this job, and has one object in its bucket. */
async function runWith(job: object, args: readonly string[] = []) {
  const answers: Readonly<Record<string, unknown>> = {
    "POST /v1/admin/jobs": job,
    [`GET /v1/admin/jobs/${ID}`]: job,
    "GET /v1/admin/backups/objects": { objects: [{ key: `vaults/${ID}/00000001.manifest`, size: 2 }] },
    "GET /v1/admin/backups/object": {},
  };
  const { url, requests } = await startInterceptor({ answer: (name) => answers[name] });
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: url };
  return { ...(await runHere(["admin", "backup", ...args], { env })), requests };
}

it("admin backup names contents that FILES has lost, and its exit code is 0, because the backup has all that there is", async () => {
  const finding = { kind: "content_missing", vault: ID, id: "f", repairable: false, detail: "the content is missing" };
  const { code, stderr } = await runWith(jobOf({}, [finding]));
  expect([code, stderr]).toEqual([0, expect.stringMatching(/content_missing: [^]*admin verify --repair/)]);
});

it("admin backup copies although a vault was left out, names it, and its exit code is 6", async () => {
  const finding = { kind: "vault_skipped", vault: ID, repairable: false, detail: "its backup failed: unavailable" };
  const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
  const { code, stderr } = await runWith(jobOf({ behind: 1, snapshot: 2 }, [finding]), ["--to", folder]);
  expect(code).toBe(6);
  for (const words of [`vault_skipped: vault ${ID}, its backup failed`, "Copied 1 object", "1 vault of 2 not backed up"])
    expect(stderr).toContain(words);
});

it("admin backup writes what the job reports without control characters", async () => {
  const { stderr } = await runWith(
    jobOf({}, [{ kind: "content_missing", vault: ID, repairable: false, detail: "\u001b[31mred" }]),
  );
  expect(stderr).not.toContain("\u001b[31m");
});

it("admin backup of a new database beside the backups of another one names admin restore, and copies nothing", async () => {
  const failed = jobOf({}, [], { state: "failed", reason: "not_restored" });
  const folder = mkdtempSync(join(tmpdir(), "item-vault-backup-"));
  const { code, stderr, requests } = await runWith(failed, ["--to", folder]);
  expect([code, stderr]).toEqual([5, expect.stringContaining("Restore them first: `item-vault admin restore`.")]);
  expect(requests).toEqual(["POST /v1/admin/jobs"]);
});

it("admin backup beside a job that excludes it names that job, and does not wait for it", async () => {
  const server = createServer(({ method }, answer) => {
    answer.setHeader("Request-Id", "1").setHeader("Content-Type", "application/json");
    if (method === "POST") answer.writeHead(409, { "Item-Vault-Error": "job_exists", "Item-Vault-Job": ID });
    answer.end(JSON.stringify(method === "POST" ? { status: 409, message: "excluded" } : jobOf({}, [], { state: "running" })));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: host };
  const { code, stderr } = await runHere(["admin", "backup"], { env });
  expect([code, stderr]).toEqual([5, expect.stringMatching(`excluded\n.*is a backup job: .*admin jobs show ${ID}`)]);
});
