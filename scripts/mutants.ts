/**
 * `npm run mutants -- SEED [COUNT]`: plants COUNT one-line bugs (200 by default) in src/, one after the other, runs the tests that belong
 * to each, and lists the bugs that no test noticed. The last line has the counts. It changes files of the checkout and takes each change
 * back: after a kill, `git checkout src` does. `--list` prints the bugs without running tests, `--only PATH:LINE` runs those of one line, and
 * `--part 1/2` runs the first of two parts, for two checkouts side by side.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chooseMutations, mutate, type Mutation, mutationsOf } from "./mutants/mutations.ts";

/** What a write loses or doubles shows in these tests. */
const WRITES = [
  "test/pure",
  ...[
    "archive",
    "deleted-items",
    "events.",
    "idempotency",
    "items-",
    "patch",
    "versions",
    "vaults",
    "webhooks",
    "database-size",
  ].map((name) => `test/api/${name}`),
  ...["concurrency", "coordinator", "costs", "destroyed", "expiry", "group", "log-order", "poisoned", "reseal", "row-cache"].map(
    (name) => `test/promises/${name}`,
  ),
  ...["sealed-bytes", "vault-deletion", "version", "webhook-delivery"].map((name) => `test/promises/${name}`),
  "test/proof",
  "test/files",
];

/** Folders of src/ and the tests that belong to each: paths, or their beginnings. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "src/store/commit": WRITES,
  "src/vault": WRITES,
  "src/store/backup": ["test/pure/backup", "test/backup", "test/verify"],
  "src/store/restore": ["test/backup/restore", "test/backup", "test/api/restore-drill"],
  "src/store/verify": ["test/verify", "test/backup"],
  "src/store/contents": ["test/files", "test/promises/vault-deletion", "test/promises/clean-up"],
  "src/store/tokens": [
    ...["token", "child-tokens", "authorization", "admin", "item-scopes", "near-reads", "matrix", "activity", "rate-limits"].map(
      (name) => `test/api/${name}`,
    ),
    "test/console",
    "test/damage",
    "test/promises/service-binding",
  ],
  "src/crypto": [
    "test/pure",
    ...["token", "admin-keys", "idempotency", "near-reads", "issuer-keys"].map((name) => `test/api/${name}`),
    ...["associated-data", "canary", "activity-keys", "activity-forged", "rewrap", "reseal", "webhook-delivery"].map(
      (name) => `test/promises/${name}`,
    ),
    "test/console/session",
    "test/files/object-tampering",
    "test/backup",
  ],
};

const MINUTES_MAX = 20; // for the tests of one mutant: an endless loop counts as noticed

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean" }, only: { type: "string" }, part: { type: "string", default: "1/1" } },
});
const [seed, count = "200"] = positionals;
if (seed === undefined || !/^\d+$/.test(count))
  throw new Error("npm run mutants -- SEED [COUNT] [--list] [--only PATH:LINE] [--part 1/2]");

const sources = new Map(
  Object.keys(TESTS).flatMap((folder) =>
    globSync(`${folder}/**/*.ts`).map((path) => [path, readFileSync(path, "utf8")] as const),
  ),
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

/** Runs the tests that belong to a file until the first of them fails. Returns whether all passed. */
function testsPass(path: string): boolean {
  const folder = Object.keys(TESTS).find((candidate) => path.startsWith(`${candidate}/`))!;
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--reporter=dot", ...TESTS[folder]!],
    { stdio: "ignore", timeout: MINUTES_MAX * 60_000, killSignal: "SIGKILL" },
  );
  return status === 0;
}

/** Plants a bug, runs its tests, and takes the bug back. Returns whether no test noticed it. */
function survives(mutation: Mutation): boolean {
  const source = sources.get(mutation.path)!;
  const takeBack = (): void => writeFileSync(mutation.path, source);
  process.once("exit", takeBack);
  writeFileSync(mutation.path, mutate(source, mutation));
  try {
    return testsPass(mutation.path);
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
    const survived = survives(mutation);
    if (survived) survivors.push(mutation);
    console.log(`${index + 1}/${mutations.length} ${survived ? "SURVIVED" : "noticed "} ${describe(mutation)}`);
  }
  console.log(
    `seed ${seed}: ${survivors.length} of ${mutations.length} survived`,
    ...survivors.map((one) => `\n${describe(one)}`),
  );
}
