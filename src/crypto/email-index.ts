import { keyedIndex } from "./keyed-index.ts";
import type { Keyring, RootKey } from "./keyring.ts";

/** The blind index of the email addresses of people: D1 finds a person by it, and refuses the same email twice. */

/** In: the root key that seals the row, and a normalized email (model/email.ts). Out: 16 bytes in base64. */
export const emailIndex = (root: RootKey, email: string): Promise<string> => keyedIndex(root, "email-index", email);

/** The indexes of an email under every root key: one of them is in the row, whichever key seals it. */
export const emailIndexes = (keyring: Pick<Keyring, "keys">, email: string): Promise<string[]> =>
  Promise.all(Array.from(keyring.keys.values(), (root) => emailIndex(root, email)));
