import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { build } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { document } from "../../src/api/openapi/document.ts";
import { assetFiles } from "./assets.ts";

/**
 * The Worker as the package of the command line carries it: one file of code, its migrations, its static files, and a wrangler.toml for
 * them. `item-vault admin deploy` deploys it where there is no checkout.
 */

/** The folder of the Worker in `dist/` of the package. */
export const FOLDER = "worker";

/**
 * The options of wrangler (its `bundleWorker`), so that `wrangler deploy` in a checkout makes the same bytes: a deployment runs the script of
 * its release, whichever of both has made it. `npm run bundle` compares them.
 */
const OPTIONS = {
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2024",
  define: { "navigator.userAgent": '"Cloudflare-Workers"' }, // as in workerd; libraries ask for browsers by it
  supported: { "import-source": true, using: true },
  keepNames: true,
  minify: true,
  sourcemap: true, // only for the comment at the end, which names it
  metafile: true,
  write: false,
  logLevel: "warning",
} as const;

const NAME = "index.js";

/** Bundles the Worker of an entry module. Returns one file, and the paths of its sources. Throws when esbuild does. */
export async function bundleCode(entry = "src/index.ts"): Promise<{ code: Uint8Array; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    entryPoints: [entry],
    outfile: NAME,
  });
  return { code: outputFiles.find(({ path }) => basename(path) === NAME)!.contents, inputs: Object.keys(metafile.inputs) };
}

/** Returns the files by their paths in the package, and the paths of the sources of the code. Throws when esbuild does. */
export async function bundleWorker(): Promise<{ files: Record<string, string | Uint8Array>; inputs: string[] }> {
  const { code, inputs } = await bundleCode();
  const migrations = readdirSync("migrations").map((name) => [`migrations/${name}`, readFileSync(`migrations/${name}`)] as const);
  const assets = Object.entries(await assetFiles(document)).map(([path, content]) => [`assets/${path}`, content] as const);
  const files = {
    [`code/${NAME}`]: code,
    "package.json": `${JSON.stringify({ version: manifest.version, type: "module" })}\n`,
    "wrangler.toml": bundledConfiguration(readFileSync("wrangler.toml", "utf8")),
    ...Object.fromEntries([...migrations, ...assets]),
  };
  return {
    files: Object.fromEntries(Object.entries(files).map(([path, content]) => [`${FOLDER}/${path}`, content])),
    inputs,
  };
}

/** What differs between a checkout and the bundle, in wrangler.toml. */
const CHANGES = [
  [/^main = .*$/m, 'main = "code/index.js"\nno_bundle = true # wrangler takes the other files of the folder `code` as modules'],
  [/^minify = .*\n/m, ""],
  [/^directory = "dist\/assets"$/m, 'directory = "assets"'],
  [/\n(?:^#.*\n)*^\[build\]\n(?:.+\n)*/m, ""],
] as const;

/** Throws when wrangler.toml has no place for a change. */
function bundledConfiguration(text: string): string {
  return CHANGES.reduce((config, [pattern, replacement]) => {
    if (!pattern.test(config)) throw new Error(`wrangler.toml has nothing like ${pattern.source}`);
    return config.replace(pattern, replacement);
  }, text);
}
