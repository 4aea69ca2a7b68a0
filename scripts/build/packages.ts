/** Bundles the packages of the workspaces, each into one file that runs on Node 20. */
import { readFileSync } from "node:fs";
import { build, type BuildOptions } from "esbuild";

const SHARED: BuildOptions = {
  bundle: true,
  format: "esm",
  target: "node20",
  conditions: ["source"],
  minify: true,
  legalComments: "external",
  logLevel: "warning",
};

const { version } = JSON.parse(readFileSync("cli/package.json", "utf8")) as { version: string };

/** Bundles the command line into `outfile`, by default where its launcher expects it. */
export async function bundleCli(outfile = "cli/dist/item-vault.js"): Promise<void> {
  await build({
    ...SHARED,
    entryPoints: ["cli/src/main.ts"],
    outfile,
    platform: "node",
    define: { CLI_VERSION: JSON.stringify(version) },
    // Libraries in CommonJS call require.
    banner: { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' },
  });
}
