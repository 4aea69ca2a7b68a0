import { createHash, createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";
import { CliError } from "../../frame/failure.ts";

/** The value of ROOT_KEYS: one key of 32 bytes in base64, or a JSON document (contract 20.4). */

export interface KeyDocument {
  readonly active: string;
  /** 32 bytes in base64, by their ids. */
  readonly keys: Readonly<Record<string, string>>;
  /** The public keys of removed keys, whose tokens are still accepted. */
  readonly verify?: Readonly<Record<string, string>>;
}

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const ONLY = "k1";

const isKey = (text: unknown): text is string =>
  typeof text === "string" && /^[A-Za-z0-9+/]{43}=?$/.test(text) && Buffer.from(text, "base64").length === 32;

const isTable = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(([id, key]) => KEY_ID.test(id) && isKey(key));

/** Throws a CliError that contains no part of the text. */
export function parseDocument(text: string, path: string): KeyDocument {
  if (isKey(text.trim())) return { active: ONLY, keys: { [ONLY]: text.trim() } };
  const document = parseJson(text);
  const { active, keys, verify = {} } = document ?? {};
  const valid = isTable(keys) && isTable(verify) && typeof active === "string" && Object.hasOwn(keys, active);
  if (valid) return { ...document, active, keys, verify };
  throw new CliError(`${path}: ROOT_KEYS is malformed`, { exit: "usage" });
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined; // the message quotes the text
  }
}

/** The text of a document, without an empty `verify`. */
export const textOf = ({ verify = {}, ...document }: KeyDocument): string =>
  JSON.stringify({ ...document, ...(Object.keys(verify).length > 0 && { verify }) });

export function checkId(id: string): string {
  if (KEY_ID.test(id)) return id;
  throw new CliError("An id of a key has 1 to 32 characters of A-Za-z0-9_-", { exit: "usage" });
}

/** PKCS #8 of an Ed25519 private key, up to its 32 bytes (RFC 8410 section 7). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The public key of a root key: 32 bytes in base64, as the service derives it (docs/security.md). */
export function publicKeyOf(key: string): string {
  const seed = hkdfSync("sha256", Buffer.from(key, "base64"), "", "item-vault/v1/token-signing", 32);
  const der = Buffer.concat([PKCS8, Buffer.from(seed)]);
  const { x } = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" })).export({ format: "jwk" });
  return Buffer.from(x!, "base64url").toString("base64");
}

/** The fingerprint of a public key: 16 hexadecimal digits. */
export const fingerprintOf = (publicKey: string): string =>
  createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("hex").slice(0, 16);
