import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jobExists, startApi } from "../support/api.ts";
import { startFewVaults } from "../support/few-vaults.ts";
import { folderOf, modeOf, newFolder } from "../support/files.ts";
import { ADMIN, ends, runHere } from "../support/here.ts";
import { type Interceptor, startInterceptor } from "../support/interceptor.ts";
import { vaultOf } from "../support/login.ts";

/** `admin backup` (contract 21). */

let vault: string;
let service: Interceptor;
beforeAll(async () => {
  const world = await vaultOf("Backup");
  ({ vault } = world);
  const { id } = await world.create({ title: "One" });
  await world.send("POST", `/items/${id}/files?name=f`, "content");
  service = await startFewVaults(vault);
});
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

  it("beside a job that excludes it names that job, and does not wait for it", async () => {
    const { run: runIt } = await serve(jobOf({}, [], { state: "running" }), true);
    expect(await runIt(false)).toMatchObject(ends(5, `excluded\n`, `is a backup job: `, `admin jobs show ${ID}`));
  });
});
