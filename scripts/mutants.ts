/**
 * `npm run mutants -- SEED [COUNT]`: plants COUNT one-line bugs (200 by default) in src/ and packages/host/, one after the other, runs the
 * tests that belong to each bug, and lists the bugs that nothing noticed. The last line has the counts. It changes files of the checkout and takes each change
 * back: after a kill, `git checkout src packages` does. `--list` prints the bugs without running tests, `--only PATH:LINE` runs those of one
 * line, `--in PATH` plants bugs only below a path, and `--part 1/2` runs the first of two parts, for two checkouts side by side.
 */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chooseMutations, mutate, type Mutation, mutationsOf } from "./mutants/mutations.ts";
import type { Run } from "./mutants/tester.ts";

/**
 * Beginnings of the paths of sources, and for each those of the tests in test/ that are likely to notice a bug. The first row that has a path
 * decides. A survivor costs the time of its whole list, so a list is short: try a survivor on more tests by hand.
 */
const TESTS: Readonly<Record<string, string>> = {
  "src/vault/apply": "api/items. api/idempotency api/repeats api/versions api/patch. promises/concurrency",
  "src/vault/patch": "api/patch api/items-fields api/item-scopes api/items-generate",
  "src/vault/history": "api/versions api/archive promises/expiry promises/versions",
  "src/vault/items": "api/items api/versions api/archive api/patch. files/versions",
  "src/vault/queue": "pure/queue promises/coordinator promises/group promises/concurrency",
  "src/vault/versions": "api/versions promises/expiry promises/versions api/archive",
  "src/vault/coordinator": "promises/coordinator promises/vault-deletion promises/costs api/vaults",
  "src/vault/webhooks": "api/webhooks promises/webhook-delivery",
  "src/vault/working": "api/quotas api/limits api/work-bytes promises/growth",
  "src/vault/file-changes": "files",
  "src/vault/": "promises/group api/database-size promises/coordinator api/items. api/versions",
  "src/store/commit/file-rows": "files",
  "src/store/commit/due-items": "promises/expiry promises/costs",
  "src/store/commit/cache": "promises/row-cache promises/costs",
  "src/store/commit/snapshot": "promises/row-cache api/items. files/versions files/writes",
  "src/store/commit/":
    "proof/refused-rows proof/unknown api/items. api/versions api/vaults api/archive promises/expiry promises/versions",
  "src/store/backup/prune": "backup/pruning",
  "src/store/backup/cut": "pure/backup-parts backup/slices backup/changes",
  "src/store/backup/manifest": "pure/vectors backup/chain backup/restore-refused",
  "src/store/backup/registry": "backup/registry backup/vault-list",
  "src/store/backup/health-probe": "backup/newest backup/registry api/restore-drill api/metrics",
  "src/store/backup/": "backup",
  "src/store/restore/item": "backup/restore-item",
  "src/store/restore/finish": "backup/restore-interrupted backup/restore-vault backup/restore-again",
  "src/store/restore/check": "backup/restore-refused backup/restore-safety backup/restore-damaged",
  "src/store/restore/": "backup/restore api/restore-drill",
  "src/store/verify/": "verify",
  "src/store/contents/": "files/pending files/upload promises/vault-deletion promises/clean-up",
  "src/store/tokens/named-rows": "api/admin-tokens api/repeats",
  "src/store/tokens/people": "console/people",
  "src/store/tokens/session": "console/sessions console/access console/logins console/identity",
  "src/store/tokens/binding": "api/service-binding",
  "src/store/tokens/": "api/admin-tokens api/child-tokens api/item-scopes api/near-reads api/token damage/token",
  "src/store/activity/flush":
    "api/activity promises/activity.test promises/activity-limit promises/activity-archive. api/token-activity api/admin-activity",
  "src/store/activity/retention": "promises/activity-archive promises/activity-limit promises/expiry",
  "src/store/activity/slices": "api/activity promises/activity-pages promises/activity-generated promises/activity-forged",
  "src/store/activity/export": "promises/activity-export",
  "src/store/activity/archive": "promises/activity-archive pure/vectors promises/activity-export",
  "src/store/activity/": "promises/activity api/activity",
  "src/crypto/token": "pure/token api/token-attacks api/admin-tokens api/token-exchange",
  "src/crypto/console-secret": "pure/vectors console/access console/sessions",
  "src/crypto/identity": "api/item-ids pure/ids api/items. pure/vectors",
  "src/crypto/vault-keys": "pure/keyring api/admin-keys promises/rewrap promises/renew pure/vectors",
  "src/crypto/": "pure/seal pure/vectors pure/key pure/cache pure/chunked api/admin-keys damage/one-row files/object-tampering",
  "packages/host/src/http": "host/http host/response host/server",
  "packages/host/src/egress": "host/egress",
  "packages/host/src/assets": "host/http host/server sdk/host-assets",
  "packages/host/src/bucket": "host/bucket host/power",
  "packages/host/src/platform": "host/response host/streams host/http host/objects",
  "packages/host/src/": "host/objects host/server host/http host/full host/kill host/power",
};

