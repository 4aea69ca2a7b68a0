/** The sources of the tree with their imports, for the tests of the architecture. Without tests, and without what is generated. */

declare global {
  interface ImportMeta {
    /** A feature of Vite: the files that match, as texts or as modules, which it reads while it transforms the file of the call. */
    readonly glob: {
      (pattern: string | string[], options: { query: "?raw"; import: "default"; eager: true }): Record<string, string>;
      (pattern: string, options: { eager: true }): Record<string, object>;
    };
  }
}

export interface Source {
  /** The path from the root: `packages/cli/src/frame/io.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text without comments. */
  readonly code: string;
}

export interface Import {
  /** The path of a file from the root, or the name of a package or of a module of Node. */
  readonly name: string;
  readonly kind: "static" | "type" | "dynamic";
}

const files = import.meta.glob(
  [
    "../../{src,packages,scripts,bench}/**/*.{ts,tsx}",
    "../**/*.ts",
    "!../../**/*.test.ts",
    "!../../**/{node_modules,dist}/**",
    "!../../packages/client/src/schema.ts",
  ],
  { query: "?raw", import: "default", eager: true },
);

export const sources: readonly Source[] = Object.entries(files).map(([key, text]) => ({
  path: new URL(key, "https://root/test/support/").pathname.slice(1),
  text,
  code: text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, ""),
}));

/** The packages that others import. Those without a build name their sources as texts, and `client` names them under a condition. */
const manifests = import.meta.glob(["../../{packages/{client,transfer},src/model}/package.json"], {
  query: "?raw",
  import: "default",
  eager: true,
});

type Exports = Readonly<Record<string, string | { readonly source: string }>>;

/** The files that other packages import, by the name of the import: `@item-vault/model/ids` is `src/model/ids.ts`. */
export const entries: ReadonlyMap<string, string> = new Map(
  Object.entries(manifests).flatMap(([key, text]) => {
    const { name, exports } = JSON.parse(text) as { readonly name: string; readonly exports: Exports };
    const folder = new URL(key, "https://root/test/support/");
    return Object.entries(exports).map(([path, target]): [string, string] => [
      `${name}${path.slice(1)}`,
      new URL(typeof target === "string" ? target : target.source, folder).pathname.slice(1),
    ]);
  }),
);

const IMPORT = /(?:^(?:import|export)( type)? [^;"]*?from |^import |\bimport(\())"([^"]+)"/gm;

export const importsOf = ({ path, code }: Source): Import[] =>
  [...code.matchAll(IMPORT)].map(([, type, parenthesis, name = ""]) => ({
    name: name.startsWith(".") ? new URL(name, `https://root/${path}`).pathname.slice(1) : name,
    kind: parenthesis ? "dynamic" : type ? "type" : "static",
  }));

/** The folder of a path: `src/store/d1`. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
