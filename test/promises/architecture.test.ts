import { describe, expect, it } from "vitest";

/** The rules of the architecture (CONTRIBUTING.md), checked against the sources. */

declare global {
  interface ImportMeta {
    /** A feature of Vite: the files that match, which it reads while it transforms this file. */
    readonly glob: (pattern: string, options: { query: "?raw"; import: "default"; eager: true }) => Record<string, string>;
  }
}

interface Source {
  /** The path below src/. */
  readonly path: string;
  /** The folder, with its parents: `store/commit`; `.` is src/ itself. */
  readonly folder: string;
  readonly text: string;
}

const sources = Object.entries(import.meta.glob("../../src/**/*.ts", { query: "?raw", import: "default", eager: true })).map(
  ([key, text]): Source => {
    const path = key.replace("../../src/", "");
    return { path, folder: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".", text };
  },
);

const code = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");

/**
 * The folders of src/store/, the lowest first: a folder imports those before it, and never one after it. `crypto` and `model` lie below
 * all of them.
 */
const STORE_FOLDERS = [
  ["tables"],
  ["d1"],
  ["keys"],
  ["vaults"],
  ["items"],
  ["health"],
  ["activity"],
  ["tokens"],
  ["events"],
  ["references"],
  ["contents"],
  ["commit"],
  ["rotation"],
  ["checks"],
  ["backup"],
  ["verify"],
  ["restore"],
] as const;

const STORE = STORE_FOLDERS.flat().map((name) => `store/${name}`);

/** For each folder outside the store the folders and packages that its files may import, besides the folder itself. `.` is src/. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["model", "http", "binding", "vault", ...STORE, "zod"],
  model: ["zod", "otpauth"],
  crypto: ["model", "jose"],
  vault: [".", "model", "crypto", ...STORE, "vault/webhooks", "cloudflare:workers", "zod"],
  "vault/webhooks": [".", "model", "crypto", ...STORE],
  requests: [".", "model", "crypto", ...STORE, "zod"],
  binding: [".", "model", ...STORE, "requests", "cloudflare:workers", "zod"],
  http: [".", "model", "crypto", ...STORE, "requests", "http/endpoints", "hono", "content-disposition"],
  "http/events": [".", "model", "crypto", ...STORE, "http"],
  "http/endpoints": [".", "model", "crypto", ...STORE, "requests", "http", "http/events", "zod", "package.json"],
  ...Object.fromEntries(
    STORE_FOLDERS.flatMap((layer, index) =>
      layer.map((name) => [
        `store/${name}`,
        [
          ".",
          "model",
          "crypto",
          ...STORE_FOLDERS.slice(0, index + 1)
            .flat()
            .map((lower) => `store/${lower}`),
        ],
      ]),
    ),
  ),
};

const isFile = (name: string) => name.startsWith(".") && name.endsWith(".ts");

function importsOf({ path, text }: Source): string[] {
  return [...code(text).matchAll(/\bfrom "([^"]+)"/g)].map(([, name = ""]) =>
    isFile(name) ? new URL(name, `https://src/${path}`).pathname.slice(1) : name,
  );
}

/** The folder of an imported file, or the package: `hono` for `hono/utils/url`. */
function placeOf(name: string): string {
  const source = sources.find(({ path }) => path === name);
  if (source) return source.folder;
  return name.endsWith("package.json") ? "package.json" : name.startsWith("@") ? name : name.split("/")[0]!;
}

/** Out: a cycle of imports that begins with the file, or nothing. */
function cycleFrom(path: string, trail: readonly string[], finished: Set<string>): string[] | undefined {
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  const source = sources.find((one) => one.path === path);
  if (!source || finished.has(path)) return undefined;
  for (const name of importsOf(source)) {
    const cycle = cycleFrom(name, [...trail, path], finished);
    if (cycle) return cycle;
  }
  finished.add(path);
  return undefined;
}

describe("every file", () => {
  it("imports only the folders and packages that its folder may import", () => {
    const violations = sources.flatMap((source) =>
      importsOf(source)
        .filter((name) => ![source.folder, ...(MAY_IMPORT[source.folder] ?? [])].includes(placeOf(name)))
        .map((name) => `${source.path} imports ${name}`),
    );
    expect(violations).toEqual([]);
    expect(sources.length).toBeGreaterThan(60);
  });

  it("is in no cycle of imports", () => {
    const finished = new Set<string>();
    expect(sources.map(({ path }) => cycleFrom(path, [], finished)).filter((cycle) => cycle !== undefined)).toEqual([]);
  });

  it("is at most 300 lines long", () => {
    expect(sources.filter(({ text }) => text.split("\n").length > 301).map(({ path }) => path)).toEqual([]);
  });
});

/** Code that only some folders may contain: a pattern, and the paths whose files may match it. */
const PLACES: readonly (readonly [what: string, pattern: RegExp, allowed: RegExp])[] = [
  ["responses", /\bResponse\b|\bc\.json\(/, /^(http\/|vault\/(coordinator|listeners)\.ts)/],
  ["SQL", /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/, /^store\//],
  ["D1 and R2 objects", /\b(D1Database|D1PreparedStatement|R2Bucket)\b/, /^store\//],
  // rotation/rewrap-vaults.ts writes columns that no commit writes: see rotation/rewrap.ts.
  [
    "writes to vaults, Items and Files",
    /(INSERT INTO|UPDATE|DELETE FROM) (vaults|items|files)\b/,
    /^store\/(commit|restore|rotation)\//,
  ],
  ["writes to the activity log", /(INSERT INTO|UPDATE|DELETE FROM) activity\b/, /^store\/(commit|restore|activity)\//],
  ["the clock", /Date\.now\(/, /^(http\/|index\.ts|binding\/secrets\.ts|vault\/(coordinator|alarm)\.ts)/],
  ["randomness", /getRandomValues|randomUUID|Math\.random/, /^(http|requests|crypto)\/|^vault\/ports\.ts/],
  ["classes", /^export (default )?class\b|^class\b/m, /^(vault\/coordinator|binding\/secrets)\.ts/],
  ["logs", /console\./, /^log\.ts/],
  [
    "variables of the environment",
    /env\.(MAX_|FILE_RETENTION|ACTIVITY_|BACKUP_|BACKUPS_|TOKENS_NOT_BEFORE|WEBHOOK_|ACCESS_)/,
    /^settings\.ts/,
  ],
];

describe("only some folders contain", () => {
  it.each(PLACES)("%s", (_, pattern, allowed) => {
    const files = sources.filter(({ text }) => pattern.test(code(text))).map(({ path }) => path);
    expect(files.filter((path) => !allowed.test(path))).toEqual([]);
    expect(files).not.toEqual([]);
  });
});
