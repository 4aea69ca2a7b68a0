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

const named = (folder: string, names: string): string[] => names.split(" ").map((name) => `test/${folder}/${name}`);

/** Tests that show a write which is lost, doubled or reordered. */
const WRITES = [
  "test/pure",
  ...named("api", "archive deleted-items events. idempotency items. repeats patch quotas vaults versions webhooks"),
  ...named("promises", "concurrency coordinator destroyed expiry group renew row-cache"),
  ...named("promises", "vault-deletion version webhook-delivery"),
  ...named("proof", "concurrent-commits orders races refused-rows unknown-outcomes versions"),
];

/**
 * Beginnings of the paths of sources, and of the tests that belong to each. The first row that has a path decides. The lists have the tests
 * that are likely to notice a bug, because a survivor costs the time of its whole list.
 */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "src/vault/file-changes": ["test/files"],
  "src/store/commit/file-rows": ["test/files"],
  "src/store/commit/": WRITES,
  "src/vault/": WRITES,
  "src/store/backup/": ["test/pure/backup", "test/backup"],
  "src/store/restore/": ["test/backup/restore", "test/backup/pruning", "test/api/restore-drill"],
  "src/store/verify/": ["test/verify"],
  "src/store/contents/": ["test/files", ...named("promises", "vault-deletion clean-up")],
  "src/store/tokens/": [
    ...named("api", "admin-tokens child-tokens item-scopes near-reads token"),
    ...named("console", "access administrators people session"),
    ...named("damage", "token"),
  ],
  "src/store/activity/": [...named("api", "activity admin-activity token-activity actors"), ...named("promises", "activity")],
  "packages/host/src/": ["test/host"],
  "src/crypto/": [
    "test/pure",
    ...named("api", "admin-keys issuer-keys near-reads token"),
    ...named("promises", "activity-forged associated-data rewrap renew webhook-delivery"),
    ...named("files", "object-tampering"),
    ...named("backup", "chain registry snapshot"),
    ...named("console", "session"),
  ],
};

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

for (const beginning of Object.values(TESTS).flat()) {
  if (globSync(`${beginning}*`).length === 0) throw new Error(`there is no test ${beginning}*`);
}

const testsOf = (path: string): readonly string[] | undefined =>
  Object.entries(TESTS).find(([beginning]) => path.startsWith(beginning))?.[1];
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
  const started = fork("scripts/mutants/tester.ts", { detached: true, stdio: ["ignore", "ignore", "inherit", "ipc"] });
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
