/** Creates files with random secrets: `.dev.vars` for a local service, which wrangler reads, or a file for a deployment. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Creates the file with random secrets when it is missing. Never changes or prints an existing file.
 * Out: the value of ADMIN_TOKEN. Throws when the file has none.
 */
export function ensureSecrets(path: string): { ADMIN_TOKEN: string } {
  if (!existsSync(path)) {
    const rootKeys = { active: "k1", keys: { k1: randomBytes(32).toString("base64") } };
    const lines = [
      "# Created by scripts/secrets.ts. ROOT_KEYS decrypts every vault. Without it no vault can be decrypted.",
      `ADMIN_TOKEN=${randomBytes(32).toString("base64url")}`,
      `ROOT_KEYS='${JSON.stringify(rootKeys)}'`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx" });
  }
  const ADMIN_TOKEN = /^ADMIN_TOKEN\s*=\s*["']?([^"'\s]+)/m.exec(readFileSync(path, "utf8"))?.[1];
  if (!ADMIN_TOKEN) throw new Error(`${path} has no ADMIN_TOKEN, which is needed to create the demo vault`);
  return { ADMIN_TOKEN };
}

// `npm run secrets -- FILE` creates the file for a deployment.
if (import.meta.main) {
  const path = process.argv[2];
  if (!path) throw new Error("usage: npm run secrets -- FILE");
  if (existsSync(path)) throw new Error(`${path} exists already and was not changed`);
  ensureSecrets(path);
  console.log(`${path} contains new secrets. Keep a copy offline, apart from every backup of the database.`);
}
