import { formatBase64url, parseBase64url } from "../model/base64url.ts";
import { concat } from "./bytes.ts";
import { derivedKey, type Keyring, type RootKey } from "./keyring.ts";

/**
 * The texts that authenticate the console and its logins: cookies of sessions and of sign-ins, one-time codes, and the codes of
 * logins (contract 28).
 *
 *     base64url( random 24 | the first 8 bytes of HMAC-SHA-256 under a key of the use, over the random bytes )
 *
 * The 192 random bits cannot be guessed. Like a token's signature, the HMAC refuses a forged text without a call of D1, so that
 * invalid texts cause no load there.
 */

export type Use = "session" | "sign-in" | "sign-in-code" | "authorization-code" | "login-code";

interface ConsoleSecret {
  /** 43 characters of base64url. */
  readonly text: string;
  /** The id of its row: the SHA-256 of its 32 bytes, 64 hexadecimal digits. */
  readonly id: string;
}

const RANDOM_BYTES = 24;
const MAC_BYTES = 8;

/** Makes a new text under the active root key. */
export async function createConsoleSecret({ active }: Keyring, use: Use): Promise<ConsoleSecret> {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const bytes = concat(random, await macOf(active, use, random));
  return { text: formatBase64url(bytes), id: await idOf(bytes) };
}

/** Returns the id of a text's row, or undefined if no root key of the keyring made the text for this use. */
export async function parseConsoleSecret({ keys }: Keyring, use: Use, text: string): Promise<string | undefined> {
  const bytes = parseBase64url(text);
  if (bytes?.length !== RANDOM_BYTES + MAC_BYTES) return undefined;
  for (const root of keys.values()) {
    const mac = await macOf(root, use, bytes.subarray(0, RANDOM_BYTES));
    if (crypto.subtle.timingSafeEqual(mac, bytes.subarray(RANDOM_BYTES))) return idOf(bytes);
  }
  return undefined;
}

const idOf = async (bytes: Uint8Array): Promise<string> => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();

const macOf = async (root: RootKey, use: Use, random: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", await derivedKey(root, `console/${use}`, "HMAC"), random)).slice(0, MAC_BYTES);
