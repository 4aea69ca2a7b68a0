import { appendFile, readFile, stat } from "node:fs/promises";
import { SECRET_CHARACTERS_MIN } from "@item-vault/model/limits";
import { parseDotenv } from "@item-vault/transfer/dotenv";
import { CliError } from "../../frame/failure.ts";
import type { Found } from "./found.ts";
import { GENERATORS, OPTIONAL_SECRETS, secretLines } from "./generate.ts";

/** The secrets of a deployment. One that the Worker has is never replaced, and none is printed or passed on a command line. */

export interface SecretPlan {
  readonly name: string;
  readonly from: "worker" | "file" | "generated" | "nowhere";
  /** The value from the file. */
  readonly value?: string;
}

/**
 * Where each required secret comes from. `mayGenerate`: whether a user sees where the new ones are kept. Errors: throws a CliError when the
 * file may be read by others or has placeholders, and when the root keys of a database that is in use are missing.
 */
export async function planSecrets(
  required: readonly string[],
  { worker, database }: Pick<Found, "worker" | "database">,
  path: string,
  mayGenerate: boolean,
): Promise<SecretPlan[]> {
  const file = await readSecrets(path);
  const has = (name: string) => worker?.bindings.some((binding) => binding.type === "secret_text" && binding.name === name);
  const plans = required.map((name): SecretPlan => {
    const value = file.get(name);
    if (has(name)) return { name, from: "worker" };
    if (value) return { name, from: "file", value };
    if (name === "ROOT_KEYS" && database?.inUse) throw keysMissing(path);
    return { name, from: mayGenerate && name in GENERATORS ? "generated" : "nowhere" };
  });
  const optional = OPTIONAL_SECRETS.flatMap((name): SecretPlan[] => {
    const value = file.get(name);
    return value && !has(name) ? [{ name, from: "file", value }] : [];
  });
  return [...plans, ...optional];
}

const keysMissing = (path: string): CliError =>
  new CliError("The database has data, but no ROOT_KEYS are set", {
    exit: "conflict",
    hint: `Its data can only be decrypted with the original ROOT_KEYS. Write them into ${path} and start again.`,
  });

/** Throws a CliError that says how to set what is missing. Cloudflare sets a secret alone only for a Worker that is deployed. */
export function requireSecrets(plans: readonly SecretPlan[], path: string, isDeployed: boolean): void {
  const missing = plans.filter(({ from }) => from === "nowhere").map(({ name }) => name);
  if (missing.length === 0) return;
  throw new CliError(`These secrets are not set: ${missing.join(", ")}`, {
    exit: "usage",
    hint:
      `In a terminal the command generates them. Or write them into ${path} (mode 600)` +
      (isDeployed ? `, or set each: npx wrangler secret put ${missing[0]}` : "."),
  });
}

/**
 * Generates what is missing and adds it to the file, before anything else is done: a deployment that stops later goes on with it. Out: the
 * values that the Worker does not have yet.
 */
export async function makeSecrets(plans: readonly SecretPlan[], path: string): Promise<Record<string, string>> {
  const made = await generateSecrets(
    plans.filter(({ from }) => from === "generated").map(({ name }) => name),
    path,
  );
  const known = plans.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(known), ...made };
}

/** Generates secrets and adds them to the file. Returns them by their names. */
export async function generateSecrets(names: readonly string[], path: string): Promise<Record<string, string>> {
  const made = Object.fromEntries(names.map((name) => [name, GENERATORS[name]!()]));
  if (names.length > 0) {
    const text = await readFile(path, "utf8").catch(() => NOTE);
    // A new file gets this mode; that of an existing one is checked when it is read.
    await appendFile(path, `${text === NOTE ? NOTE : text.endsWith("\n") ? "" : "\n"}${secretLines(made)}`, {
      mode: 0o600,
      flush: true,
    });
  }
  return made;
}

const NOTE = `# The secrets of a deployment of Item Vault. ROOT_KEYS decrypts every vault; without it none can be decrypted.
# Keep a copy offline, apart from every backup of the database.
`;

/** Reads the secrets of a file, which may be missing. Throws a CliError if its mode has one of the bits that must be closed, and for a weak secret. */
export async function readSecrets(path: string, closed = 0o077): Promise<Map<string, string>> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return new Map();
  if (process.platform !== "win32" && (found.mode & closed) !== 0)
    throw new CliError(`Other users can read ${path}`, { exit: "usage", hint: `Run \`chmod 600 ${path}\`.` });
  const secrets = parseDotenv(await readFile(path, "utf8"), path);
  const [weak] = [...secrets].find(([name, value]) => value.startsWith("replace-me") || isWeak(name, value)) ?? [];
  if (weak !== undefined) throw new CliError(`${path}: the value of ${weak} is a placeholder, or too short`, { exit: "usage" });
  return secrets;
}

/** Whether the service would refuse the secret, because it is short. */
const isWeak = (name: string, value: string): boolean => name.endsWith("_TOKEN") && value.length < SECRET_CHARACTERS_MIN;
