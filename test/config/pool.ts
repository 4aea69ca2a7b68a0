import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** The configuration of the pool that runs tests inside workerd. Beside wrangler.toml, because wrangler resolves paths from its folder. */
const COPY = "./wrangler.pool.toml";

/** The flag with which the pool runs no test: its own code imports `env`. */
const REMOVED = ', "disallow_importable_env"';

/** Returns the text of wrangler.toml without that flag. Throws if the flag is absent. */
export function poolConfiguration(text: string): string {
  if (!text.includes(REMOVED)) throw new Error(`wrangler.toml does not contain ${REMOVED}`);
  return text.replace(REMOVED, "");
}

/** Writes the configuration of the pool. Returns its path. An up-to-date copy stays, because another test run may read it. */
export function writePoolConfiguration(): string {
  const text = poolConfiguration(readFileSync("wrangler.toml", "utf8"));
  if (!existsSync(COPY) || readFileSync(COPY, "utf8") !== text) writeFileSync(COPY, text);
  return COPY;
}
