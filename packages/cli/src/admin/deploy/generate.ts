import { randomBytes } from "node:crypto";

const randomToken = () => randomBytes(32).toString("base64url");

/** Makes a value of each secret of the service that can be random. */
export const GENERATORS: Readonly<Record<string, () => string>> = {
  ADMIN_TOKEN: randomToken,
  METRICS_TOKEN: randomToken,
  ROOT_KEYS: () => JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } }),
};

/** The secrets that a deployment may lack. wrangler.toml has the required ones (`secrets.required`). */
export const OPTIONAL_SECRETS: readonly string[] = ["TOKENS_NOT_BEFORE", "OIDC_CLIENT_SECRET"];

/** The lines of a file of secrets, which wrangler and `parseEnv` of Node read. */
export const secretLines = (secrets: Readonly<Record<string, string>>): string =>
  Object.entries(secrets)
    .map(([name, value]) => `${name}=${value.includes('"') ? `'${value}'` : value}\n`)
    .join("");
