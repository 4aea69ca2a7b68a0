import { vi } from "vitest";

/** What AES-GCM is called with, so that a test can tell whether a nonce was used for two texts under one key. */

/** The id of the key in the associated data of a sealed text (src/crypto/seal.ts): all bytes from this place on. */
const KEY_ID = 41;

/** The texts, with their associated data, by the id of their key and a nonce or a part of one. */
type Texts = Map<string, Set<string>>;

const add = (texts: Texts, key: string, text: string): void => void texts.set(key, (texts.get(key) ?? new Set()).add(text));

const repeatedIn = (texts: Texts): string[] => [...texts].filter(([, set]) => set.size > 1).map(([key]) => key);

/** Records every encryption from now on, until the mocks are restored. */
export function recordNonces() {
  const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
  const [nonces, prefixes]: [Texts, Texts] = [new Map(), new Map()];
  let sealed = 0;
  vi.spyOn(crypto.subtle, "encrypt").mockImplementation(async (algorithm, key, plain) => {
    const { iv, additionalData } = algorithm as unknown as { iv: Uint8Array; additionalData: Uint8Array };
    const place = additionalData.toHex();
    const [id, nonce, text] = [place.slice(2 * KEY_ID), iv.toHex(), `${place} ${(plain as Uint8Array).toHex()}`];
    sealed++;
    add(nonces, `${id} ${nonce}`, text);
    add(prefixes, `${id} ${nonce.slice(0, 16)}`, text);
    return encrypt(algorithm, key, plain);
  });
  return () => ({ sealed, repeatedNonces: repeatedIn(nonces), repeatedPrefixes: repeatedIn(prefixes) });
}
