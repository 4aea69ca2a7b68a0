/** Creates `.dev.vars`, the random secrets of a local service, which wrangler reads. */
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { GENERATORS, secretLines } from "../packages/cli/src/admin/deploy/generate.ts";

/** wrangler reads these from `.dev.vars` by itself, as secrets (`secrets.required` in wrangler.toml). */
const READ_BY_WRANGLER = new Set(["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"]);

/** Each with a new value. */
const newSecrets = (...names: readonly string[]): string =>
  secretLines(Object.fromEntries(names.map((name) => [name, GENERATORS[name]!()])));

/**
 * Creates the file with random secrets when it is missing. To an existing file it adds ADMIN_TOKEN and METRICS_TOKEN where they are
 * missing, and it sets mode 0600 where others may read it; otherwise it never changes one. It prints no secret. For a backup that is to be restored it makes no ROOT_KEYS.
 * Returns the value of ADMIN_TOKEN, and the names of the other variables of the file, which wrangler does not read by itself. Throws when ADMIN_TOKEN is
 * empty, and before a restore when the file has no ROOT_KEYS.
 */
export function ensureSecrets(path: string, restores = false): { adminToken: string; variables: readonly string[] } {
  if (restores && !parseEnv(existsSync(path) ? readFileSync(path, "utf8") : "").ROOT_KEYS)
    throw new Error(`${path} has no ROOT_KEYS. A restore needs those of the deployment of the backup: write them into ${path}`);
  if (!existsSync(path)) {
    const heading = "# Created by scripts/secrets.ts. ROOT_KEYS decrypts every vault. Without it no vault can be decrypted.\n";
    writeFileSync(path, heading + newSecrets("ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"), { mode: 0o600, flag: "wx" });
  }
  // Who writes the file by hand gets the mode of the umask, which lets everybody read it on most machines. Only its owner may change the mode.
  const { mode, uid } = statSync(path);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o600);
  const text = readFileSync(path, "utf8");
  const lacking = ["ADMIN_TOKEN", "METRICS_TOKEN"].filter((name) => parseEnv(text)[name] === undefined);
  if (lacking.length > 0) appendFileSync(path, (text.endsWith("\n") ? "" : "\n") + newSecrets(...lacking));
  const set = parseEnv(readFileSync(path, "utf8")) as Record<string, string>;
  const { ADMIN_TOKEN } = set;
  if (!ADMIN_TOKEN) throw new Error(`ADMIN_TOKEN is empty in ${path}`);
  const variables = Object.keys(set).filter((name) => !READ_BY_WRANGLER.has(name));
  return { adminToken: ADMIN_TOKEN, variables };
}
