import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  pbkdf2,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from "node:crypto";
import { promisify } from "node:util";
import { CliError } from "../../../frame/failure.ts";
import { JsonValue } from "../../json.ts";

/**
 * Bitwarden's password-protected export: PBKDF2-SHA256 or Argon2id over the password and the text of the salt, HKDF-Expand (RFC 5869)
 * to a key for AES-256-CBC and one for HMAC-SHA256. A sealed text is `2.<iv>|<ciphertext>|<mac>` in base64.
 */

interface Keys {
  readonly encryption: Buffer;
  readonly mac: Buffer;
}

const [PBKDF2, ARGON2ID] = [0, 1] as const;
/** What Bitwarden itself allows at most. A file that asks for more would keep this program busy for hours. */
const MOST: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  [PBKDF2]: { kdfIterations: 2_000_000 },
  [ARGON2ID]: { kdfIterations: 10, kdfMemory: 1024, kdfParallelism: 16 },
};
const ITERATIONS = 600_000;

/** Opens an export. Out: its JSON text. Errors: CliError for a wrong password, a damaged file, and costs out of bounds. */
export async function unprotect(document: JsonValue, password: string): Promise<string> {
  const keys = await deriveKeys(document, password);
  const validation = parseSealed(document.get("encKeyValidation_DO_NOT_EDIT"));
  const data = parseSealed(document.get("data"));
  if (!isAuthentic(validation, keys))
    throw new CliError("The password is wrong", { exit: "usage", hint: "Use the password that was set for the export." });
  if (!isAuthentic(data, keys)) throw document.get("data").fault("is damaged: its authentication code does not match");
  const decipher = createDecipheriv("aes-256-cbc", keys.encryption, data.iv);
  return Buffer.concat([decipher.update(data.ciphertext), decipher.final()]).toString("utf8");
}

/** Protects the text of an export with PBKDF2 of 600,000 rounds, Bitwarden's own default. */
export async function protect(text: string, password: string): Promise<Readonly<Record<string, unknown>>> {
  const document = { salt: randomBytes(16).toString("base64"), kdfType: PBKDF2, kdfIterations: ITERATIONS };
  const keys = await deriveKeys(new JsonValue(document, "export"), password);
  return {
    encrypted: true,
    passwordProtected: true,
    ...document,
    encKeyValidation_DO_NOT_EDIT: seal(randomUUID(), keys),
    data: seal(text, keys),
  };
}

async function deriveKeys(document: JsonValue, password: string): Promise<Keys> {
  if (password === "") throw new CliError("The password is empty", { exit: "usage" });
  const type = document.get("kdfType");
  const limits = MOST[type.number() ?? -1];
  if (!limits) throw type.fault("is neither PBKDF2 (0) nor Argon2id (1)");
  const cost = (name: string): number => {
    const value = document.get(name).number() ?? 0;
    const most = limits[name] ?? 0;
    if (!Number.isInteger(value) || value < 1 || value > most) throw document.get(name).fault(`is no integer from 1 to ${most}`);
    return value;
  };
  const salt = document.get("salt").needText();
  const master =
    type.value === PBKDF2
      ? await promisify(pbkdf2)(password, salt, cost("kdfIterations"), 32, "sha256")
      : await argon2id(password, salt, cost("kdfIterations"), cost("kdfMemory"), cost("kdfParallelism"));
  const expand = (info: string) => createHmac("sha256", master).update(`${info}\u0001`).digest();
  return { encryption: expand("enc"), mac: expand("mac") };
}

async function argon2id(password: string, salt: string, iterations: number, mebibytes: number, parallelism: number) {
  const { argon2id: derive } = await import("../../argon2.ts");
  const hashed = createHash("sha256").update(salt).digest();
  const cost = { iterations, memorySize: mebibytes * 1024, parallelism };
  return derive({ password, salt: hashed, ...cost, hashLength: 32, outputType: "binary" });
}

interface Sealed {
  readonly iv: Buffer;
  readonly ciphertext: Buffer;
  readonly mac: Buffer;
}

function parseSealed(value: JsonValue): Sealed {
  // A regular expression would need a stack for the whole text, which may be of 100 MB.
  const [version, ...parts] = value.needText().replace("2.", "2.|").split("|");
  const [iv, ciphertext, mac] = parts.map((part) => Buffer.from(part, "base64"));
  const isWhole = ciphertext !== undefined && ciphertext.length > 0 && ciphertext.length % 16 === 0;
  if (version !== "2." || parts.length !== 3 || iv?.length !== 16 || mac?.length !== 32 || !isWhole)
    throw value.fault("is no text of the form 2.<iv>|<ciphertext>|<mac>");
  return { iv, ciphertext, mac };
}

const isAuthentic = ({ iv, ciphertext, mac }: Sealed, keys: Keys): boolean =>
  timingSafeEqual(createHmac("sha256", keys.mac).update(iv).update(ciphertext).digest(), mac);

function seal(text: string, keys: Keys): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", keys.encryption, iv);
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const mac = createHmac("sha256", keys.mac).update(iv).update(ciphertext).digest();
  return `2.${[iv, ciphertext, mac].map((part) => part.toString("base64")).join("|")}`;
}
