/**
 * `npm run build` writes what is served and installed: `dist/assets/` (the API's document and its reference page), `client/dist/` and
 * `cli/dist/`. `node scripts/build.ts assets` writes the first only: wrangler runs it before it bundles the Worker.
 */
import { document } from "../openapi/document.ts";
import { buildAssets } from "./build/assets.ts";
import { buildPackages } from "./build/packages.ts";

/** Throws when a package does not compile. */
export async function build(): Promise<void> {
  buildAssets(document);
  await buildPackages();
}

if (import.meta.main) await (process.argv[2] === "assets" ? buildAssets(document) : build());
