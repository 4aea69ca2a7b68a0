/** The secrets of a local service: `.dev.vars`, which wrangler reads and git ignores. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Makes the file with random secrets when it is missing; never changes or prints one that is there.
 * Out: the value of ADMIN_TOKEN. Errors: throws when the file has none.
 */
export function ensureSecrets(path: string): { ADMIN_TOKEN: string } {
  if (!existsSync(path)) {
    const rootKeys = { active: "k1", keys: { k1: randomBytes(32).toString("base64") } };
    const lines = [
      "# Made by `npm start`. Whoever has ROOT_KEYS reads every vault; without them nobody does.",
      `ADMIN_TOKEN=${randomBytes(32).toString("base64url")}`,
      `ROOT_KEYS='${JSON.stringify(rootKeys)}'`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx" });
  }
  const ADMIN_TOKEN = /^ADMIN_TOKEN\s*=\s*["']?([^"'\s]+)/m.exec(readFileSync(path, "utf8"))?.[1];
  if (!ADMIN_TOKEN) throw new Error(`${path} has no ADMIN_TOKEN: the demo vault is made with it`);
  return { ADMIN_TOKEN };
}

// `npm run secrets -- FILE`: makes the file for a deployment.
if (import.meta.main) {
  const path = process.argv[2];
  if (!path) throw new Error("usage: npm run secrets -- FILE");
  if (existsSync(path)) throw new Error(`${path} is there already, and stays as it is`);
  ensureSecrets(path);
  console.log(`${path} holds new secrets. Keep a copy where no backup of the database is.`);
}
