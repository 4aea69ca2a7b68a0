import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import cli from "../../cli/package.json" with { type: "json" };
import { licencesOf } from "./licences.ts";
import { bundleWorker } from "./worker.ts";
import { UNFINISHED, writeFolder } from "./write.ts";

/**
 * The packages that people install: `client/dist/`, one file of code, and `cli/dist/`, with a file for what each command loads, so that
 * `item-vault` starts without the code of the others. They have no dependencies. The command line also carries the Worker, for `item-vault admin deploy`.
 */

const TSC = "node_modules/typescript/bin/tsc";

interface Package extends BuildOptions {
  readonly entry: string;
  readonly file: string;
}

const CLIENT: Package = {
  entry: "client/src/index.ts",
  file: "client/dist/index.js",
  platform: "neutral",
  target: "es2022",
};

const CLI: Package = {
  entry: "cli/src/main.ts",
  file: "cli/dist/item-vault.js",
  platform: "node",
  target: "node20",
  minify: true,
  define: { CLI_VERSION: JSON.stringify(cli.version) },
  // A bundled CommonJS library requires modules of Node, and an ES module has no `require` of its own.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
};

interface Built {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** The paths of the sources of a bundle. */
  readonly inputs: readonly string[];
}

/** Writes the folders of the packages whose sources exist. Throws when esbuild or tsc does. */
export async function buildPackages(): Promise<void> {
  const packages = [
    { ...CLIENT, more: () => declarationsOf("client") },
    { ...CLI, more: bundleWorker },
  ];
  const builds = packages.filter(({ entry }) => existsSync(entry));
  await Promise.all(
    builds.map(async ({ entry, file, more, ...options }) => {
      const [code, others] = await Promise.all([bundle(entry, basename(file, ".js"), options), more()]);
      writeFolder(join(file, ".."), { ...code.files, ...others.files, ...licences([...code.inputs, ...others.inputs]) });
    }),
  );
}

/** In: the name of the file of the entry, without its ending. */
async function bundle(entry: string, name: string, options: BuildOptions): Promise<Built> {
  const { outputFiles, metafile } = await build({
    ...options,
    bundle: true,
    format: "esm",
    splitting: true,
    charset: "utf8",
    // `@item-vault/client` names its TypeScript under this condition, so the command line is built without a built client.
    conditions: ["source"],
    legalComments: "none",
    metafile: true,
    write: false,
    outdir: "dist",
    entryPoints: [{ in: entry, out: name }],
    logLevel: "warning",
  });
  const files = Object.fromEntries(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  return { files, inputs: Object.keys(metafile.inputs) };
}

function licences(inputs: readonly string[]): Built["files"] {
  const text = licencesOf(inputs);
  return text === "" ? {} : { "LICENSES.txt": text };
}

/** The declarations of a workspace's sources. They are not checked here: `npm run check` does that. */
async function declarationsOf(workspace: string): Promise<Built> {
  const folder = join(UNFINISHED, `${process.pid}-declarations`);
  // Not incremental: after an incremental run, tsc does not write again what somebody has deleted.
  const incremental = ["--incremental", "false", "--tsBuildInfoFile", "null"];
  const emission = ["--noEmit", "false", "--noCheck", "--declaration", "--emitDeclarationOnly", "--rootDir", `${workspace}/src`];
  await promisify(execFile)(process.execPath, [TSC, "-p", workspace, ...incremental, ...emission, "--outDir", folder]);
  const names = readdirSync(folder);
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
  rmSync(folder, { recursive: true });
  return { files, inputs: [] };
}
