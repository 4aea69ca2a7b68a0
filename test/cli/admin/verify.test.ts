import { hash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jobExists, startApi } from "../support/api.ts";
import { folderOf } from "../support/files.ts";
import { ADMIN, ends, runHere } from "../support/here.ts";

/** `admin verify`, of the service and of a folder with backups. */

it.each(["--backup --repair", "--accept-loss --repair", "--accept-loss --vault Verified"])(
  "admin verify repairs no backup, and accepts no loss without a repair of a vault: %s",
  async (options) => {
    expect(await runHere(`admin verify ${options}`, { env: ADMIN })).toMatchObject({ code: 2 });
  },
);

const REGISTRY = "00000000-0000-0000-0000-000000000000";
const VAULT = "5f2b6f0e-8a3d-4c52-9b1e-7d6a3c2b1a09";
const FILE = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const HEAD = JSON.stringify({ format: 1, deployment: "d", vault: VAULT, replaces: [] });

const manifestOf = (vault: string, number: number, more: object = {}) =>
  `${JSON.stringify({ format: 1, deployment: "d", vault, number, at: 0, schema: 4, parts: [], ...more })}\nk1 ${"0".repeat(64)}\n`;

/** A folder with two snapshots of one part each. `tables`: lines of the part. `change`: what is else in the newest manifest. */
function backupOf({ tables = [], change = {} }: { readonly tables?: readonly string[]; readonly change?: object } = {}) {
  const part = [HEAD, ...tables].map((line) => `${line}\n`).join("");
  const sha256 = hash("sha256", part);
  const parts = [{ sha256, bytes: part.length, rows: 0 }];
  const folder = folderOf({
    [`vaults/${VAULT}/parts/${sha256}`]: part,
    [`vaults/${VAULT}/00000001.manifest`]: manifestOf(VAULT, 1, { parts }),
    [`vaults/${VAULT}/00000002.manifest`]: manifestOf(VAULT, 2, { parts, ...change }),
  });
  const path = (name: string) => join(folder, "vaults", VAULT, name === "part" ? `parts/${sha256}` : name);
  const verify = async () => {
    const ran = await runHere(`admin verify --folder ${folder} --format json`);
    const { findings } = JSON.parse(ran.stdout || '{"findings": []}') as { findings: { kind: string; detail: string }[] };
    return { ...ran, kinds: findings.map(({ kind }) => kind), details: findings.map(({ detail }) => detail) };
  };
  return { path, verify };
}

const PART = { sha256: "0".repeat(64), bytes: 1, rows: 0 };
const ROWS = JSON.stringify({ table: "files", columns: ["item_id", "id", "generation", "size"], rows: [[FILE, FILE, FILE, 1]] });

describe("admin verify --folder", () => {
  it("checks hashes without a service, and says what it did not check", async () => {
    const { path, verify } = backupOf();
    expect(await verify()).toMatchObject({ ...ends(0, "that needs the root keys"), kinds: [] });
    writeFileSync(path("part"), "another text");
    expect(await verify()).toMatchObject({ code: 7, kinds: ["part_wrong"] });
    rmSync(path("part"));
    writeFileSync(path("00000001.manifest"), "{}\n");
    expect(await verify()).toMatchObject({ code: 7, kinds: ["manifest_wrong", "part_wrong"] });
  });

  it("passes over files that other programs have left in the folder", async () => {
    const { path, verify } = backupOf();
    for (const name of ["../.DS_Store", ".DS_Store", "._00000001.manifest"]) writeFileSync(path(name), "of another program");
    expect(await verify()).toMatchObject({ code: 0, kinds: [] });
  });

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
  ])("finds a manifest with %s", async (_, change) => {
    expect(await backupOf({ change }).verify()).toMatchObject({ code: 7, kinds: ["manifest_wrong"] });
  });

  it("says that a manifest is of a newer release, whatever else it has", async () => {
    const found = await backupOf({ change: { format: 2, parts: "elsewhere" } }).verify();
    expect(found).toMatchObject({ code: 7, kinds: ["manifest_wrong"], details: ["it was written by a newer release"] });
  });

  it("finds a manifest of the registry without snapshots", async () => {
    const { path, verify } = backupOf();
    mkdirSync(path(`../${REGISTRY}`));
    writeFileSync(path(`../${REGISTRY}/00000001.manifest`), manifestOf(REGISTRY, 1));
    expect(await verify()).toMatchObject({ code: 7, kinds: ["manifest_wrong"] });
  });

  it.each([
    ["no JSON", "{"],
    ["null", "null"],
    ["no rows", '{"table":"items","columns":[]}'],
    ["rows that are no array", '{"table":"items","columns":[],"rows":5}'],
    ["a row that is no array", '{"table":"files","columns":["id"],"rows":[5]}'],
    ["no columns", '{"table":"files","rows":[[]]}'],
  ])("finds a part with a line that has %s, also when its manifest has its hash", async (_, line) => {
    expect(await backupOf({ tables: [line] }).verify()).toMatchObject({ code: 7, kinds: ["part_wrong"] });
  });

  const NO_FOLDER = "cannot be read: a part of its path is a file, not a folder";
  it.each([
    ["a file in place of the folder of a vault", `../${FILE}`, "manifest_wrong", `vaults/${FILE} ${NO_FOLDER}`],
    [
      "a folder in place of a manifest",
      "00000003.manifest",
      "manifest_wrong",
      "00000003.manifest cannot be read: it is a folder",
    ],
    ["a folder in place of a part", "part", "part_wrong", "cannot be read: it is a folder"],
    [
      "a file in place of that of contents",
      "../../contents",
      "content_missing",
      `contents/${VAULT}/${FILE}/${FILE} ${NO_FOLDER}`,
    ],
  ])("names what cannot be read as a finding: %s", async (what, name, kind, detail) => {
    const { path, verify } = backupOf({ tables: kind === "content_missing" ? [ROWS] : [] });
    rmSync(path(name), { force: true });
    if (what.startsWith("a file")) writeFileSync(path(name), "of another program");
    else mkdirSync(path(name));
    expect(await verify()).toMatchObject({ code: 7, kinds: [kind], details: [expect.stringContaining(detail)] });
  });
});

