/**
 * `npm run build` writes what is served and installed: `dist/assets/` (the API's document and its reference page), `packages/client/dist/` and
 * `packages/cli/dist/`. `node scripts/build.ts assets` writes the first only: wrangler runs it before it bundles the Worker. With ASSETS_BUILT=1 it
 * does nothing: `npm test` has written them, and starts several Workers.
 */

async function buildAssets(): Promise<void> {
  const [{ document }, assets] = await Promise.all([import("../src/api/openapi/document.ts"), import("./build/assets.ts")]);
  await assets.buildAssets(document);
}

/** Throws when a package does not compile. */
export async function build(): Promise<void> {
  await buildAssets();
  const { buildPackages } = await import("./build/packages.ts");
  await buildPackages();
}

async function runCommand(): Promise<void> {
  if (process.argv[2] !== "assets") await build();
  else if (process.env["ASSETS_BUILT"] !== "1") await buildAssets();
}

if (import.meta.main) await runCommand();
