import { describe, expect, it } from "vitest";

/** The rules of the architecture for the packages that people install, `client/` and `cli/` (CONTRIBUTING.md). */

interface Source {
  /** The path from the root: `cli/src/frame/io.ts`. */
  readonly path: string;
  /** The first folder below src/; `.` is src/ itself. */
  readonly folder: string;
  readonly text: string;
}

const files = import.meta.glob("../../{client,cli}/src/**/*.ts", { query: "?raw", import: "default", eager: true });
const worker = Object.keys(import.meta.glob("../../src/model/*.ts", { query: "?raw", import: "default", eager: true }));

const sources = Object.entries(files)
  .map(([key, text]): Source => {
    const path = key.replace("../../", "");
    const [, , folder = ".", ...rest] = path.split("/");
    return { path, folder: rest.length === 0 ? "." : folder, text };
  })
  .filter(({ path }) => path !== "client/src/schema.ts"); // generated
const of = (name: "client" | "cli") => sources.filter(({ path }) => path.startsWith(`${name}/`));

const CLIENT = "@item-vault/client";
const COMMON = [CLIENT, "node", "frame"];

/** For each folder of `cli/src` what its files may import, besides the folder itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["node", "frame", "admin", "files", "items", "logs", "read", "run", "settings", "tokens", "transfer", "vaults"],
  frame: [CLIENT, "node"],
  admin: [...COMMON, "api", "output", "smol-toml"],
  output: ["frame", "yaml"],
  api: [CLIENT, "frame", "output"],
  fallback: ["frame", "node"],
  files: [...COMMON, "api", "items", "output"],
  items: [...COMMON, "api", "files", "output"],
  logs: [...COMMON, "api", "items", "output"],
  read: [...COMMON, "fallback"],
  run: [...COMMON, "fallback", "read"],
  settings: [...COMMON, ".", "api", "output"],
  tokens: [...COMMON, "api", "items", "output"],
  transfer: [...COMMON, "api", "output", "src/model", "@noble/hashes", "fflate", "hash-wasm", "papaparse"],
  vaults: [...COMMON, "api", "items", "output"],
};
/** They cost every start of the program what few commands need. */
const LIBRARIES = /^(fflate|hash-wasm|kdbxweb|papaparse|smol-toml|yaml)$/;

interface Import {
  /** The path of a file, or the name of a package or of a module of Node. */
  readonly name: string;
  readonly kind: "static" | "type" | "dynamic";
}

function importsOf({ path, text }: Source): Import[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");
  const found = [...code.matchAll(/(?:^(?:import|export)( type)? [^;"]*?from |\bimport(\())"([^"]+)"/gm)];
  return found.map(([, type, parenthesis, name = ""]) => ({
    name: name.startsWith(".") ? new URL(name, `https://root/${path}`).pathname.slice(1) : name,
    kind: parenthesis ? "dynamic" : type ? "type" : "static",
  }));
}

const known = new Map(sources.map((source) => [source.path, source]));

/** The folder of an imported file, or the package. */
function placeOf(name: string): string {
  const source = known.get(name);
  if (source) return source.path.startsWith("client/") ? "client/src" : source.folder;
  if (worker.includes(`../../${name}`)) return "src/model";
  if (name.startsWith("node:")) return "node";
  return name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : name.split("/")[0]!;
}

const staticImports = (source: Source) => importsOf(source).filter(({ kind }) => kind === "static");

/** Out: a cycle of static imports that begins with the file, or nothing. */
function cycleFrom(path: string, trail: readonly string[], finished: Set<string>): string[] | undefined {
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  const source = known.get(path);
  if (!source || finished.has(path)) return undefined;
  for (const { name } of staticImports(source)) {
    const cycle = cycleFrom(name, [...trail, path], finished);
    if (cycle) return cycle;
  }
  finished.add(path);
  return undefined;
}

describe("the packages", () => {
  it("are read by these tests", () => {
    expect([of("client").length > 5, of("cli").length > 60, sources.flatMap(staticImports).length > 200]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("have files of at most 150 lines, except for generated ones", () => {
    expect(sources.filter(({ text }) => text.split("\n").length > 151).map(({ path }) => path)).toEqual([]);
  });

  it("have no cycle of static imports", () => {
    const finished = new Set<string>();
    expect(sources.map(({ path }) => cycleFrom(path, [], finished)).filter((cycle) => cycle !== undefined)).toEqual([]);
  });
});

describe("the client", () => {
  it("imports its own files only", () => {
    const foreign = of("client").flatMap((source) =>
      importsOf(source).filter(({ name }) => !/^client\/src\/[\w-]+\.ts$/.test(name)),
    );
    expect(foreign).toEqual([]);
  });

  it("uses nothing that only Node has", () => {
    const nodeOnly = /\b(process|Buffer|require|__dirname|setImmediate)\b[.(]/;
    expect(of("client").filter(({ text }) => nodeOnly.test(text.replaceAll(/\/\*[^]*?\*\//g, "")))).toEqual([]);
  });
});

describe("the command line", () => {
  it("imports only the folders and libraries that a folder may import", () => {
    const violations = of("cli").flatMap((source) =>
      importsOf(source)
        .filter(({ name }) => ![source.folder, ...(MAY_IMPORT[source.folder] ?? [])].includes(placeOf(name)))
        .map(({ name }) => `${source.path} imports ${name}`),
    );
    expect(violations).toEqual([]);
  });

  it("loads libraries by `import()`, or in a file that is loaded so", () => {
    const imported = new Set(
      of("cli")
        .flatMap(staticImports)
        .map(({ name }) => name),
    );
    const violations = of("cli")
      .filter(({ path }) => imported.has(path))
      .filter((source) => staticImports(source).some(({ name }) => LIBRARIES.test(placeOf(name))));
    expect(violations.map(({ path }) => path)).toEqual([]);
  });

  it("loads the module of a command by `import()`", () => {
    const tables = of("cli").filter(({ path }) => path.endsWith("/table.ts"));
    const rows = tables.flatMap(({ text }) => [...text.matchAll(/^ {4}load: (.*)$/gm)].map(([, load]) => load));
    expect(rows.filter((load) => !/ \(?(await )?import\(/.test(load!))).toEqual([]);
    expect(rows.length).toBeGreaterThan(20);
  });
});
