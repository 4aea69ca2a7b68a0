import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import cli from "../../packages/cli/package.json" with { type: "json" };
import { licencesOf } from "./licences.ts";
import { type Files, type PackedFiles, releaseOf, within } from "./release.ts";
import { bundleWorker, FOLDER as WORKER } from "./worker.ts";
import { UNFINISHED, writeFile, writeFolder } from "./write.ts";

/**
 * The packages that people install: `packages/client/dist/`, one file of code, and `packages/cli/dist/`, with a file for what each command loads, so that
 * `item-vault` starts without the code of the others. They have no dependencies. The command line also carries the Worker, for `item-vault admin deploy`.
 */

const TSC = "node_modules/typescript/bin/tsc";

interface Package {
  /** The folder of the package. */
  readonly workspace: string;
  readonly entry: string;
  /** The name of its first file in `dist/`, without its ending. */
  readonly out: string;
  readonly options: BuildOptions;
  /** The files of `dist/` that are no code of the package. */
  readonly more: () => Promise<Built>;
}

const CLIENT: Package = {
  workspace: "packages/client",
  entry: "packages/client/src/index.ts",
  out: "index",
  options: { platform: "neutral", target: "es2022" },
  more: () => declarationsOf("packages/client"),
};

const CLI: Package = {
  workspace: "packages/cli",
  entry: "packages/cli/src/main.ts",
  out: "item-vault",
  options: {
    platform: "node",
    target: "node20",
    minify: true,
    define: { CLI_VERSION: JSON.stringify(cli.version) },
    // A bundled CommonJS library requires modules of Node, and an ES module has no `require` of its own.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  },
  more: bundleWorker,
};

interface Built {
  readonly files: Files;
  /** The paths of the sources of a bundle. */
  readonly inputs: readonly string[];
}

/**
 * Writes the packages, and the file of the release, which the command line carries beside the Worker. Throws when esbuild or tsc does.
 */
export async function buildPackages(): Promise<void> {
  const [client, program] = await Promise.all([CLIENT, CLI].map(distOf));
  const packages = [packedFiles(CLIENT, client!), packedFiles(CLI, program!)];
  const release = `${JSON.stringify(releaseOf(within(`${WORKER}/`, program!), packages), undefined, 2)}\n`;
  writeFolder("packages/client/dist", client!);
  writeFolder("packages/cli/dist", { ...program, [`${WORKER}/release.json`]: release });
  writeFile("dist/release.json", release);
}

/** The files of `dist/` of a package. */
async function distOf({ entry, out, options, more }: Package): Promise<Files> {
  const [code, others] = await Promise.all([bundle(entry, out, options), more()]);
  return { ...code.files, ...others.files, ...licences([...code.inputs, ...others.inputs]) };
}

/** What npm packs besides what `files` of package.json names. */
const ALWAYS_PACKED = ["LICENSE", "README.md", "package.json"];

/** Returns the files that npm packs, from those of `dist/`. */
function packedFiles({ workspace }: Package, dist: Files): PackedFiles {
  const { name, version, files } = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8")) as Manifest;
  const others = [
    ...ALWAYS_PACKED,
    ...files.filter((folder) => folder !== "dist").flatMap((folder) => pathsIn(workspace, folder)),
  ];
  const built = Object.entries(dist).map(([path, content]) => [`dist/${path}`, content] as const);
  return {
    name,
    version,
    files: Object.fromEntries([...built, ...others.map((path) => [path, readFileSync(join(workspace, path))] as const)]),
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
}

/** The files of a folder of a package, by their paths in the package. */
const pathsIn = (workspace: string, folder: string): string[] =>
  readdirSync(join(workspace, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(workspace, join(entry.parentPath, entry.name)));

/** `entry` is the name of the file of the entry, without its ending. */
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

function licences(inputs: readonly string[]): Files {
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
