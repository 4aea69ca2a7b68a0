import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Plugin } from "esbuild";

const LATER = "loaded-later";
/** What the views share, besides the start. */
const SHARED = ["failures", "state", "ui"];

/**
 * A plugin of esbuild that makes few scripts of the console: one of the modules that `app.tsx` needs, and one of the other modules that
 * the views share. `source`: the folder of the console's sources.
 *
 * esbuild makes one script for each set of entry points and `import()`s that need the same modules, which would be 24 scripts for the start
 * alone. Here each module loaded by `import()` also imports the start and the shared modules, so all of them need the same modules of these.
 */
export const fewScripts = (source: string): Plugin => ({
  name: "few-scripts",
  setup(build) {
    const shared = SHARED.flatMap((folder) => readdirSync(join(source, folder)).map((name) => join(folder, name)));
    const imports = ["app.tsx", ...shared].map((path) => resolve(source, path));
    build.onResolve({ filter: /^\.{1,2}\// }, async ({ kind, path, importer, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const resolved = await build.resolve(path, { kind: "import-statement", importer, resolveDir });
      // Relative, because esbuild makes the path of a module of another namespace a part of the hash in the name of its script.
      return { ...resolved, path: relative("", resolved.path), namespace: LATER };
    });
    build.onLoad({ filter: /./, namespace: LATER }, ({ path }) => ({
      contents: [
        ...imports.map((name) => `import ${JSON.stringify(name)};`),
        `export * from ${JSON.stringify(resolve(path))};`,
      ].join("\n"),
      resolveDir: resolve(source),
    }));
  },
});
