import { type KeyedAssociatedData, KINDS, openParts, parseSealed, seal } from "../../src/crypto/seal.ts";
import { bytesFrom, type Example, form, ITEM, TEXT, VAULT, valueOf } from "./example.ts";

/** A sealed text of each kind. */

interface SealedText extends Example, KeyedAssociatedData {
  readonly keyBytes: string;
  readonly number: number;
  readonly sealed: string;
}

const importAes = (hex: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", Uint8Array.fromHex(hex), "AES-GCM", false, ["encrypt", "decrypt"]);

async function sealExample(kind: KeyedAssociatedData["kind"], number: number): Promise<SealedText> {
  const keyBytes = bytesFrom(KINDS[kind]).toHex();
  const place: KeyedAssociatedData = {
    kind,
    vault: VAULT,
    record: ITEM,
    version: 2 ** 40 + 7,
    key: number === 0 ? "k1" : "key of a vault",
  };
  return { ...place, keyBytes, number, sealed: await seal(await importAes(keyBytes), place, TEXT, { number }), opens: TEXT };
}

export const SEALED_TEXT = form<SealedText>({
  examples: Object.fromEntries(
    Object.keys(KINDS).map((kind, index) => [kind, () => sealExample(kind as keyof typeof KINDS, index % 2 === 0 ? 0 : 255)]),
  ),
  async read({ keyBytes, number, sealed, kind, vault, record, version, key }) {
    const parts = parseSealed(sealed);
    if (parts?.number !== number) return undefined;
    const opened = await openParts(await importAes(keyBytes), { kind, vault, record, version, key }, parts);
    return new TextDecoder().decode(valueOf(opened));
  },
});
