import { base64Of, bytesOfBase64, joined, utf8Of } from "../../bytes.ts";
import { TransferError } from "../../error.ts";
import type { Argon2id } from "../../format.ts";
import { JsonValue } from "../../json.ts";
import { decodeText } from "../../text.ts";

/**
 * Bitwarden's password-protected export: PBKDF2-SHA256 or Argon2id over the password and the text of the salt, HKDF-Expand (RFC 5869)
 * to a key for AES-256-CBC and one for HMAC-SHA256. A sealed text is `2.<iv>|<ciphertext>|<mac>` in base64.
 */

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

interface Keys {
  readonly encryption: Key;
  readonly mac: Key;
}

const [PBKDF2, ARGON2ID] = [0, 1] as const;
/** Bitwarden's own limits. Decrypting a file with higher costs would keep this program busy for hours. */
const KDF_MAX: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  [PBKDF2]: { kdfIterations: 2_000_000 },
  [ARGON2ID]: { kdfIterations: 10, kdfMemory: 1024, kdfParallelism: 16 },
};
const KDF_ITERATIONS = 600_000;

/** Decrypts an export. Returns its JSON text. Throws a TransferError for a wrong password, a damaged file, and costs out of bounds. */
export async function unprotect(document: JsonValue, password: string, argon2id?: Argon2id): Promise<string> {
  const keys = await deriveKeys(document, password, argon2id);
  const validation = parseSealed(document.get("encKeyValidation_DO_NOT_EDIT"));
  const data = parseSealed(document.get("data"));
  if (!(await isAuthentic(validation, keys)))
    throw new TransferError("The password is wrong", "Use the password that was set for the export.");
  if (!(await isAuthentic(data, keys))) throw document.get("data").fault("is damaged: its authentication code does not match");
  const text = await crypto.subtle.decrypt({ name: "AES-CBC", iv: data.iv }, keys.encryption, data.ciphertext);
  return decodeText(new Uint8Array(text), "The protected data");
}

/** Protects the text of an export with PBKDF2 of 600,000 rounds, Bitwarden's own default. */
export async function protect(text: string, password: string): Promise<Readonly<Record<string, unknown>>> {
  const document = { salt: base64Of(crypto.getRandomValues(new Uint8Array(16))), kdfType: PBKDF2, kdfIterations: KDF_ITERATIONS };
  const keys = await deriveKeys(new JsonValue(document, "export"), password);
  return {
    encrypted: true,
    passwordProtected: true,
    ...document,
    encKeyValidation_DO_NOT_EDIT: await seal(crypto.randomUUID(), keys),
    data: await seal(text, keys),
  };
}

async function deriveKeys(document: JsonValue, password: string, argon2id?: Argon2id): Promise<Keys> {
  if (password === "") throw new TransferError("The password is empty");
  const type = document.get("kdfType");
  const limits = KDF_MAX[type.number() ?? -1];
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
      ? await pbkdf2(password, salt, cost("kdfIterations"))
      : await needed(argon2id)({
          password,
          salt: await sha256(salt),
          iterations: cost("kdfIterations"),
          memorySize: cost("kdfMemory") * 1024,
          parallelism: cost("kdfParallelism"),
          hashLength: 32,
          outputType: "binary",
        });
  const expand = async (info: string) => await sign(await macKey(master), utf8Of(`${info}\u0001`));
  const encryption = await crypto.subtle.importKey("raw", await expand("enc"), "AES-CBC", false, ["encrypt", "decrypt"]);
  return { encryption, mac: await macKey(await expand("mac")) };
}

function needed(argon2id: Argon2id | undefined): Argon2id {
  if (argon2id) return argon2id;
  throw new TransferError(
    "The file is protected with Argon2id, which cannot be computed here",
    "Export it again with PBKDF2, or use the command line.",
  );
}

const sha256 = async (text: string): Promise<Uint8Array> => new Uint8Array(await crypto.subtle.digest("SHA-256", utf8Of(text)));

async function pbkdf2(password: string, salt: string, iterations: number): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", utf8Of(password), "PBKDF2", false, ["deriveBits"]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt: utf8Of(salt), iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, 256));
}

const HMAC = { name: "HMAC", hash: "SHA-256" };

const macKey = (bytes: Uint8Array): Promise<Key> =>
  crypto.subtle.importKey("raw", bytes as Uint8Array<ArrayBuffer>, HMAC, false, ["sign", "verify"]);

const sign = async (key: Key, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));

interface Sealed {
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
  readonly mac: Uint8Array<ArrayBuffer>;
}

function parseSealed(value: JsonValue): Sealed {
  // A regular expression would need a stack for the whole text, which may be of 100 MB.
  const [version, ...parts] = value.needText().replace("2.", "2.|").split("|");
  const [iv, ciphertext, mac] = parts.map(bytesOfBase64);
  const isWhole = ciphertext !== undefined && ciphertext.length > 0 && ciphertext.length % 16 === 0;
  if (version !== "2." || parts.length !== 3 || iv?.length !== 16 || mac?.length !== 32 || !isWhole)
    throw value.fault("is no text of the form 2.<iv>|<ciphertext>|<mac>");
  return { iv, ciphertext, mac };
}

const isAuthentic = ({ iv, ciphertext, mac }: Sealed, keys: Keys): Promise<boolean> =>
  crypto.subtle.verify("HMAC", keys.mac, mac, joined(iv, ciphertext));

async function seal(text: string, keys: Keys): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(16));
  const ciphertext = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv }, keys.encryption, utf8Of(text)));
  const mac = await sign(keys.mac, joined(iv, ciphertext));
  return `2.${[iv, ciphertext, mac].map(base64Of).join("|")}`;
}
