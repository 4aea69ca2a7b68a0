/**
 * `npm run build` writes what is served and installed: `dist/assets/` (the API's document and its reference page), `client/dist/` and
 * `cli/dist/`. `node scripts/build.ts assets` writes the first only: wrangler runs it before it bundles the Worker.
 */
import { document } from "../openapi/document.ts";
import { buildAssets } from "./build/assets.ts";
import { buildPackages } from "./build/bundle.ts";

buildAssets(document);
if (process.argv[2] !== "assets") await buildPackages();
