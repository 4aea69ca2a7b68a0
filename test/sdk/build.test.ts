import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** `npm run build`, as wrangler and the tests start it: at any time, also several at once. */

const SCRIPT = join(import.meta.dirname, "../../scripts/build.ts");

const FILES = ["_headers", "docs/index.html", "docs/style.css", "openapi.json"];
const folder = mkdtempSync(join(tmpdir(), "item-vault-build-"));
const pathOf = (file: string) => join(folder, "dist/assets", file);
const timesOf = () => FILES.map((file) => statSync(pathOf(file)).mtimeMs);

const build = () => promisify(execFile)(process.execPath, [SCRIPT, "assets"], { cwd: folder });

/** When the first of two builds wrote each file. */
let times: readonly number[];
beforeAll(async () => {
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
    expect(files.toSorted()).toEqual(FILES.map(pathOf));
  });

  it("leaves a file that does not change untouched, so that no watcher wakes", () => {
    expect(timesOf()).toEqual(times);
  });

  it("never shows half a file, also when several builds write at once", async () => {
    const whole = FILES.map((file) => readFileSync(pathOf(file), "utf8"));
    for (const file of FILES) writeFileSync(pathOf(file), "");
    const builds = new Set([build(), build(), build()]);
    for (const one of builds) void one.finally(() => builds.delete(one));
    while (builds.size > 0) {
      for (const [index, file] of FILES.entries()) expect(["", whole[index]]).toContain(readFileSync(pathOf(file), "utf8"));
      await new Promise(setImmediate);
    }
    expect(FILES.map((file) => readFileSync(pathOf(file), "utf8"))).toEqual(whole);
    expect(readdirSync(join(folder, "dist/unfinished"))).toEqual([]);
  });
});
