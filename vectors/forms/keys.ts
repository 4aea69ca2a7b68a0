import { formatKeyList, parseKeyList } from "../../src/crypto/key-list.ts";
import { deriveBits } from "../../src/crypto/keyring.ts";
import { isMacOf, macOf } from "../../src/crypto/manifest-mac.ts";
import { type IndexUse, nameIndex } from "../../src/crypto/name-index.ts";
import { blindIndex, foldedBlindIndex, openBytes } from "../../src/crypto/seal.ts";
import { addVaultKey, unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import { openText, sealText } from "../../src/crypto/vault-seal.ts";
import { fold, FOLD_VERSION } from "../../src/model/fold.ts";
import { bytesFrom, type Example, form, GENERATION, ITEM, keyringOf, ROOT_KEYS, TEXT, TOKEN, VAULT, valueOf } from "./example.ts";

/** Keys that are derived and keys of vaults, and what is made under them: blind indexes, and the MAC of manifests. */

interface DerivedKey extends Example {
  readonly rootKey: string;
  readonly use: string;
}

/** The uses of keys that are derived from a root key. test/pure/vectors.test.ts compares them with the sources. */
const USES = [
  "key-encryption",
  "registry",
  "token-signing",
  "backup-manifest",
  "activity/2025-11-26",
  "email-index",
  "issuer-index",
  "console/session",
  "console/sign-in-code",
  "console/authorization-code",
  "console/login-code",
  "console/sign-in",
];

async function readDerived({ rootKey, use }: Pick<DerivedKey, "rootKey" | "use">): Promise<string> {
  const { active } = await keyringOf(rootKey);
  return new Uint8Array(await deriveBits(active.base, use)).toHex();
}

export const DERIVED_KEY = form<DerivedKey>({
  examples: Object.fromEntries(
    USES.map((use) => [
      use,
      async () => {
        const made = { rootKey: bytesFrom(0).toBase64(), use };
        return { ...made, opens: await readDerived(made) };
      },
    ]),
  ),
  read: readDerived,
});

interface KeyList extends Example {
  readonly rootKeys: string;
  readonly rootKeyId: string;
  readonly vault: string;
  readonly list: string;
  /** Sealed under each of the keys, the newest first. */
  readonly texts: readonly string[];
}

const place = { kind: "overview", vault: VAULT, record: ITEM, version: 1 } as const;

/** The wrapped keys in hexadecimal, and the texts. */
async function readKeyList({ rootKeys, rootKeyId, vault, list, texts }: Omit<KeyList, "opens">) {
  const keyring = await keyringOf(rootKeys);
  const root = keyring.keys.get(rootKeyId)!;
  const unwrap = async (kind: "dataKey" | "indexKey", record: string, version: number, wrapped: string) =>
    valueOf(await openBytes(root.wrapping, { kind, vault, record, version, key: root.id }, wrapped)).toHex();
  const keys = await Promise.all(
    parseKeyList(list).map(async ({ id, number, data, index }) => ({
      id,
      number,
      data: await unwrap("dataKey", id, number, data),
      index: await unwrap("indexKey", id, number, index),
    })),
  );
  const opened = valueOf(await unwrapVaultKeys(keyring, vault, { rootKeyId, list: formatKeyList(parseKeyList(list)) }, 0));
  return { keys, texts: await Promise.all(texts.map(async (text) => valueOf(await openText(opened, place, text)))) };
}

export const KEY_LIST = form<KeyList>({
  examples: {
    "two keys": async () => {
      const keyring = await keyringOf(ROOT_KEYS);
      const first = await addVaultKey(keyring, VAULT, GENERATION);
      const second = await addVaultKey(keyring, VAULT, TOKEN, first);
      const texts = await Promise.all([second, first].map(({ keys }) => sealText(keys, place, TEXT)));
      const { rootKeyId, list } = second.wrapped;
      const made = { rootKeys: ROOT_KEYS, rootKeyId, vault: VAULT, list, texts };
      return { ...made, opens: await readKeyList(made) };
    },
  },
  read: readKeyList,
});

interface Index extends Example {
  /** Of a title: the index key of its vault, in hexadecimal. Of another text: a root key, in base64, and the use. */
  readonly key: string;
  readonly use?: IndexUse;
  readonly foldVersion?: number;
  readonly text: string;
}

async function readIndex({ key, use, foldVersion, text }: Omit<Index, "opens">): Promise<string> {
  if (use !== undefined) return nameIndex((await keyringOf(key)).active, use === "email-index" ? "person" : "issuer", text);
  const index = await crypto.subtle.importKey("raw", Uint8Array.fromHex(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return foldVersion === undefined ? blindIndex(index, text) : foldedBlindIndex(index, foldVersion, fold(text));
}

const indexExample = (made: Omit<Index, "opens">) => async () => ({ ...made, opens: await readIndex(made) });

export const BLIND_INDEX = form<Index>({
  examples: {
    title: indexExample({ key: bytesFrom(64).toHex(), text: "Größe" }),
    "folded title": indexExample({ key: bytesFrom(64).toHex(), foldVersion: FOLD_VERSION, text: "Größe" }),
    "email of a person": indexExample({ key: bytesFrom(0).toBase64(), use: "email-index", text: "ada@example.com" }),
  },
  read: readIndex,
});

interface Mac extends Example {
  readonly rootKeys: string;
  readonly line: string;
}

export const MANIFEST_MAC = form<Mac>({
  examples: {
    "a line": async () => {
      const line = `{"format":1,"é":"🔑"}`;
      return { rootKeys: ROOT_KEYS, line, opens: await macOf((await keyringOf(ROOT_KEYS)).active, line) };
    },
  },
  async read({ rootKeys, line, opens }) {
    const { active } = await keyringOf(rootKeys);
    return (await isMacOf(active, line, String(opens))) ? macOf(active, line) : undefined;
  },
});
