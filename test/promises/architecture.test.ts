import { describe, expect, it } from "vitest";

/** The rules of the house (docs/security.md and CONTRIBUTING.md say why), held against the sources themselves. */

declare global {
  interface ImportMeta {
    /** Vite's: the files that match, read while this one is transformed. */
    readonly glob: (pattern: string, options: { query: "?raw"; import: "default"; eager: true }) => Record<string, string>;
  }
}

const sources = Object.entries(import.meta.glob("../../src/**/*.ts", { query: "?raw", import: "default", eager: true })).map(
  ([path, text]) => ({
    path: path.replace("../../src/", ""),
    folder: path.split("/").length > 4 ? path.split("/")[3]! : "index",
    text,
  }),
);

const code = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");

/** Who imports whom: files of the first may import files of the second. */
const MAY_IMPORT: Readonly<Record<string, readonly RegExp[]>> = {
  index: [/^http\//, /^vault\//, /^store\//],
  http: [/^http\//, /^store\/(?!commit|fence|memory|rows|snapshot)/, /^model\//, /^crypto\/(token|keyring|seal|totp|cache)\.ts$/],
  vault: [/^vault\//, /^store\//, /^model\//, /^crypto\//],
  store: [/^store\//, /^model\//, /^crypto\//],
  crypto: [/^crypto\//, /^model\/(failure|result|ids)\.ts$/],
  model: [/^model\//],
};

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  http: ["hono", "content-disposition", "hono/utils/http-status", "hono/utils/url", "zod", "../../package.json"],
  vault: ["cloudflare:workers", "zod"],
  crypto: ["jose", "otpauth"],
  model: ["zod"],
};

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) =>
    name.startsWith(".") && name.endsWith(".ts") ? new URL(name, `https://src/${path}`).pathname.slice(1) : name,
  );
}

describe("every file", () => {
  it("imports only what its folder may", () => {
    const offences = sources.flatMap(({ path, folder, text }) =>
      importsOf(path, text)
        .filter(
          (name) =>
            !(name.endsWith(".ts") ? MAY_IMPORT[folder]?.some((rule) => rule.test(name)) : PACKAGES[folder]?.includes(name)),
        )
        .map((name) => `${path} imports ${name}`),
    );
    expect(offences).toEqual([]);
    expect(sources.length).toBeGreaterThan(40);
  });

  it("is at most 150 lines long", () => {
    expect(sources.filter(({ text }) => text.split("\n").length > 151).map(({ path }) => path)).toEqual([]);
  });
});

/** What may only be done in some places: a pattern, and the files that may match it. */
const PLACES: readonly (readonly [what: string, pattern: RegExp, where: RegExp])[] = [
  ["answers over HTTP", /\bResponse\b|\bc\.json\(/, /^http\//],
  ["SQL", /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/, /^store\//],
  ["D1 and R2 objects", /\b(D1Database|D1PreparedStatement|R2Bucket)\b/, /^store\//],
  [
    "writes to vaults and Items",
    /(INSERT INTO|UPDATE|DELETE FROM) (vaults|items|activity)\b/,
    /^store\/(commit|fence|row-changes|activity)\.ts$/,
  ],
  ["commits", /writeCommit/, /^(store\/commit|vault\/group)\.ts$/],
  ["the clock", /Date\.now\(/, /^(http\/|vault\/coordinator\.ts)/],
  [
    "randomness",
    /getRandomValues|randomUUID|Math\.random/,
    /^(http\/|crypto\/(seal|chunked|vault-keys|keyring)\.ts|vault\/group\.ts)/,
  ],
  ["classes", /^export (default )?class\b|^class\b/m, /^vault\/coordinator\.ts$/],
  ["logs", /console\./, /^store\/report\.ts$/],
];

describe("only some files", () => {
  it.each(PLACES)("have %s", (_, pattern, where) => {
    const files = sources.filter(({ text }) => pattern.test(code(text))).map(({ path }) => path);
    expect(files.filter((path) => !where.test(path))).toEqual([]);
    expect(files).not.toEqual([]);
  });
});
