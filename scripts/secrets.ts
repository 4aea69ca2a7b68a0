/** Creates `.dev.vars`, the random secrets of a local service, which wrangler reads. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { GENERATORS, secretLines } from "../cli/src/admin/deploy/generate.ts";

/** wrangler reads these from `.dev.vars` by itself, as secrets (`secrets.required` in wrangler.toml). */
const READ_BY_WRANGLER = new Set(["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"]);

/** Each with a new value. */
const newSecrets = (...names: readonly string[]): string =>
  secretLines(Object.fromEntries(names.map((name) => [name, GENERATORS[name]!()])));

/**
 * Creates the file with random secrets when it is missing. To a file from before METRICS_TOKEN it adds that secret; otherwise it
 * never changes an existing file. It prints no secret.
 * Out: the value of ADMIN_TOKEN, and the other variables of the file, which wrangler does not read by itself. Throws when the file has
 * no ADMIN_TOKEN.
 */
export function ensureSecrets(path: string): { adminToken: string; variables: Readonly<Record<string, string>> } {
  if (!existsSync(path)) {
    const heading = "# Created by scripts/secrets.ts. ROOT_KEYS decrypts every vault. Without it no vault can be decrypted.\n";
    writeFileSync(path, heading + newSecrets("ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"), { mode: 0o600, flag: "wx" });
  }
  const text = readFileSync(path, "utf8");
  const set = parseEnv(text) as Record<string, string>;
  const { ADMIN_TOKEN, METRICS_TOKEN } = set;
  if (!ADMIN_TOKEN) throw new Error(`${path} has no ADMIN_TOKEN, which is needed to create the demo vault`);
  if (METRICS_TOKEN === undefined) appendFileSync(path, (text.endsWith("\n") ? "" : "\n") + newSecrets("METRICS_TOKEN"));
  const others = Object.entries(set).filter(([name]) => !READ_BY_WRANGLER.has(name));
  return { adminToken: ADMIN_TOKEN, variables: Object.fromEntries(others) };
}
