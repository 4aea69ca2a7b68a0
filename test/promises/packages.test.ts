import { describe, expect, it } from "vitest";

/** The rules of the architecture for the packages beside `src/`: `client/`, `cli/` and `console/` (CONTRIBUTING.md). */

interface Source {
  /** The path from the root: `cli/src/frame/io.ts`. */
  readonly path: string;
  /** The first folder below src/; `.` is src/ itself. */
  readonly folder: string;
  readonly text: string;
}

const files = import.meta.glob("../../{client,cli,console}/src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const worker: Readonly<Record<string, string>> = import.meta.glob("../../src/{model,crypto}/*.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});

const sources = Object.entries(files)
  .map(([key, text]): Source => {
    const path = key.replace("../../", "");
    const [, , folder = ".", ...rest] = path.split("/");
    return { path, folder: rest.length === 0 ? "." : folder, text };
  })
  .filter(({ path }) => path !== "client/src/schema.ts"); // generated
const of = (name: "client" | "cli" | "console") => sources.filter(({ path }) => path.startsWith(`${name}/`));

const CLIENT = "@item-vault/client";
const COMMON = [CLIENT, "node", "frame"];

/** For each folder of `cli/src` what its files may import, besides the folder itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["node", "frame", "admin", "files", "items", "logs", "read", "run", "settings", "tokens", "transfer", "vaults"],
  frame: [CLIENT, "node"],
  admin: [...COMMON, "api", "output", "smol-toml"],
  output: ["frame", "yaml"],
  api: [CLIENT, "frame", "output", "src/model"],
  fallback: ["frame", "node"],
  files: [...COMMON, "api", "items", "output"],
  items: [...COMMON, "api", "files", "output"],
  logs: [...COMMON, "api", "items", "output"],
  read: [...COMMON, "fallback", "src/model"],
  run: [...COMMON, "fallback", "read"],
  settings: [...COMMON, ".", "api", "output"],
  tokens: [...COMMON, "api", "items", "output"],
  transfer: [...COMMON, "api", "output", "src/model", "@noble/hashes", "fflate", "hash-wasm", "papaparse"],
  vaults: [...COMMON, "api", "items", "output"],
};

const PREACT = ["preact", "preact/hooks", "@preact/signals"];
/** What every view of the console may import. `.` has the table of addresses, and the dialog that adds a grant. */
const VIEW = [...PREACT, CLIENT, ".", "api", "state", "ui", "src/model"];

/** The same for each folder of `console/src`: its static imports. */
const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": [...VIEW, "items"],
  api: ["@preact/signals", CLIENT, "state"],
  state: [...PREACT, CLIENT, ".", "api", "src/model"],
  ui: [...PREACT, "api", "state"],
  references: VIEW,
  items: [...VIEW, "references"],
  files: [...VIEW, "references"],
  activity: [...VIEW, "items"],
  admin: VIEW,
  deleted: [...VIEW, "items"],
  edit: [...VIEW, "items", "src/crypto"],
  health: VIEW,
  history: [...VIEW, "items"],
  import: [...VIEW, "items", "cli/src/frame", "cli/src/transfer"],
  move: [...VIEW, "cli/src/items"],
  otp: [...VIEW, "items"],
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

/** The folder of an imported file, after its package if that is another one than that of the importing file; or the package. */
function placeOf(name: string, from: string): string {
  const source = known.get(name);
  if (source) {
    const home = name.split("/")[0]!;
    if (home === "client") return "client/src";
    return from.startsWith(`${home}/`) ? source.folder : `${home}/src/${source.folder}`;
  }
  if (Object.hasOwn(worker, `../../${name}`)) return name.split("/").slice(0, 2).join("/");
  if (name.startsWith("node:")) return "node";
  if (PREACT.includes(name)) return name;
  return name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : name.split("/")[0]!;
}

/** Out: the imports that the table does not name, for people. A view of the console may load any other by `import()`. */
const violationsOf = (name: "cli" | "console", table: Readonly<Record<string, readonly string[]>>): string[] =>
  of(name).flatMap((source) =>
    (name === "cli" ? importsOf(source) : staticImports(source))
      .filter((one) => ![source.folder, ...(table[source.folder] ?? [])].includes(placeOf(one.name, source.path)))
      .map((one) => `${source.path} imports ${one.name}`),
  );

const staticImports = (source: Source) => importsOf(source).filter(({ kind }) => kind === "static");

/** Out: the libraries that a file of the Worker imports, or a file that it imports. In: the path from the root; gets the paths seen. */
function librariesOf(path: string, visited: Set<string>): string[] {
  if (visited.has(path)) return [];
  visited.add(path);
  const imports = importsOf({ path, folder: "", text: worker[`../../${path}`]! }).filter(({ kind }) => kind === "static");
  return imports.flatMap(({ name }) => (name.startsWith("src/") ? librariesOf(name, visited) : [`${path} imports ${name}`]));
}

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
    expect(of("client").length).toBeGreaterThan(5);
    expect(of("cli").length).toBeGreaterThan(60);
    expect(of("console").length).toBeGreaterThan(150);
    expect(sources.flatMap(staticImports).length).toBeGreaterThan(800);
  });

  it("have files of at most 300 lines, except for generated ones", () => {
    expect(sources.filter(({ text }) => text.split("\n").length > 301).map(({ path }) => path)).toEqual([]);
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
    expect(violationsOf("cli", MAY_IMPORT)).toEqual([]);
  });

  it("loads libraries by `import()`, or in a file that is loaded so", () => {
    const imported = new Set(
      of("cli")
        .flatMap(staticImports)
        .map(({ name }) => name),
    );
    const violations = of("cli")
      .filter(({ path }) => imported.has(path))
      .filter((source) => staticImports(source).some(({ name }) => LIBRARIES.test(placeOf(name, source.path))));
    expect(violations.map(({ path }) => path)).toEqual([]);
  });

  it("loads the module of a command by `import()`", () => {
    const tables = of("cli").filter(({ path }) => path.endsWith("/table.ts"));
    const rows = tables.flatMap(({ text }) => [...text.matchAll(/^ {4}load: (.*)$/gm)].map(([, load]) => load));
    expect(rows.filter((load) => !/ \(?(await )?import\(/.test(load!))).toEqual([]);
    expect(rows.length).toBeGreaterThan(20);
  });
});

describe("the console", () => {
  it("imports only the folders and packages that a folder may import, so nothing of the server", () => {
    expect(violationsOf("console", CONSOLE_MAY_IMPORT)).toEqual([]);
  });

  it("loads by `import()` its own files and readers of files to import only", () => {
    const loaded = of("console").flatMap((source) => importsOf(source).filter(({ kind }) => kind === "dynamic"));
    expect(loaded.filter(({ name }) => !/^(console|cli\/src\/transfer)\//.test(name))).toEqual([]);
  });

  it("shares with the Worker only files without libraries, whose size the page would load", () => {
    const shared = [...of("console"), ...of("cli").filter(({ folder }) => folder === "transfer")]
      .flatMap(staticImports)
      .filter(({ name }) => name.startsWith("src/"));
    const visited = new Set<string>();
    expect(shared.flatMap(({ name }) => librariesOf(name, visited))).toEqual([]);
    expect(visited.size).toBeGreaterThan(8);
  });

  it("writes nothing to storage, cookies or the browser's console, and makes no markup or code of a text", () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|(local|session)Storage|indexedDB|document\.cookie|\bconsole\.\w+\(/i;
    const violations = of("console").filter(({ text }) => forbidden.test(text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")));
    expect(violations.map(({ path }) => path)).toEqual([]);
  });
});
