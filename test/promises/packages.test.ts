import { describe, expect, it } from "vitest";
import root from "../../package.json";
import { entries, type Import, importsOf, type Source, sources as tree } from "../support/sources.ts";

/** The rules of the architecture for packages/ (CONTRIBUTING.md). */

interface PackageSource extends Source {
  /** The first folder below src/ of the package; `.` is that src/ itself. */
  readonly folder: string;
}

const sources = tree
  .filter(({ path }) => /^packages\/\w+\/src\//.test(path))
  .map(({ path, text, code }): PackageSource => {
    const [, , , folder = ".", ...rest] = path.split("/");
    return { path, text, code, folder: rest.length === 0 ? "." : folder };
  });
const worker = new Map(tree.filter(({ path }) => path.startsWith("src/model/")).map((source) => [source.path, source]));
const of = (name: "client" | "transfer" | "host" | "cli" | "console") =>
  sources.filter(({ path }) => path.startsWith(`packages/${name}/`));

const CLIENT = "@item-vault/client";
const MODEL = "@item-vault/model";
const TRANSFER = "@item-vault/transfer";
const HOST = "@item-vault/host";
/** The catalogue of operations. */
const API = "src/api";
const COMMON = [CLIENT, "node", "frame"];

/** For each folder of `packages/cli/src` what its files may import, besides the folder itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": "node frame admin apply files items logs read run serve server settings tokens transfer vaults workload".split(" "),
  frame: [CLIENT, TRANSFER, "node"],
  admin: [...COMMON, MODEL, TRANSFER, "api", "files", "output", "smol-toml"],
  output: [TRANSFER, "frame", "yaml"],
  api: [CLIENT, "frame", "output", MODEL],
  apply: [...COMMON, "output", MODEL],
  fallback: ["frame", "node"],
  files: [...COMMON, "api", "items", "output"],
  items: [...COMMON, MODEL, TRANSFER, "api", "files", "output"],
  logs: [...COMMON, "api", "items", "output"],
  read: [...COMMON, "fallback", MODEL],
  run: [...COMMON, MODEL, TRANSFER, "fallback", "read"],
  serve: [...COMMON, "output", "workload", MODEL, API],
  server: [...COMMON, "admin", "output", "serve", HOST],
  settings: [...COMMON, "api", "output"],
  tokens: [...COMMON, "api", "items", "output", MODEL, TRANSFER],
  transfer: [...COMMON, "output", MODEL, TRANSFER],
  vaults: [...COMMON, "api", "items", "output"],
  workload: [...COMMON, "output"],
};

/** The same for each folder of `packages/transfer/src`. What a format of the command line alone uses of Node, the build of the console refuses. */
const TRANSFER_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": [CLIENT, MODEL, "@noble/hashes", "hash-wasm"],
  formats: [".", MODEL, "node", "fflate", "papaparse"],
};

const PREACT = ["preact", "preact/hooks", "@preact/signals"];
/** What every view of the console may import. `.` has the table of addresses, and the dialog that adds a grant. */
const VIEW = [...PREACT, CLIENT, ".", "failures", "state", "ui", MODEL];

/** The same for each folder of `packages/console/src`: its static imports. */
const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": [...VIEW, "frame", "items", "palette"],
  frame: [...VIEW, "admin", "health", "items", "palette"],
  palette: [...VIEW, "items"],
  failures: [CLIENT],
  state: [...PREACT, CLIENT, ".", "failures", MODEL],
  ui: [...PREACT, "failures", "state", MODEL],
  references: VIEW,
  items: [...VIEW, "references"],
  files: [...VIEW, "references"],
  activity: [...VIEW, "items", "admin", TRANSFER],
  admin: VIEW,
  bulk: [...VIEW, "items", "move", TRANSFER],
  deleted: [...VIEW, "items"],
  edit: [...VIEW, "items"],
  health: [...VIEW, "admin"],
  history: [...VIEW, "items"],
  import: [...VIEW, "items", TRANSFER],
  login: [...VIEW, "admin"],
  move: [...VIEW, TRANSFER],
  operations: [...VIEW, "admin", "history"],
  otp: [...VIEW, "items", "references"],
  passwords: [...VIEW, "items", "bulk"],
  "qr-codes": [...VIEW, "items", "qr"],
  use: [...VIEW, "items", "references"],
};

