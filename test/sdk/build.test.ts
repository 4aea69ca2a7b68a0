import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { licencesOf } from "../../scripts/build/licences.ts";

/** `npm run build`, which wrangler and the tests start at any time, also several at once, and the launcher of what it builds. */

const LAUNCHER = join(import.meta.dirname, "../../packages/cli/bin/item-vault.js");
const SCRIPT = join(import.meta.dirname, "../../scripts/build.ts");

/** The files whose names have no hash of their content. */
const FILES = [
  "_headers",
  "console/LICENSES.txt",
  "console/authorize.html",
  "console/icon.svg",
  "console/index.html",
  "console/sign-in.html",
  "docs/index.html",
  "docs/reference.js",
  "docs/search.json",
  "docs/style.css",
  "openapi.json",
];
const HASHED = /^console\/assets\/[\w.-]+-[A-Z0-9]{8}\.(?:js|css)$/;
/** A page of the reference for each group of operations, and for errors, schemas and the contract. */
const PAGE = /^docs\/[a-z-]+\/index\.html$/;
const folder = mkdtempSync(join(tmpdir(), "item-vault-build-"));
const pathOf = (file: string) => join(folder, "dist/assets", file);
const timesOf = () => FILES.map((file) => statSync(pathOf(file)).mtimeMs);

const build = () =>
  promisify(execFile)(process.execPath, [SCRIPT, "assets"], { cwd: folder, env: { ...process.env, ASSETS_BUILT: "" } });

/** When the first of two builds wrote each file. */
let times: readonly number[];
beforeAll(async () => {
  symlinkSync(join(import.meta.dirname, "../../packages"), join(folder, "packages"));
  await build();
  times = timesOf();
  writeFileSync(pathOf("docs/old.html"), "of an earlier version");
  await build();
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the build of the static files", () => {
  it("writes them, and deletes what else is in their folder", () => {
    const entries = readdirSync(pathOf(""), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const matching = (pattern: RegExp) => files.filter((path) => pattern.test(relative(pathOf(""), path)));
    const [hashed, pages] = [matching(HASHED), matching(PAGE)];
    expect(files.filter((path) => !hashed.includes(path) && !pages.includes(path)).toSorted()).toEqual(FILES.map(pathOf));
    expect([hashed.length > 1, pages.length > 1]).toEqual([true, true]);
  });

  it("leaves a file that does not change untouched, so that no watcher wakes", () => {
    expect(timesOf()).toEqual(times);
  });

  it("never shows half a file, also when two builds write at once", async () => {
    const whole = FILES.map((file) => readFileSync(pathOf(file), "utf8"));
    for (const file of FILES) writeFileSync(pathOf(file), "");
    const builds = new Set([build(), build()]);
    for (const one of builds) void one.finally(() => builds.delete(one));
    while (builds.size > 0) {
      for (const [index, file] of FILES.entries()) expect(["", whole[index]]).toContain(readFileSync(pathOf(file), "utf8"));
      await sleep(5);
    }
    expect(FILES.map((file) => readFileSync(pathOf(file), "utf8"))).toEqual(whole);
    expect(readdirSync(join(folder, "dist/unfinished"))).toEqual([]);
  });
});

/** A copy of the launcher; `program`: what is built beside it. */
const runLauncher = async (name: string, program?: string) => {
  const bin = join(folder, name, "bin/item-vault.js");
  cpSync(LAUNCHER, bin);
  writeFileSync(join(folder, name, "package.json"), '{"type":"module"}');
  if (program !== undefined) mkdirSync(join(folder, name, "dist"));
  if (program !== undefined) writeFileSync(join(folder, name, "dist/item-vault.js"), program);
  const env = { PATH: process.env["PATH"], XDG_CACHE_HOME: join(folder, "cache"), TMPDIR: join(folder, "tmp") };
  return promisify(execFile)(process.execPath, [bin, "a", "b"], { env }).catch((error: unknown) => error);
};

describe("the launcher of the command line", () => {
  it("says how the command line is built, when it is not", async () => {
    const message = "The command line is not built yet. Run this in the folder of Item Vault: npm run build\n";
    expect(await runLauncher("unbuilt")).toMatchObject({ code: 1, stdout: "", stderr: message });
  });

  it("runs it with its arguments, and keeps compiled code in the user's cache folder only", async () => {
    const program = "console.log(...process.argv.slice(2)); // a comment, because an empty program is not kept";
    expect(await runLauncher("built", program)).toMatchObject({ stdout: "a b\n", stderr: "" });
    expect(readdirSync(join(folder, "cache"))).toEqual(["item-vault"]);
    expect(existsSync(join(folder, "tmp"))).toBe(false);
  });
});

describe("the licences of a bundle", () => {
  it("are those of each package whose code is in it, once, with their texts", () => {
    const licences = licencesOf(["src/index.ts", "node_modules/hono/dist/index.js", "node_modules/hono/dist/hono.js"]);
    expect(licences).toMatch(/^hono \d+\.\d+\.\d+, licence MIT\n\nMIT License\n/);
    expect(licences.match(/licence MIT/g)).toHaveLength(1);
    expect(licencesOf(["src/index.ts"])).toBe("");
  });
});
