/** Creates `.dev.vars`, the random secrets of a local service, which wrangler reads. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { GENERATORS, secretLines } from "../cli/src/admin/deploy/generate.ts";

/** Each with a new value. */
const newSecrets = (...names: readonly string[]): string =>
  secretLines(Object.fromEntries(names.map((name) => [name, GENERATORS[name]!()])));

/**
 * Creates the file with random secrets when it is missing. To a file from before METRICS_TOKEN it adds that secret; otherwise it
 * never changes an existing file. It prints no secret.
 * Out: the value of ADMIN_TOKEN, and that of the optional TOKENS_NOT_BEFORE. Throws when the file has no ADMIN_TOKEN.
 */
export function ensureSecrets(path: string): { ADMIN_TOKEN: string; TOKENS_NOT_BEFORE: string | undefined } {
  if (!existsSync(path)) {
    const heading = "# Created by scripts/secrets.ts. ROOT_KEYS decrypts every vault. Without it no vault can be decrypted.\n";
    writeFileSync(path, heading + newSecrets("ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"), { mode: 0o600, flag: "wx" });
  }
  const text = readFileSync(path, "utf8");
  const { ADMIN_TOKEN, METRICS_TOKEN, TOKENS_NOT_BEFORE } = parseEnv(text);
  if (!ADMIN_TOKEN) throw new Error(`${path} has no ADMIN_TOKEN, which is needed to create the demo vault`);
  if (METRICS_TOKEN === undefined) appendFileSync(path, (text.endsWith("\n") ? "" : "\n") + newSecrets("METRICS_TOKEN"));
  return { ADMIN_TOKEN, TOKENS_NOT_BEFORE };
}
