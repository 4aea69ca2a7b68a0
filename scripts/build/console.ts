import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { fewScripts } from "./console-chunks.ts";
import { licencesOf } from "./licences.ts";

/** The files of the web console, which is served under /console/. The Worker works without them. */

const SOURCE = "packages/console/src";
const FOLDER = "console";

/** How esbuild makes what browsers run. */
export const FOR_BROWSERS = {
  bundle: true,
  format: "esm",
  target: ["chrome123", "firefox120", "safari17.5"], // the first with light-dark() of CSS
  charset: "utf8",
  minify: true,
  write: false,
  logLevel: "warning",
} as const satisfies BuildOptions;

/** The files by their paths below the assets. Scripts and styles have a hash of their content in their name, so they are cached for ever. */
export async function consoleFiles(): Promise<Record<string, string | Uint8Array>> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(SOURCE, "main.tsx"), join(SOURCE, "style/main.css")],
    outbase: SOURCE,
    outdir: join(FOLDER, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    ...FOR_BROWSERS,
    splitting: true,
    plugins: [fewScripts(SOURCE)],
    logOverride: { "ignored-bare-import": "silent" }, // of console-chunks.ts
    jsx: "automatic",
    jsxImportSource: "preact",
    conditions: ["source"],
    legalComments: "none",
    metafile: true,
  });
  const names = outputFiles.map(({ path }) => basename(path));
  const [script, style] = [".js", ".css"].map((extension) =>
    names.find((name) => name.startsWith("main-") && name.endsWith(extension)),
  );
  if (script === undefined || style === undefined) throw new Error("The build of the console has no script or no style");
  const entry = Object.entries(metafile.outputs).find(([path]) => basename(path) === script)![1];
  const preloaded = entry.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
  const index = page(script, style, preloaded);
  return {
    ...Object.fromEntries(outputFiles.map(({ path, contents }) => [join(FOLDER, "assets", basename(path)), contents])),
    [join(FOLDER, "index.html")]: index,
    // The address of logins (contract 28.3): Cloudflare serves it at /console/authorize.
    [join(FOLDER, "authorize.html")]: index,
    // The address to which the identity provider sends people back (contract 25.12).
    [join(FOLDER, "sign-in.html")]: index,
    [join(FOLDER, "LICENSES.txt")]: licencesOf(Object.keys(metafile.inputs)),
  };
}

/** Returns the page with its script, its style and the scripts that its script imports. */
function page(script: string, style: string, preloaded: readonly string[]): string {
  const preloads = preloaded.map((name) => `<link rel="modulepreload" href="/console/assets/${name}" />`).join("\n    ");
  return readFileSync(join(SOURCE, "index.html"), "utf8")
    .replace("<!-- preload -->", preloads)
    .replace("SCRIPT", `/console/assets/${script}`)
    .replace("STYLE", `/console/assets/${style}`);
}
