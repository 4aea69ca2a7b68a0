import { enableCompileCache } from "node:module";
import { resolve } from "node:path";

/**
 * Keeps the compiled code of vitest, wrangler and Miniflare between test runs (nodejs.org/api/module.html#module-compile-cache): each is
 * megabytes of source, which every process of a run would compile again. `npm ci` deletes the folder.
 */
export function useCompileCache(): void {
  const folder = (process.env["NODE_COMPILE_CACHE"] ??= resolve("node_modules/.cache/compiled"));
  enableCompileCache(folder);
}
