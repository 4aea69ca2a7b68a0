import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { makeVault } from "../../sdk/support/vault.ts";
import { runHere } from "../support/here.ts";

const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };

it("admin verify checks a vault and ends with code 0", async () => {
  const vault = await makeVault("Verified");
  const ran = await runHere(["admin", "verify", "--vault", vault], { env });
  expect(ran).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^Checked .* rows, .*\nNothing is wrong\.\n$/),
  });
});

it("admin verify repairs no backup", async () => {
  expect(await runHere(["admin", "verify", "--backup", "--repair"], { env })).toMatchObject({ code: 2 });
});

it.each([
  ["--accept-loss", "--repair"],
  ["--accept-loss", "--vault", "Verified"],
])("admin verify accepts no loss without a repair of a vault: %s %s", async (...options) => {
  expect(await runHere(["admin", "verify", ...options], { env })).toMatchObject({ code: 2 });
});

const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

/** A folder with two snapshots of one part each. */
function writeFolder(): { readonly folder: string; readonly path: (name: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), "verify-"));
  const path = (name: string) => join(folder, "vaults", VAULT, name);
  mkdirSync(path("parts"), { recursive: true });
  const part = `${JSON.stringify({ format: 1, deployment: "d", vault: VAULT, replaces: [] })}\n`;
  writeFileSync(path(`parts/${hash(part)}`), part);
  let predecessor: string | null = null;
  for (const number of [1, 2]) {
    const parts = [{ sha256: hash(part), bytes: part.length, rows: 0 }];
    const text = `${JSON.stringify({ format: 1, deployment: "d", vault: VAULT, number, predecessor, at: 0, schema: 4, parts })}\nk1 ${"0".repeat(64)}\n`;
    writeFileSync(path(`0000000${number}.manifest`), text);
    predecessor = hash(text);
  }
  return { folder, path: (name) => path(name === "part" ? `parts/${hash(part)}` : name) };
}

const verifyFolder = async (folder: string) => {
  const ran = await runHere(["admin", "verify", "--folder", folder, "--format", "json"]);
  return { ...ran, kinds: (JSON.parse(ran.stdout) as { findings: { kind: string }[] }).findings.map(({ kind }) => kind) };
};

it("admin verify --folder checks hashes and the chain without a service, and says what it did not check", async () => {
  const { folder, path } = writeFolder();
  const sound = await verifyFolder(folder);
  expect(sound).toMatchObject({ code: 0, kinds: [], stderr: expect.stringContaining("that needs the root keys") });
  writeFileSync(path("part"), "another text");
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["part_wrong"] });
  rmSync(path("part"));
  writeFileSync(path("00000001.manifest"), "{}\n");
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["manifest_wrong", "part_wrong"] });
  rmSync(path("00000001.manifest"));
  rmSync(folder, { recursive: true });
});

it("admin verify --folder passes over files that other programs have left in the folder", async () => {
  const { folder, path } = writeFolder();
  for (const name of ["../.DS_Store", ".DS_Store", "._00000001.manifest"]) writeFileSync(path(name), "of another program");
  expect(await verifyFolder(folder)).toMatchObject({ code: 0, kinds: [] });
  rmSync(folder, { recursive: true });
});

const JSON_ANSWER = { "Content-Type": "application/json", "Request-Id": "1" };

/** Runs a check by a service that answers with these findings; `exists`: that a job excludes this one. */
async function runAgainst(findings: readonly object[] | "exists", ...args: string[]) {
  const checked = { rows: 0, items: 0, contents: 0, bytes: 0 };
  const progress = { done: 0, total: 0 };
  const job = {
    id: VAULT,
    kind: "verify",
    state: "done",
    progress,
    result: { checked },
    findings: findings === "exists" ? [] : findings.slice(0, 100),
  };
  const server = createServer(({ method, url }, response) => {
    if (findings === "exists" && method === "POST")
      response
        .writeHead(409, { ...JSON_ANSWER, "Item-Vault-Error": "job_exists" })
        .end(JSON.stringify({ message: `not ended: ${VAULT}` }));
    else response.writeHead(200, JSON_ANSWER).end(JSON.stringify(url!.endsWith("/findings") ? findings : job));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ITEM_VAULT_HOST = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ran = await runHere(["admin", "verify", ...args], {
    env: { ...env, ITEM_VAULT_HOST, OP_CONNECT_HOST: ITEM_VAULT_HOST },
  });
  server.close();
  return ran;
}

it("admin verify --backup counts snapshots that need a removed key, and ends with code 0 when nothing else is wrong", async () => {
  const old = { kind: "key_removed", vault: VAULT, id: "k1", detail: "d", repairable: false };
  const removed = [
    { ...old, snapshot: 1 },
    { ...old, snapshot: 2 },
  ];
  const words = "2 older snapshots cannot be opened without the removed root key k1.\n";
  expect(await runAgainst(removed, "--backup")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`${words}Nothing is wrong.`),
  });
  const other = { ...old, kind: "chain_broken" };
  expect(await runAgainst([...removed, other], "--backup")).toMatchObject({
    code: 7,
    stderr: expect.stringContaining("1 finding:"),
  });
  expect(await runAgainst(removed, "--backup", "--vault", VAULT)).toMatchObject({ code: 7 });
});

it.each([
  ["part_wrong", "the part is missing", false, "admin backup --full"],
  ["manifest_wrong", "the newest backup is missing in the bucket", false, "admin backup --full"],
  ["content_missing", "the bucket lacks it", true, "admin verify --repair"],
  ["counter_wrong", "items is 3, and the rows give 2: 1 rows are missing", false, "admin restore --vault VAULT --item ITEM"],
])("admin verify names the command that helps against %s: %s", async (kind, detail, repairable, command) => {
  const ran = await runAgainst([{ kind, detail, repairable }], "--backup");
  expect(ran).toMatchObject({ code: 7, stderr: expect.stringContaining(`run "item-vault ${command}"`) });
});

it("admin verify reads all findings of a job that shows only some", async () => {
  const findings = Array.from({ length: 150 }, (_, version) => ({
    kind: "row_unreadable",
    version,
    detail: "d",
    repairable: false,
  }));
  const ran = await runAgainst(findings);
  expect([ran.code, ran.stdout.match(/row_unreadable/g)?.length]).toEqual([7, 150]);
});

it("admin verify --repair does not wait for the repair of somebody else, which may be another one", async () => {
  const ran = await runAgainst("exists", "--repair", "--yes");
  expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(VAULT)]);
});
