/** Creates files with random secrets: `.dev.vars` for a local service, which wrangler reads, or a file for a deployment. */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

const randomToken = () => randomBytes(32).toString("base64url");

/**
 * Creates the file with random secrets when it is missing. To a file from before METRICS_TOKEN it adds that secret; otherwise it
 * never changes an existing file. It prints no secret.
 * Out: the value of ADMIN_TOKEN, and that of the optional TOKENS_NOT_BEFORE. Throws when the file has no ADMIN_TOKEN.
 */
export function ensureSecrets(path: string): { ADMIN_TOKEN: string; TOKENS_NOT_BEFORE: string | undefined } {
  if (!existsSync(path)) {
    const rootKeys = { active: "k1", keys: { k1: randomBytes(32).toString("base64") } };
    const lines = [
      "# Created by scripts/secrets.ts. ROOT_KEYS decrypts every vault. Without it no vault can be decrypted.",
      `ADMIN_TOKEN=${randomToken()}`,
      `METRICS_TOKEN=${randomToken()}`,
      `ROOT_KEYS='${JSON.stringify(rootKeys)}'`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx" });
  }
  const text = readFileSync(path, "utf8");
  const { ADMIN_TOKEN, METRICS_TOKEN, TOKENS_NOT_BEFORE } = parseEnv(text);
  if (!ADMIN_TOKEN) throw new Error(`${path} has no ADMIN_TOKEN, which is needed to create the demo vault`);
  if (METRICS_TOKEN === undefined) appendFileSync(path, `${text.endsWith("\n") ? "" : "\n"}METRICS_TOKEN=${randomToken()}\n`);
  return { ADMIN_TOKEN, TOKENS_NOT_BEFORE };
}

// `npm run secrets -- FILE` creates the file for a deployment.
if (import.meta.main) {
  const path = process.argv[2];
  if (!path) throw new Error("usage: npm run secrets -- FILE");
  if (existsSync(path)) throw new Error(`${path} exists already and was not changed`);
  ensureSecrets(path);
  console.log(`${path} contains new secrets. Keep a copy offline, apart from every backup of the database.`);
}