/** Runs a check by a service whose job has these findings, or which a job excludes. */
async function runAgainst(findings: readonly object[] | "excluded", args = "") {
  const isExcluded = findings === "excluded";
  const shown = isExcluded ? [] : findings.slice(0, 100);
  const result = { checked: { rows: 0, items: 0, contents: 0, bytes: 0 } };
  const job = { id: VAULT, kind: "verify", state: "done", progress: { done: 0, total: 0 }, result, findings: shown };
  const { env } = await startApi(({ name }) =>
    isExcluded && name.startsWith("POST") ? jobExists(VAULT) : { body: name.endsWith("/findings") ? findings : job },
  );
  return runHere(`admin verify ${args}`, { env });
}

describe("admin verify of the service", () => {
  it("counts snapshots that need a removed key, and ends with code 0 when nothing else is wrong", async () => {
    const old = { kind: "key_removed", vault: VAULT, id: "k1", detail: "d", repairable: false };
    const removed = [1, 2].map((snapshot) => Object.assign({ snapshot }, old));
    const words = "2 older snapshots cannot be decrypted without the removed root key k1.\nNothing is wrong.";
    expect(await runAgainst(removed, "--backup")).toMatchObject(ends(0, words));
    const other = { ...old, kind: "chain_broken" };
    expect(await runAgainst([...removed, other], "--backup")).toMatchObject(ends(7, "1 finding:"));
    expect(await runAgainst(removed, `--backup --vault ${VAULT}`)).toMatchObject({ code: 7 });
  });

  const LOST = "items is 3, and the rows give 2: 1 rows are missing";
  it.each<[object, string, string]>([
    [{ kind: "part_wrong", detail: "the part is missing" }, "--backup", 'run "item-vault admin backup --full"'],
    [{ kind: "manifest_wrong", detail: "the newest backup is missing" }, "--backup", 'run "item-vault admin backup --full"'],
    [{ kind: "content_missing", detail: "d", repairable: true }, "--backup", 'run "item-vault admin verify --repair"'],
    [{ kind: "counter_wrong", detail: LOST }, "--backup", 'run "item-vault admin restore --vault VAULT --item ITEM"'],
    [
      { kind: "counter_wrong", table: "root_key_uses", id: "k1", detail: LOST.replace("items", "tokens") },
      "",
      "`--repair --accept-loss` takes them out of the count",
    ],
  ])("names the command that helps against %j", async (finding, args, words) => {
    expect(await runAgainst([{ repairable: false, ...finding }], args)).toMatchObject(ends(7, words));
  });

  it("reads all findings of a job that shows only some", async () => {
    const finding = { kind: "row_unreadable", detail: "d", repairable: false };
    const ran = await runAgainst(Array.from({ length: 150 }, (_, version) => ({ ...finding, version })));
    expect([ran.code, ran.stdout.match(/row_unreadable/g)?.length]).toEqual([7, 150]);
  });

  it("--repair does not wait for the repair of somebody else, which may be another one", async () => {
    expect(await runAgainst("excluded", "--repair --yes")).toMatchObject(ends(5, VAULT));
  });
});
