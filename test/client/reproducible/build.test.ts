import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Release } from "../../../packages/cli/src/admin/verify-deployment/release.ts";
import { loadCommit } from "../../../scripts/build/release.ts";

/** What is deployed and installed depends on the sources alone: not on the folder, the time, the language or the time zone of the build. */

/** On the file system of the checkout, so that its packages can be linked. The copies lie at different depths. */
const ROOT = resolve("dist", `reproducible-${process.pid}`);
const COPIES = [
  { folder: join(ROOT, "a"), env: { TZ: "UTC", LANG: "C" } },
  { folder: join(ROOT, "another", "folder with spaces"), env: { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8" } },
] as const;

const LEFT_OUT = new Set([".git", ".wrangler", "bench", "dist", "node_modules", "test"]);

function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
}

const BUILT = ["dist/assets", "dist/release.json", "packages/client/dist", "packages/cli/dist"];

/** The SHA-256 of each file that a build has written, by its path. */
function hashesIn(folder: string): Record<string, string> {
  const paths = BUILT.flatMap((name) =>
    name.endsWith(".json")
      ? name
      : readdirSync(join(folder, name), { recursive: true, encoding: "utf8" }).map((path) => join(name, path)),
  );
  const files = paths.filter((path) => /\.\w+$|\/_headers$/.test(path));
  return Object.fromEntries(files.toSorted().map((path) => [path, hash("sha256", readFileSync(join(folder, path)))]));
}

const run = (folder: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  execFileSync(process.execPath, args, { cwd: folder, env: { PATH: process.env["PATH"]!, ...env }, encoding: "utf8" }).trim();

beforeAll(() => {
  for (const { folder, env } of COPIES) {
    for (const name of readdirSync(".").filter((entry) => !LEFT_OUT.has(entry)))
      cpSync(name, join(folder, name), { recursive: true, filter: (path) => !path.endsWith("/dist") });
    linkFolder(resolve("node_modules"), join(folder, "node_modules"));
    run(folder, env, "scripts/build.ts");
  }
});
function makeCheckout(): string {
  const folder = join(ROOT, "checkout");
  mkdirSync(folder, { recursive: true });
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  writeFileSync(join(folder, "file"), "one");
  git("init", "--quiet");
  git("add", "file");
  git("-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=One");
  return folder;
}

afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

describe("a build in another folder", () => {
  it("writes the same bytes: the Worker, the static files, the packages and release.json", () => {
    const [first, second] = COPIES.map(({ folder }) => hashesIn(folder));
    expect(Object.keys(first!).length).toBeGreaterThan(100);
    expect(second).toEqual(first);
  });

  it("has the script that `wrangler deploy` uploads, whose hash `npm run bundle -- --hash` prints", () => {
    const { folder, env } = COPIES[1];
    const { worker } = JSON.parse(readFileSync(join(folder, "dist/release.json"), "utf8")) as Release;
    const printed = run(folder, { ...env, ASSETS_BUILT: "1" }, "scripts/bundle.ts", "--hash");
    expect(worker.modules).toEqual({ "index.js": printed });
  });
});

it("the commit of release.json is that of a checkout whose files are those of the commit, and of nothing else", () => {
  const folder = makeCheckout();
  expect(loadCommit(folder)).toMatch(/^[0-9a-f]{40}$/);
  mkdirSync(join(folder, "inner"));
  expect(loadCommit(join(folder, "inner"))).toBeUndefined();
  writeFileSync(join(folder, "inner/more"), "two");
  expect(loadCommit(folder)).toBeUndefined();
});
