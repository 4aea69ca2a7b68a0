import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** Lets Node load the modules of the service, as wrangler bundles them: `cloudflare:workers`, and names out of a JSON file. */

const WORKERS = new URL("../../../packages/host/src/platform/workers-module.ts", import.meta.url).href;

export const registerService = () =>
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers" ? { url: WORKERS, shortCircuit: true } : next(specifier, context),
    load(url, context, next) {
      if (!url.endsWith("/package.json")) return next(url, context);
      const { version } = JSON.parse(readFileSync(fileURLToPath(url), "utf8")) as { version: string };
      return { format: "module", source: `export const version = ${JSON.stringify(version)};`, shortCircuit: true };
    },
  });
