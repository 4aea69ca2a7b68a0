import { keyedIndex } from "./keyed-index.ts";
import type { Keyring, RootKey } from "./keyring.ts";

/**
 * The blind indexes of what names a row of `tokens`: the email of a person, the URL of an issuer. D1 finds a row by it, and refuses the same
 * name twice.
 */

/** The kinds of rows that have an index, with the use of its key. */
const USES = { person: "email-index", issuer: "issuer-index" } as const;

export type IndexedKind = keyof typeof USES;

/** In: the root key that seals the row; a normalized email (model/email.ts), or a URL. Out: 16 bytes in base64. */
export const nameIndex = (root: RootKey, kind: IndexedKind, name: string): Promise<string> => keyedIndex(root, USES[kind], name);

/** The indexes of a name under every root key: one of them is in the row, whichever key seals it. */
export const nameIndexes = (keyring: Pick<Keyring, "keys">, kind: IndexedKind, name: string): Promise<string[]> =>
  Promise.all(Array.from(keyring.keys.values(), (root) => nameIndex(root, kind, name)));