/** They cost every start of the program, or every visit of the page, what few commands or views need. */
const LIBRARIES = /^(fflate|hash-wasm|kdbxweb|papaparse|qr|smol-toml|yaml)$/;

/** Whether an import names a file by its path, but for the catalogue of operations: the tables name who imports that. */
const isFile = (name: string): boolean => /^(src(?!\/api\/)|packages|scripts|bench|test)\//.test(name);

const known = new Map(sources.map((source) => [source.path, source]));

/** The folder of an imported file of the same package, or the package. */
function placeOf(name: string): string {
  const source = known.get(name);
  if (source) return source.folder;
  if (name.startsWith("node:")) return "node";
  if (PREACT.includes(name)) return name;
  if (name.startsWith(`${API}/`)) return API;
  return name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : name.split("/")[0]!;
}

/** Out: the imports that the table does not name, for people. A view of the console may load any other by `import()`. */
const violationsOf = (name: "transfer" | "cli" | "console", table: Readonly<Record<string, readonly string[]>>): string[] =>
  of(name).flatMap((source) =>
    (name === "console" ? staticImports(source) : importsOf(source))
      .filter((one) => ![source.folder, ...(table[source.folder] ?? [])].includes(placeOf(one.name)))
      .map((one) => `${source.path} imports ${one.name}`),
  );

const staticImports = (source: Source): Import[] => importsOf(source).filter(({ kind }) => kind === "static");

/** Out: the files of a program that import a library, and that another of its files imports statically. */
function eagerlyLoaded(program: readonly PackageSource[]): string[] {
  const imported = new Set(program.flatMap(staticImports).map(({ name }) => entries.get(name) ?? name));
  return program
    .filter(({ path }) => imported.has(path))
    .filter((source) => staticImports(source).some(({ name }) => LIBRARIES.test(placeOf(name))))
    .map(({ path }) => path);
}

/** Out: the libraries that a file of the Worker imports, or a file that it imports. In: the path from the root; gets the paths seen. */
function librariesOf(path: string, visited: Set<string>): string[] {
  if (visited.has(path)) return [];
  visited.add(path);
  const imports = staticImports(worker.get(path)!);
  return imports.flatMap(({ name }) => (name.startsWith("src/") ? librariesOf(name, visited) : [`${path} imports ${name}`]));
}

/** The `package.json` of each workspace, by its path. */
const manifests = import.meta.glob("../../{packages/*,src/model}/package.json", { eager: true }) as Record<
  string,
  { default: { readonly version: string; readonly devDependencies?: Readonly<Record<string, string>> } }
>;

describe("the packages", () => {
  it("have the version of the root, and depend on each other with it", () => {
    expect(Object.keys(manifests)).toHaveLength(6);
    const versions = Object.entries(manifests).map(([path, { default: manifest }]) => {
      const own = Object.entries(manifest.devDependencies ?? {}).filter(([name]) => name.startsWith("@item-vault/"));
      return { path, versions: [manifest.version, ...own.map(([, range]) => range)] };
    });
    expect(versions.filter((one) => one.versions.some((version) => version !== root.version))).toEqual([]);
  });

  it("are read by these tests", () => {
    expect(of("client").length).toBeGreaterThan(5);
    expect(of("transfer").length).toBeGreaterThan(50);
    expect(of("cli").length).toBeGreaterThan(60);
    expect(of("console").length).toBeGreaterThan(120);
    expect(sources.flatMap(staticImports).length).toBeGreaterThan(800);
  });

  it("import no file of another package by its path", () => {
    const violations = sources.flatMap((source) =>
      importsOf(source)
        .filter(({ name }) => isFile(name) && !name.startsWith(`${source.path.split("/", 2).join("/")}/`))
        .map(({ name }) => `${source.path} imports ${name}`),
    );
    expect(violations).toEqual([]);
  });

  it("offer others only what one of them imports", () => {
    const imported = new Set(sources.flatMap(importsOf).map(({ name }) => name));
    expect([...entries.keys()].filter((name) => !imported.has(name))).toEqual([]);
    expect(entries.size).toBeGreaterThan(10);
  });
});

