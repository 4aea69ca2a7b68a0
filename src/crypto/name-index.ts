import { derivedKey, type Keyring, type RootKey } from "./keyring.ts";
import { blindIndex } from "./seal.ts";

/**
 * The blind indexes of the names in rows of `tokens`: the email of a person, the URL of an issuer. D1 finds a row by its index, and refuses the
 * same name twice. The indexes are HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from a root key for each use.
 */

export type IndexUse = "email-index" | "issuer-index";
export type IndexedKind = "person" | "issuer";

/** The kinds of rows that have an index, with the use of its key. */
const USES: Readonly<Record<IndexedKind, IndexUse>> = { person: "email-index", issuer: "issuer-index" };

/** Returns the blind index of a normalized email (model/email.ts) or a URL: 16 bytes in base64. `root` is the root key that seals the row. */
export const nameIndex = async (root: RootKey, kind: IndexedKind, name: string): Promise<string> =>
  blindIndex(await derivedKey(root, USES[kind], "HMAC"), name);

/** Returns the indexes of a name under every root key. The row has one of them, whichever key seals it. */
export const nameIndexes = (keyring: Pick<Keyring, "keys">, kind: IndexedKind, name: string): Promise<string[]> =>
  Promise.all(Array.from(keyring.keys.values(), (root) => nameIndex(root, kind, name)));
