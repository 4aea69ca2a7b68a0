import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
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

const HEAD = JSON.stringify({ format: 1, deployment: "d", vault: VAULT, replaces: [] });

/** A folder with two snapshots of one part each. `tables`: lines of the part. `change`: what is else in the newest manifest. */
function writeFolder({ tables = [], change = {} }: { readonly tables?: readonly string[]; readonly change?: object } = {}): {
  readonly folder: string;
  readonly path: (name: string) => string;
} {
  const folder = mkdtempSync(join(tmpdir(), "verify-"));
  const path = (name: string) => join(folder, "vaults", VAULT, name);
  mkdirSync(path("parts"), { recursive: true });
  const part = [HEAD, ...tables].map((line) => `${line}\n`).join("");
  writeFileSync(path(`parts/${hash(part)}`), part);
  for (const number of [1, 2]) {
    const parts = [{ sha256: hash(part), bytes: part.length, rows: 0 }];
    const manifest = { format: 1, deployment: "d", vault: VAULT, number, at: 0, schema: 4, parts };
    const text = `${JSON.stringify({ ...manifest, ...(number === 2 && change) })}\nk1 ${"0".repeat(64)}\n`;
    writeFileSync(path(`0000000${number}.manifest`), text);
  }
  return { folder, path: (name) => path(name === "part" ? `parts/${hash(part)}` : name) };
}

const verifyFolder = async (folder: string) => {
  const ran = await runHere(["admin", "verify", "--folder", folder, "--format", "json"]);
  const { findings } = JSON.parse(ran.stdout || '{"findings": []}') as { findings: { kind: string; detail: string }[] };
  return { ...ran, kinds: findings.map(({ kind }) => kind), details: findings.map(({ detail }) => detail) };
};

it("admin verify --folder checks hashes without a service, and says what it did not check", async () => {
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

const PART = { sha256: "0".repeat(64), bytes: 1, rows: 0 };

it.each<[string, object]>([
  ["no parts", { parts: undefined }],
  ["parts that are no array", { parts: 5 }],
  ["parts that are an object", { parts: {} }],
  ["a part that is null", { parts: [null] }],
  ["a part without a hash", { parts: [{ ...PART, sha256: undefined }] }],
  ["a part with a path in place of its hash", { parts: [{ ...PART, sha256: "../00000001.manifest" }] }],
  ["a part whose size is a text", { parts: [{ ...PART, bytes: "1" }] }],
  ["a part whose size is negative", { parts: [{ ...PART, bytes: -1 }] }],
  ["a part without a number of rows", { parts: [{ ...PART, rows: undefined }] }],
  ["snapshots that are no array", { snapshots: 5 }],
  ["a snapshot that is null", { snapshots: [null] }],
  ["a snapshot without a hash", { snapshots: [{ vault: VAULT, number: 1 }] }],
])("admin verify --folder finds a manifest with %s", async (_, change) => {
  const { folder } = writeFolder({ change });
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["manifest_wrong"] });
  rmSync(folder, { recursive: true });
});

it("admin verify --folder says that a manifest is of a newer release, whatever else it has", async () => {
  const { folder } = writeFolder({ change: { format: 2, parts: "elsewhere" } });
  const found = await verifyFolder(folder);
  expect(found).toMatchObject({ code: 7, kinds: ["manifest_wrong"], details: ["it was written by a newer release"] });
  rmSync(folder, { recursive: true });
});

it("admin verify --folder finds a manifest of the registry without snapshots", async () => {
  const { folder, path } = writeFolder();
  const registry = "00000000-0000-0000-0000-000000000000";
  mkdirSync(path(`../${registry}`));
  const manifest = { format: 1, deployment: "d", vault: registry, number: 1, at: 0, schema: 4, parts: [] };
  writeFileSync(path(`../${registry}/00000001.manifest`), `${JSON.stringify(manifest)}\nk1 ${"0".repeat(64)}\n`);
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["manifest_wrong"] });
  rmSync(folder, { recursive: true });
});

it.each([
  ["no JSON", "{"],
  ["null", "null"],
  ["no rows", '{"table":"items","columns":[]}'],
  ["rows that are no array", '{"table":"items","columns":[],"rows":5}'],
  ["a row that is no array", '{"table":"files","columns":["id"],"rows":[5]}'],
  ["no columns", '{"table":"files","rows":[[]]}'],
])("admin verify --folder finds a part with a line that has %s, also when its manifest has its hash", async (_, line) => {
  const { folder } = writeFolder({ tables: [line] });
  expect(await verifyFolder(folder)).toMatchObject({ code: 7, kinds: ["part_wrong"] });
  rmSync(folder, { recursive: true });
});

describe("a file that admin verify --folder cannot read is a finding that names it:", () => {
  const FILE = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
  const row = [FILE, FILE, FILE, 1];
  const files = JSON.stringify({ table: "files", columns: ["item_id", "id", "generation", "size"], rows: [row] });

  it.each<[string, string, string, string, string]>([
    [
      "a file in place of the folder of a vault",
      `../${FILE}`,
      "file",
      "manifest_wrong",
      `vaults/${FILE} cannot be read: a part of its path is a file, not a folder`,
    ],
    [
      "a folder in place of a manifest",
      "00000003.manifest",
      "folder",
      "manifest_wrong",
      `vaults/${VAULT}/00000003.manifest cannot be read: it is a folder`,
    ],
    ["a folder in place of a part", "part", "folder", "part_wrong", "cannot be read: it is a folder"],
    [
      "a file in place of the folder of contents",
      "../../contents",
      "file",
      "content_missing",
      `contents/${VAULT}/${FILE}/${FILE} cannot be read: a part of its path is a file, not a folder`,
    ],
  ])("%s", async (_, name, is, kind, detail) => {
    const { folder, path } = writeFolder(kind === "content_missing" ? { tables: [files] } : {});
    rmSync(path(name), { force: true });
    if (is === "file") writeFileSync(path(name), "of another program");
    else mkdirSync(path(name));
    const found = await verifyFolder(folder);
    expect(found).toMatchObject({ code: 7, kinds: [kind], details: [expect.stringContaining(detail)] });
    rmSync(folder, { recursive: true });
  });
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
  const words = "2 older snapshots cannot be decrypted without the removed root key k1.\n";
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

it("admin verify names --accept-loss against lost rows that belong to no vault", async () => {
  const lost = {
    kind: "counter_wrong",
    table: "root_key_uses",
    id: "k1",
    detail: "tokens is 3, and the rows give 2: 1 rows are missing",
  };
  expect(await runAgainst([{ ...lost, repairable: false }])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining("`--repair --accept-loss` takes them out of the count"),
  });
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
