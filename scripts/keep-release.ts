/**
 * `npm run keep-release`, a step of a release: builds the Worker of this checkout, lets it write a sample of data, and
 * stores the bundle, the data and the answers of the Worker in `test/upgrade/<version>/`. The upgrade test of every later
 * version reads it. A release that is stored is never changed.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordRelease } from "../test/upgrade/support/record.ts";
import { isKept, RELEASES, writeRelease } from "../test/upgrade/support/release.ts";
import { buildWorker, LOCAL } from "./wrangler.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();

if (isKept(version)) {
  console.error(`${RELEASES}/${version} exists. Set the version of the release in package.json first.`);
  process.exit(1);
}
const changed = git("status", "--porcelain", "--", "src", "migrations", "wrangler.toml", "package.json", "package-lock.json");
if (changed !== "") {
  console.error(`A release is built from committed files. These files have uncommitted changes:\n${changed}`);
  process.exit(1);
}

Object.assign(process.env, LOCAL);
const folder = mkdtempSync(join(tmpdir(), "item-vault-release-"));
try {
  const [build, state] = [join(folder, "build"), join(folder, "state")];
  await buildWorker(build);
  mkdirSync(state);
  const release = await recordRelease({ folder: build, state }, { version, commit: git("rev-parse", "HEAD") });
  writeRelease(release, build, state);
  console.log(`${RELEASES}/${version}: ${Object.keys(release.reads).length} answers of commit ${release.commit}`);
} finally {
  rmSync(folder, { recursive: true });
}
