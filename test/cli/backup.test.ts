import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { startFewVaults } from "./support/few-vaults.ts";
import { type Interceptor, startInterceptor } from "./support/interceptor.ts";
import { runHere } from "./support/here.ts";

/** `admin backup` as a process (contract 21). */

let vault: string;
let service: Interceptor;
beforeAll(async () => {
  vault = await makeVault("Backup");
  const { token } = await makeToken({ [vault]: "rw" }, "uuid");
  const body = { title: "One", category: "LOGIN", vault: { id: vault } };
  const { id } = (await sendRequest("POST", `v1/vaults/${vault}/items`, token, body)) as { id: string };
  await sendRequest("POST", `v1/vaults/${vault}/items/${id}/files?name=f`, token, "content");
  service = await startFewVaults([vault, await makeVault("Later")]);
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
  expect(planned.stderr).toMatch(/^Would read about \d+ Items? or changes?/);
  expect(readdirSync(folder)).toEqual([]);

  const first = await run("--to", folder);
  expect(first.stderr).toContain("Backup 1 has 2 vaults");
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

it("admin backup of a new database beside the backups of another one asks once for the registry, and names admin restore", async () => {
  const refusing = await startFewVaults([vault], ["unrestored", "done"]);
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: refusing.url };
  const ran = await runHere(["admin", "backup"], { env });
  await refusing.close();
  expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining("Restore them first: `item-vault admin restore`.")]);
  expect(refusing.requests.filter((name) => name === "POST /v1/admin/backups")).toHaveLength(1);
});

it("admin backup --list shows the backups, and the snapshots of a vault", async () => {
  await run();
  const all = JSON.parse((await run("--list", "--format", "json")).stdout);
  expect(all[0]).toMatchObject({ number: all.length, vaults: 2 });
  const { stdout } = await run("--list", "--vault", vault);
  expect(stdout).toMatch(/^NUMBER +CREATED +VAULTS +ROWS +BYTES\n1 +20/);
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

it.each(["done", "unchanged"])("admin backup names the rows that did not open, and its exit code is 7: %s", async (state) => {
  const finding = { kind: "row_broken", vault, item: "the item", version: 3, repairable: false, detail: "the row does not open" };
  const step = { state, number: 1, rows: 3, bytes: 100, contents: 0, missing: 0, findings: [finding] };
  const answer = (name: string) => (name === `POST /v1/admin/backups/vaults/${vault}` ? step : undefined);
  const proxy = await startInterceptor({ answer });
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: proxy.url };
  const ran = await runHere(["admin", "backup", "--vault", vault], { env });
  expect(ran.code).toBe(7);
  expect(ran.stderr).toContain(`row_broken: vault ${vault}, item the item, version 3, the row does not open\n`);
  expect(ran.stderr).toContain("Restore them from an older snapshot");
});

it("admin backup and a dry run of the restore name rows of no vault that did not open, and their exit code is 7", async () => {
  const finding = { kind: "row_unreadable", table: "tokens", id: "t", repairable: false, detail: "the row does not open" };
  const about = { findings: [finding], number: 1, broken: 1, behind: 0 };
  const answers: Readonly<Record<string, unknown>> = {
    "GET /v1/admin/vaults": [],
    "POST /v1/admin/backups": { ...about, state: "done", vaults: 0 },
    "POST /v1/admin/restores": { ...about, state: "planned", snapshot: 1, takenAt: "2026-01-01T00:00:00Z", vaults: [] },
  };
  const proxy = await startInterceptor({ answer: (name: string) => answers[name] });
  const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ITEM_VAULT_HOST: proxy.url };
  for (const command of ["backup", "restore"]) {
    const ran = await runHere(["admin", command, ...(command === "restore" ? ["--dry-run"] : [])], { env });
    expect(ran).toMatchObject({ code: 7, stderr: expect.stringContaining("row_unreadable: table tokens") });
  }
});
