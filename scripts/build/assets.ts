import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import type { Document } from "../../src/api/openapi/types.ts";
import { loadContract } from "../contract.ts";
import { consoleFiles, FOR_BROWSERS } from "./console.ts";
import { referenceFiles } from "./reference/page.ts";
import { writeFolder } from "./write.ts";

/** The static files that the service serves beside its API (contract 19.10). */

const FOLDER = "dist/assets";
/** Its files are served as they are. `_headers` is not served: Cloudflare reads it. */
const STATIC = join(import.meta.dirname, "static");

const REFERENCE = join(import.meta.dirname, "reference");

export const buildAssets = async (document: Document): Promise<void> => writeFolder(FOLDER, await assetFiles(document));

/** The files by their paths. */
export async function assetFiles(document: Document): Promise<Record<string, string | Uint8Array>> {
  const files = readdirSync(STATIC, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return {
    ...Object.fromEntries(paths.map((path) => [relative(STATIC, path), readFileSync(path)])),
    "openapi.json": `${JSON.stringify(document, undefined, 2)}\n`,
    ...referenceFiles(document, loadContract()),
    "docs/reference.js": await referenceScript(),
    // The colours and fonts of the console.
    "docs/style.css":
      readFileSync("packages/console/src/style/tokens.css", "utf8") + readFileSync(join(REFERENCE, "style.css"), "utf8"),
    ...(await consoleFiles()),
  };
}

async function referenceScript(): Promise<Uint8Array> {
  const { outputFiles } = await build({ ...FOR_BROWSERS, entryPoints: [join(REFERENCE, "browser/reference.ts")] });
  return outputFiles[0]!.contents;
}