describe("the client", () => {
  it("imports its own files only", () => {
    const foreign = of("client").flatMap((source) =>
      importsOf(source).filter(({ name }) => !/^packages\/client\/src\/[\w-]+\.ts$/.test(name)),
    );
    expect(foreign).toEqual([]);
  });

  it("uses nothing that only Node has", () => {
    const nodeOnly = /\b(process|Buffer|require|__dirname|setImmediate)\b[.(]/;
    expect(of("client").filter(({ code }) => nodeOnly.test(code))).toEqual([]);
  });
});

describe("the command line", () => {
  it("imports only the folders and libraries that a folder may import", () => {
    expect(violationsOf("cli", MAY_IMPORT)).toEqual([]);
  });

  it("loads libraries by `import()`, or in a file that is loaded so", () => {
    expect(eagerlyLoaded([...of("cli"), ...of("transfer")])).toEqual([]);
  });

  it("loads the module of a command by `import()`", () => {
    const tables = of("cli").filter(({ path }) => /\/(table|actions)\.ts$/.test(path));
    const rows = tables.flatMap(({ text }) => [...text.matchAll(/^ {4}load: (.*)$/gm)].map(([, load]) => load));
    expect(rows.filter((load) => !/ \(?(await )?import\(/.test(load!))).toEqual([]);
    expect(rows.length).toBeGreaterThan(20);
  });
});

describe("the host", () => {
  it("imports its own files, those of Node, the rules of the model and the parser of wrangler.toml", () => {
    const foreign = of("host").flatMap((source) =>
      importsOf(source).filter(({ name }) => !/^(packages\/host\/src\/|node:|@item-vault\/model\/|smol-toml$)/.test(name)),
    );
    expect(foreign).toEqual([]);
  });
});

describe("the transfer of Items", () => {
  it("imports only the folders and libraries that a folder may import", () => {
    expect(violationsOf("transfer", TRANSFER_MAY_IMPORT)).toEqual([]);
  });
});

describe("the console", () => {
  it("imports only the folders and packages that a folder may import, so nothing of the server", () => {
    expect(violationsOf("console", CONSOLE_MAY_IMPORT)).toEqual([]);
  });

  it("loads libraries, but for those of all views, in files that are loaded by `import()`", () => {
    expect(eagerlyLoaded(of("console"))).toEqual([]);
  });

  it("loads by `import()` its own files only", () => {
    const loaded = of("console").flatMap((source) => importsOf(source).filter(({ kind }) => kind === "dynamic"));
    expect(loaded.filter(({ name }) => !name.startsWith("packages/console/"))).toEqual([]);
  });

  it("shares with the Worker only files without libraries, whose size the page would load", () => {
    const visited = new Set<string>();
    const imported = new Set([...of("console"), ...of("transfer")].flatMap(importsOf).map(({ name }) => name));
    const shared = [...entries].filter(([name]) => name.startsWith(MODEL) && imported.has(name));
    expect(shared.flatMap(([, path]) => librariesOf(path, visited))).toEqual([]);
    expect(visited.size).toBeGreaterThan(8);
  });

  it("writes nothing but the look and the dismissed first steps to storage, nothing to cookies or the browser's console, and makes no markup or code of a text", () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|(local|session)Storage|indexedDB|document\.cookie|\bconsole\.\w+\(/i;
    const violations = of("console").filter(({ code }) => forbidden.test(code));
    expect(violations.map(({ path }) => path)).toEqual(["packages/console/src/ui/look.ts"]);
  });
});