const pathsOf = (names: string): readonly string[] => names.split(" ").map((name) => `test/${name}`);

const MINUTES_MAX = 10; // for the tests of one mutant: an endless loop counts as noticed, by "time"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean" },
    only: { type: "string" },
    in: { type: "string", default: "" },
    part: { type: "string", default: "1/1" },
  },
});
const [seed, count = "200"] = positionals;
if (seed === undefined || !/^\d+$/.test(count))
  throw new Error("npm run mutants -- SEED [COUNT] [--list] [--only PATH:LINE] [--in PATH] [--part 1/2]");

for (const beginning of Object.values(TESTS).flatMap(pathsOf)) {
  if (globSync(`${beginning}*`).length === 0) throw new Error(`there is no test ${beginning}*`);
}

function testsOf(path: string): readonly string[] | undefined {
  const row = Object.entries(TESTS).find(([beginning]) => path.startsWith(beginning));
  return row && pathsOf(row[1]);
}
const sources = new Map(
  globSync("{src,packages/host/src}/**/*.ts")
    .filter((path) => path.startsWith(values.in) && testsOf(path) !== undefined)
    .map((path) => [path, readFileSync(path, "utf8")] as const),
);
const [part, parts] = values.part.split("/").map(Number) as [number, number];
const mutations = chooseMutations(
  [...sources].flatMap(([path, source]) => mutationsOf(path, source)),
  seed,
  Number(count),
).filter(({ path, line }, index) => (values.only === undefined ? index % parts === part - 1 : values.only === `${path}:${line}`));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 120);
const describe = ({ path, line, kind, original, replacement }: Mutation): string =>
  `${path}:${line}  ${kind}: ${oneLine(original)} → ${oneLine(replacement)}`;

let tester: ChildProcess | undefined;
process.once("exit", endTester);

function startTester(): ChildProcess {
  const started = fork("scripts/mutants/tester.ts", { detached: true, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  started.once("exit", (status) => {
    if (status !== null) throw new Error(`The tester ended with ${status}.`);
  });
  return started;
}

/** Kills the tester and the processes of workerd that it started. */
function endTester(): void {
  if (tester?.pid !== undefined) process.kill(-tester.pid, "SIGKILL");
  tester = undefined;
}

/** Runs tests. Returns "time" when they take too long. */
async function noticedByTests(run: Run): Promise<"tests" | "time" | "nothing"> {
  tester ??= startTester();
  tester.send(run);
  const signal = AbortSignal.timeout(MINUTES_MAX * 60_000);
  try {
    const [failed] = (await once(tester, "message", { signal })) as [boolean];
    return failed ? "tests" : "nothing";
  } catch {
    endTester();
    return "time";
  }
}

/** Plants a bug, and takes it back. Returns what noticed the bug. */
async function noticedBy(mutation: Mutation): Promise<"types" | "tests" | "time" | "nothing"> {
  const source = sources.get(mutation.path)!;
  const takeBack = (): void => writeFileSync(mutation.path, source);
  process.once("exit", takeBack);
  writeFileSync(mutation.path, mutate(source, mutation));
  try {
    const by = await noticedByTests({ path: mutation.path, tests: testsOf(mutation.path)! });
    // The compiler takes longer than most failures: only a survivor needs it.
    if (by !== "nothing") return by;
    const project = mutation.path.startsWith("src/") ? "." : "packages/host";
    const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit", "-p", project]);
    return status === 0 ? "nothing" : "types";
  } finally {
    takeBack();
    process.off("exit", takeBack);
  }
}

if (values.list) console.log(mutations.map(describe).join("\n"));
else {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  const survivors: Mutation[] = [];
  for (const [index, mutation] of mutations.entries()) {
    const by = await noticedBy(mutation);
    if (by === "nothing") survivors.push(mutation);
    console.log(`${index + 1}/${mutations.length} noticed by ${by.padEnd(7)} ${describe(mutation)}`);
  }
  console.log(
    `seed ${seed}: ${survivors.length} of ${mutations.length} survived`,
    ...survivors.map((one) => `\n${describe(one)}`),
  );
  endTester();
}
