/**
 * `npm run keep-release`, a step of a release: builds the Worker of this checkout, lets it write a sample of data, and
 * stores the bundle, the data and the answers of the Worker in `test/upgrade/<version>/`. The upgrade test of every later
 * version reads it. A release that is stored is never changed.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askAll, need } from "../test/upgrade/support/ask.ts";
import { readsOf } from "../test/upgrade/support/reads.ts";
import { type Release, RELEASES, writeRelease } from "../test/upgrade/support/release.ts";
import { writeSample } from "../test/upgrade/support/sample.ts";
import { startBuild } from "../test/upgrade/support/worker.ts";
import { applyMigrations, buildWorker, LOCAL } from "./wrangler.ts";

const SECRETS = {
  ADMIN_TOKEN: "admin-token-of-the-upgrade-test",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};

/** Milliseconds until the queue's consumer has inserted the log entries: `max_batch_timeout` in wrangler.toml, and a margin. */
const QUEUE_DELAY = 5_000 + 2_000;

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();

if (existsSync(join(RELEASES, version, "release.json"))) {
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
  await applyMigrations(state);
  const release = await record(build, state);
  writeRelease(release, build, state);
  console.log(`${RELEASES}/${version}: ${Object.keys(release.reads).length} answers of commit ${release.commit}`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Runs the Worker, which writes the sample. Out: the sample, the requests that read it, and their answers. */
async function record(build: string, state: string): Promise<Release> {
  const worker = await startBuild({ folder: build, state, secrets: SECRETS, clockOffset: 0 });
  try {
    const sample = await writeSample(worker.base, SECRETS.ADMIN_TOKEN);
    await sleep(QUEUE_DELAY);
    const activity = await need<unknown[]>(worker.base, {
      path: "/v1/activity?limit=1000",
      token: sample.tokens.reader.token,
    });
    const tokens = await need<Release["tokens"]>(worker.base, { path: "/v1/admin/tokens", token: SECRETS.ADMIN_TOKEN });
    const requests = readsOf(sample);
    const answers = await askAll(worker.base, requests);
    const reads = Object.fromEntries(
      Object.entries(requests).map(([name, request]) => [name, { request, answer: answers[name]! }]),
    );
    return { version, commit: git("rev-parse", "HEAD"), keptAt: Date.now(), secrets: SECRETS, sample, reads, activity, tokens };
  } finally {
    await worker.stop();
  }
}
