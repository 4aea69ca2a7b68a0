/**
 * The key list of a vault, as stored in the column `vaults.keys`. Each key has one line, the newest key first:
 *
 *     <id: a UUID, 36> <number: 3 digits> <data key, wrapped> <index key, wrapped>
 *
 * SQL can therefore compare the newest key by the first characters, even in a damaged list (store/vaults/rows.ts). Each line wraps
 * the vault's one index key, so that an earlier key leaves the list as one line.
 */

export interface WrappedKey {
  /** A canonical UUID. */
  readonly id: string;
  /** From 1 on; each new key has the next one, so that no number is used twice. */
  readonly number: number;
  /** Both wrapped under the root key of the row (crypto/vault-keys.ts). */
  readonly data: string;
  readonly index: string;
}

/** The last number of a key: it has one byte in the header of sealed texts. */
export const KEY_NUMBER_MAX = 255;

/** Keys of one list. Each read of a vault also reads the list. */
export const KEYS_MAX = 16;

/** The characters of the id of the newest key, with which the list begins. */
export const KEY_ID_LENGTH = 36;

/**
 * Returns the id of the newest key. For a damaged list, returns the same text as `substr` in SQL: it counts code points and stops
 * at the first NUL. A code point takes at most two UTF-16 units.
 */
export const newestKeyId = (list: string): string =>
  Array.from(list.slice(0, 2 * KEY_ID_LENGTH).split("\0", 1)[0]!)
    .slice(0, KEY_ID_LENGTH)
    .join("");

const LINE = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}) (\d{3}) ([\w+/=]+) ([\w+/=]+)$/;

/** Parses a list. Returns no keys if the list is damaged. */
export function parseKeyList(list: string): readonly WrappedKey[] {
  const keys = list.split("\n").map((line): WrappedKey | undefined => {
    const [, id, number, data, index] = LINE.exec(line) ?? [];
    return id && data && index ? { id, number: Number(number), data, index } : undefined;
  });
  const isOrdered = keys.every((key, at) => key && (at === 0 || key.number < keys[at - 1]!.number));
  return isOrdered ? (keys as WrappedKey[]) : [];
}

export const formatKeyList = (keys: readonly WrappedKey[]): string =>
  keys.map(({ id, number, data, index }) => `${id} ${String(number).padStart(3, "0")} ${data} ${index}`).join("\n");
