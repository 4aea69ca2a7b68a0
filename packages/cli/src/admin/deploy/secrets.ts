import { appendFile, readFile, stat } from "node:fs/promises";
import { SECRET_CHARACTERS_MIN } from "@item-vault/model/limits";
import { parseDotenv } from "@item-vault/transfer/dotenv";
import { CliError } from "../../frame/failure.ts";
import { GENERATORS, OPTIONAL_SECRETS, secretLines } from "./generate.ts";

/** The file of secrets. No secret is printed, or passed on a command line. */

/** Returns the secrets of the file that the Worker lacks, and the names of required ones that neither has. Throws as `readSecrets`. */
export async function lackingSecrets(required: readonly string[], present: readonly string[], path: string) {
  const file = await readSecrets(path);
  const lacking = [...required, ...OPTIONAL_SECRETS].filter((name) => !present.includes(name));
  return {
    values: Object.fromEntries([...file].filter(([name, value]) => value !== "" && lacking.includes(name))),
    missing: lacking.filter((name) => required.includes(name) && !file.get(name)),
  };
}

/**
 * Throws a CliError if a missing secret must not be generated: root keys of a database in use, or any secret if no user sees which file to
 * keep.
 */
export async function requireSecrets(
  missing: readonly string[],
  path: string,
  mayGenerate: boolean,
  isInUse: () => Promise<boolean>,
) {
  if (missing.includes("ROOT_KEYS") && (await isInUse()))
    throw new CliError("The database has data, but no ROOT_KEYS are set", {
      exit: "conflict",
      hint: `Its data can only be decrypted with the original ROOT_KEYS. Write them into ${path} and start again.`,
    });
  if (!missing.every((name) => mayGenerate && name in GENERATORS))
    throw new CliError(`These secrets are not set: ${missing.join(", ")}`, {
      exit: "usage",
      hint: `In a terminal the command generates ${Object.keys(GENERATORS).join(", ")}. Or write them into ${path} (mode 600).`,
    });
}

/** Generates secrets and adds them to the file. Returns them by their names. */
export async function generateSecrets(names: readonly string[], path: string): Promise<Record<string, string>> {
  const made = Object.fromEntries(names.map((name) => [name, GENERATORS[name]!()]));
  if (names.length > 0) {
    const text = await readFile(path, "utf8").catch(() => NOTE);
    // A new file gets this mode. The mode of an existing file is checked when it is read.
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

/** Reads the secrets of a file, which may be missing. Throws a CliError if its mode has a forbidden bit, and for a weak secret. */
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

/** Returns true if the service would refuse the secret, because it is short. */
const isWeak = (name: string, value: string): boolean => name.endsWith("_TOKEN") && value.length < SECRET_CHARACTERS_MIN;
