import { hash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { jobExists, startApi } from "../support/api.ts";
import { startFewVaults } from "../support/few-vaults.ts";
import { folderOf, modeOf, newFolder } from "../support/files.ts";
import { ADMIN, ends, runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { vaultOf } from "../support/login.ts";

/** `admin backup` (contract 21). */

const world = await vaultOf("Backup");
const { vault } = world;
const stored = await world.create({ title: "One" });
await world.send("POST", `/items/${stored.id}/files?name=f`, "content");
const service = await startFewVaults(vault);
afterAll(() => service.close());

const run = (args = "", host = service.url) => runHere(`admin backup ${args}`, { env: { ...ADMIN, ITEM_VAULT_HOST: host } });

/** A folder with a copy of the backups, and the paths of its files. */
async function copied() {
  const folder = newFolder();
  await run(`--to ${folder}`);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return { folder, paths: entries.map(({ parentPath, name }) => join(parentPath, name)) };
}

const KINDS = { manifest: /\.manifest$/, part: /parts.[0-9a-f]{64}$/, content: /contents\/[^/]+\/[^/]+\/./ };

describe("admin backup --to", () => {
  it("fills a folder that mirrors the bucket, and then copies only what it lacks", async () => {
    const empty = newFolder();
    const planned = await run(`--dry-run --to ${empty}`);
    expect(planned).toMatchObject({ ...ends(0, /^Would copy \d+ objects? \(\d+ bytes?\) to /), stdout: "" });
    expect(readdirSync(empty)).toEqual([]);
    expect(await run(`--to ${empty}`)).toMatchObject(
      ends(
        0,
        /^Backed up 1 vault with \d+ rows \(\d+ bytes\), and looked at 1 content; unchanged: 0 of 1 vault\n/,
        "Backup 1 is complete\n",
        /Copied [1-9]\d* objects/,
      ),
    );
    const { folder, paths } = await copied();
    const manifest = join(folder, "vaults", vault, "00000001.manifest");
    expect(paths).toContain(manifest);
    expect(new Set(paths.map(modeOf))).toEqual(new Set([0o600]));
    for (const path of paths.filter((one) => one.includes("/parts/")))
      expect(path.endsWith(hash("sha256", readFileSync(path)))).toBe(true);
    rmSync(manifest);
    const kept = paths.filter((path) => path !== manifest);
    const times = () => kept.map((path) => statSync(path).mtimeMs);
    const before = times();
    // The service is that of all files of tests, which make backups of other vaults meanwhile.
    const again = await run(`--vault ${vault} --to ${folder}`);
    expect(again).toMatchObject(ends(0, /Copied [1-9]\d* objects? /, "unchanged: 1 of 1 vault"));
    expect(times()).toEqual(before);
    expect(statSync(manifest).size).toBeGreaterThan(0);
  });

  it.each([
    ["manifest", "of another size", (): string => "the copy that is left", /: 21 bytes, in the bucket /],
    ["part", "of another size", () => "the copy that is left", /: 21 bytes, in the bucket /],
    ["content", "of another size", () => "the copy that is left", /: 21 bytes, in the bucket /],
    ["manifest", "with another byte", flipped, /: other bytes than in the bucket\n/],
    ["part", "with another byte", flipped, /: its SHA-256 is not its name\n/],
  ] as const)("never replaces a %s %s, names it alone, and copies nothing", async (kind, _, change, words) => {
    const { folder, paths } = await copied();
    const path = paths.find((one) => KINDS[kind].test(one) && (kind === "content" || one.includes(vault)))!;
    const lacking = paths.find((one) => KINDS.part.test(one) && one !== path)!;
    rmSync(lacking);
    const changed = change(readFileSync(path));
    writeFileSync(path, changed);
    for (const more of ["", "--copy-only", "--copy-only --dry-run"]) {
      const again = await run(`--to ${folder} ${more}`);
      expect(again).toMatchObject(ends(5, words, "Nothing was copied"));
      expect(again.stderr.split("\n").filter((line) => line.startsWith(folder))).toEqual([expect.stringContaining(`${path}: `)]);
      expect([readFileSync(path), existsSync(lacking)]).toEqual([Buffer.from(changed), false]);
    }
  });

  it.each([
    ["keeps a manifest", true],
    ["does without a manifest that the folder lacks", false],
  ])("%s when the service deletes it after it has listed it", async (_, isInFolder) => {
    const key = `vaults/${vault}/99999999.manifest`;
    const folder = folderOf(isInFolder ? { [key]: "an old manifest" } : {});
    const { url } = await startInterceptor({
      answer: (name) => (name === "GET /v1/admin/backups/objects" ? { objects: [{ key, size: 15 }] } : undefined),
    });
    expect(await run(`--copy-only --to ${folder}`, url)).toMatchObject(ends(0, "Copied 0 objects (0 bytes)"));
    expect(existsSync(join(folder, key))).toBe(isInFolder);
  });
});

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[0]! ^= 1;
  return changed;
}

it("admin backup shows the backups, the snapshots of a vault, and the vaults of the backups by name", async () => {
  await run();
  const all = JSON.parse((await run("--list --format json")).stdout);
  expect(all[0]).toMatchObject({ number: 1, vaults: 1 });
  const { stdout } = await run(`--list --vault ${vault}`);
  expect(stdout).toMatch(/^NUMBER +CREATED +ROWS +BYTES\n1 +20\S+ +\d+ +\d+\n/);
  const vaults = (await run("--vaults")).stdout;
  expect(vaults).toMatch(/^ID +NAME +SNAPSHOT +CREATED +ITEMS\n/);
  expect(vaults).toMatch(new RegExp(`^${vault} +Backup +1 +20\\S+Z +1$`, "m"));
  const listed = JSON.parse((await run("--vaults --format json")).stdout) as { id: string }[];
  expect(listed.find(({ id }) => id === vault)).toMatchObject({ name: "Backup", snapshot: 1, items: 1, skipped: [] });
});

const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const COUNTS = { made: 1, unchanged: 0, behind: 0, rows: 3, bytes: 100, contents: 0 };
const jobOf = (backup: object, findings: readonly object[] = [], more: object = {}) => {
  const [progress, result] = [{ done: 1, total: 1 }, { backup: { ...COUNTS, ...backup } }];
  return { id: ID, kind: "backup", state: "done", progress, result, findings, createdAt: "2026-01-01T00:00:00.000Z", ...more };
};
const finding = (kind: string, detail: string) => ({ kind, vault: ID, id: "f", repairable: false, detail });

/** A service whose job is this one, and whose bucket has one object. */
async function serve(job: object, isExcluded = false) {
  const objects = [{ key: `vaults/${ID}/00000001.manifest`, size: 2 }];
  const api = await startApi(({ name }) => {
    if (name === "GET /v1/admin/backups/objects") return { body: { objects } };
    if (isExcluded && name.startsWith("POST")) return jobExists(ID);
    return { body: name.includes("/jobs") ? job : {} };
  });
  const folder = newFolder();
  return { ...api, run: (to = true) => runHere(`admin backup ${to ? `--to ${folder}` : ""}`, { env: api.env }) };
}

describe("the end of admin backup", () => {
  it.each<[string, object, number, ...words: (string | RegExp)[]]>([
    [
      "names contents that FILES has lost, and is a success, because the backup has all that there is",
      jobOf({}, [finding("content_missing", "the content is missing")]),
      0,
      /content_missing: [^]*admin verify --repair/,
    ],
    [
      "names a vault that was left out, although the others are copied",
      jobOf({ behind: 1, snapshot: 2 }, [finding("vault_skipped", "its backup failed: unavailable")]),
      6,
      `vault_skipped: vault ${ID}, `,
      "its backup failed",
      "Copied 1 object",
      "1 vault of 2 not backed up",
    ],
    [
      "escapes control characters of the job",
      jobOf({}, [finding("content_missing", "\u001b[31mred")]),
      0,
      String.raw`\x1b[31mred`,
    ],
  ])("%s", async (_, job, code, ...words) => {
    expect(await (await serve(job)).run()).toMatchObject(ends(code, ...words));
  });

  it("of a new database beside the backups of another one names admin restore, and copies nothing", async () => {
    const { run: runIt, names } = await serve(jobOf({}, [], { state: "failed", reason: "not_restored" }));
    expect(await runIt()).toMatchObject(ends(5, "Restore them first: `item-vault admin restore`."));
    expect(names()).toEqual(["POST /v1/admin/jobs"]);
  });

  it("that lost a part while it ran is to run again: the next backup writes the part (21.2)", async () => {
    const { run: runIt } = await serve(jobOf({}, [], { state: "failed", reason: "backup_damaged" }));
    expect(await runIt()).toMatchObject(ends(1, "failed: backup_damaged", "Run the command again."));
  });

  it("beside a job that excludes it names that job, and does not wait for it", async () => {
    const { run: runIt } = await serve(jobOf({}, [], { state: "running" }), true);
    expect(await runIt(false)).toMatchObject(ends(5, `excluded\n`, `is a backup job: `, `admin jobs show ${ID}`));
  });
});

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

const manifestOf = (whose: string, number: number, more: object = {}) =>
  `${JSON.stringify({ format: 1, deployment: "d", vault: whose, number, at: 0, schema: 4, parts: [], ...more })}\nk1 ${"0".repeat(64)}\n`;

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
  ])("names the command that helps against %j", async (found, args, words) => {
    expect(await runAgainst([{ repairable: false, ...found }], args)).toMatchObject(ends(7, words));
  });

  it("reads all findings of a job that shows only some", async () => {
    const unreadable = { kind: "row_unreadable", detail: "d", repairable: false };
    const ran = await runAgainst(Array.from({ length: 150 }, (_, version) => ({ ...unreadable, version })));
    expect([ran.code, ran.stdout.match(/row_unreadable/g)?.length]).toEqual([7, 150]);
  });

  it("--repair does not wait for the repair of somebody else, which may be another one", async () => {
    expect(await runAgainst("excluded", "--repair --yes")).toMatchObject(ends(5, VAULT));
  });
});
