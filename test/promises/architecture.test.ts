import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../src/api/operations.ts";
import { testFiles } from "../docs/test-files.ts";
import { entries, folderOf, type Import, importsOf, sources } from "../support/sources.ts";

/** The rules of the architecture (CONTRIBUTING.md), checked against the sources. */

const endpoints = import.meta.glob("../../src/http/endpoints/*.ts", { eager: true });

interface WorkerSource {
  /** The path below src/. */
  readonly path: string;
  /** The folder, with its parents: `store/commit`; `.` is src/ itself. */
  readonly folder: string;
  readonly code: string;
  /** The paths below src/, and the packages, that it imports. */
  readonly imports: readonly string[];
}

const inWorker = (name: string) => name.replace(/^src\//, "");

const worker = sources
  .filter(({ path }) => path.startsWith("src/"))
  .map((source): WorkerSource => ({
    path: inWorker(source.path),
    folder: inWorker(folderOf(source.path)) === "src" ? "." : inWorker(folderOf(source.path)),
    code: source.code,
    imports: importsOf(source).map(({ name }) => inWorker(name)),
  }));

/**
 * The folders of src/store/, the lowest first: a folder imports those before it, and never one after it. `crypto` and `model` lie below
 * all of them.
 */
const STORE = [
  "tables d1 buckets jobs keys vaults items health activity tokens workloads events",
  "references contents commit rotation checks backup verify restore",
].flatMap((names) => names.split(" ").map((name) => `store/${name}`));

/** The types of the document: declarations only, so nothing of them is in the bundle. Only `api` imports them. */
const SCHEMAS = "packages/client/src/schema.ts";

/** For each folder outside the store the folders and packages that its files may import, besides the folder itself. `.` is src/. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["model", "http", "binding", "vault", "jobs", ...STORE, "zod"],
  model: ["zod", "otpauth"],
  api: ["model", SCHEMAS, "zod"],
  "api/openapi": ["api", "package.json", "model", "api/openapi/schemas", "api/openapi/paths", "zod"],
  "api/openapi/paths": ["api", "model", "api/openapi", "api/openapi/schemas"],
  "api/openapi/schemas": ["api", "model", "api/openapi", "zod"],
  crypto: ["model", "jose"],
  vault: [".", "model", "crypto", ...STORE, "vault/webhooks", "cloudflare:workers", "zod"],
  "vault/webhooks": [".", "model", "crypto", ...STORE],
  jobs: [".", "model", ...STORE, "cloudflare:workers"],
  requests: [".", "model", "crypto", ...STORE, "api"],
  binding: [".", "model", ...STORE, "requests", "cloudflare:workers", "zod"],
  http: [".", "model", "crypto", ...STORE, "requests", "http/endpoints", "http/present", "api", "hono"],
  "http/present": [".", "model", "crypto", ...STORE, "api"],
  "http/events": [".", "model", "crypto", ...STORE, "http"],
  "http/endpoints": [".", "model", "crypto", ...STORE, "requests", "http", "http/events", "http/present", "api", "zod"].concat(
    "content-disposition",
    "package.json",
  ),
  ...Object.fromEntries(STORE.map((folder, index) => [folder, [".", "model", "crypto", ...STORE.slice(0, index)]])),
};

/** The folder of an imported file, or the package: `hono` for `hono/utils/url`. */
function folderOrPackageOf(name: string): string {
  const source = worker.find(({ path }) => path === name);
  if (source) return source.folder;
  if (name === SCHEMAS) return name;
  return name.endsWith("package.json") ? "package.json" : name.startsWith("@") ? name : name.split("/")[0]!;
}

describe("every file of the Worker", () => {
  it("imports only the folders and packages that its folder may import", () => {
    const violations = worker.flatMap(({ path, folder, imports }) =>
      imports
        .filter((name) => ![folder, ...(MAY_IMPORT[folder] ?? [])].includes(folderOrPackageOf(name)))
        .map((name) => `${path} imports ${name}`),
    );
    expect(violations).toEqual([]);
    expect(worker.length).toBeGreaterThan(60);
  });
});

describe("the catalogue of operations", () => {
  it("has one endpoint that exports each operation under its id", () => {
    const exported = Object.values(endpoints).flatMap((module) => Object.keys(module));
    const ids = Object.keys(OPERATIONS);
    expect(exported.filter((name) => ids.includes(name)).toSorted()).toEqual(ids.toSorted());
  });
});

describe("an endpoint", () => {
  it("returns JSON as data, so that its type is that of the operation", () => {
    const endpointSources = worker.filter(({ folder }) => folder === "http/endpoints");
    expect(endpointSources.filter(({ code }) => code.includes("c.json(")).map(({ path }) => path)).toEqual([]);
    expect(endpointSources.length).toBeGreaterThan(20);
  });
});

/** A row of the command line loads its command when it runs, and the command imports the types of its options from that row. */
const isCommandOf = (path: string, { kind }: Import): boolean => /^packages\/cli\/.*table\.ts$/.test(path) && kind === "dynamic";

/** For each file the files that it imports: also types only, and by `import()`, but for the commands of rows of the command line. */
const graph = new Map(
  sources.map((source) => [
    source.path,
    importsOf(source)
      .filter((one) => !isCommandOf(source.path, one))
      .map(({ name }) => entries.get(name) ?? name),
  ]),
);

/** Out: a cycle of imports that begins with the file, or nothing. */
function cycleFrom(path: string, trail: readonly string[], finished: Set<string>): string[] | undefined {
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  if (finished.has(path)) return undefined;
  for (const name of graph.get(path) ?? []) {
    const cycle = cycleFrom(name, [...trail, path], finished);
    if (cycle) return cycle;
  }
  finished.add(path);
  return undefined;
}

describe("every file of the tree", () => {
  it("is in no cycle of imports", () => {
    const finished = new Set<string>();
    expect(sources.map(({ path }) => cycleFrom(path, [], finished)).filter((cycle) => cycle !== undefined)).toEqual([]);
    expect(finished.size).toBeGreaterThan(800);
    expect([...graph.values()].flat().filter((name) => graph.has(name)).length).toBeGreaterThan(2_500);
  });
});

describe("a file of the benchmark", () => {
  it("reaches no module that exists only in a test", () => {
    const reached = new Set([...graph.keys()].filter((path) => path.startsWith("bench/")));
    const from = new Map<string, string>();
    for (const path of reached)
      for (const name of graph.get(path) ?? []) {
        reached.add(name);
        from.set(name, from.get(name) ?? path);
      }
    expect(["vitest", "cloudflare:test"].filter((name) => reached.has(name)).map((name) => [from.get(name), name])).toEqual([]);
    expect(reached.size).toBeGreaterThan(300);
  });
});

/** Tables with a file for each row. */
const TABLES = new Set([
  "src/http/app.ts",
  "src/http/endpoints/admin-jobs.ts",
  "src/jobs/kinds.ts",
  "src/store/restore/vault.ts",
  "src/store/tables/tables.ts",
  "src/store/verify/stages.ts",
  "src/vault/changes.ts",
]);

const linesOf = new Map(sources.map(({ path, text }) => [path, text.split("\n").length - 1]));

/** A shorter file is a part of its only importer, when both stand in one folder. */
const LINES_MIN = 60;

describe("a file of the Worker whose only importer is its neighbour", () => {
  it(`has ${LINES_MIN} lines or more, or is a row of a table`, () => {
    const paths = worker.map(({ path }) => `src/${path}`);
    const fragments = paths.filter((path) => {
      const [importer, another] = paths.filter((one) => graph.get(one)!.includes(path));
      if (importer === undefined || another !== undefined || folderOf(importer) !== folderOf(path)) return false;
      return linesOf.get(path)! < LINES_MIN && !TABLES.has(importer);
    });
    expect(fragments).toEqual([]);
  });
});

/** Code that only some folders may contain: a pattern, and the paths whose files may match it. */
const PLACES: readonly (readonly [what: string, pattern: RegExp, allowed: RegExp])[] = [
  // A response of the document is another thing.
  ["responses", /\bResponse\b|\bc\.json\(/, /^(http\/|api\/openapi\/|vault\/(coordinator|listeners)\.ts)/],
  ["SQL", /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/, /^store\//],
  ["D1 objects", /\b(D1Database|D1PreparedStatement)\b/, /^store\//],
  ["R2 objects", /\bR2[A-Z]\w+/, /^store\/buckets\//],
  // Those of D1 come from the catalogue of tables; these are of the SQLite of a Durable Object, or of a trigger.
  [
    "lists of the columns of a row",
    /INTO \w+ \(\w+[,)]/,
    /^store\/(contents\/pending|events\/webhook-progress|d1\/(object-)?schema|jobs\/job-(rows|findings))\.ts/,
  ],
  // rotation/rewrap.ts writes columns that no commit writes.
  [
    "writes to vaults, Items and Files",
    /(INSERT INTO|UPDATE|DELETE FROM) (vaults|items|files)\b/,
    /^store\/(commit|restore|rotation)\//,
  ],
  ["running sums", /\bsum\([^)]*\)+ OVER \(/, /^store\/tables\/slices\.ts/],
  ["writes to the activity log", /(INSERT INTO|UPDATE|DELETE FROM) activity\b/, /^store\/(commit|restore|activity)\//],
  ["the clock", /Date\.now\(/, /^(http\/|index\.ts|binding\/secrets\.ts|vault\/(coordinator|alarm)\.ts|jobs\/operator\.ts)/],
  [
    "randomness",
    /getRandomValues|randomUUID|Math\.random/,
    /^(http|requests|crypto)\/|^(vault\/ports|jobs\/operator|request-id)\.ts/,
  ],
  ["classes", /^export (default )?class\b|^class\b/m, /^(vault\/coordinator|jobs\/operator|binding\/secrets)\.ts/],
  ["logs", /console\./, /^log\.ts/],
  [
    "variables of the environment",
    /env\.(MAX_|FILE_RETENTION|ACTIVITY_|BACKUP_|BACKUPS_|TOKENS_NOT_BEFORE|WEBHOOK_|ACCESS_|OIDC_)/,
    /^settings\.ts/,
  ],
];

describe("only some folders contain", () => {
  it.each(PLACES)("%s", (_, pattern, allowed) => {
    const files = worker.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
    expect(files.filter((path) => !allowed.test(path))).toEqual([]);
    expect(files).not.toEqual([]);
  });
});

it("the files that comments name exist", () => {
  const paths = [...sources.map(({ path }) => path), ...testFiles.keys(), "packages/client/src/schema.ts", "vitest.config.ts"];
  const lost = sources
    .filter(({ path }) => !path.startsWith("test/"))
    .flatMap(({ path, text }) => {
      const comments = text.match(/\/\*\*[^]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? [];
      const named = comments.flatMap(
        (comment) => comment.match(/(?<![\w/.*{}@-])(?:[\w-]+\/)*[\w-]+(?:\.test)?\.tsx?(?!\w)/g) ?? [],
      );
      return named
        .filter((name) => !paths.some((one) => one === name || one.endsWith(`/${name}`)))
        .map((name) => `${path}: ${name}`);
    });
  expect(lost).toEqual([]);
});
