import { env } from "cloudflare:workers";
import { KEY_NUMBER_MAX, newestKeyId, parseKeyList } from "../../src/crypto/key-list.ts";
import { openKeyring } from "../../src/crypto/keyring.ts";
import type { AssociatedData } from "../../src/crypto/seal.ts";
import { addVaultKey, type VaultKey, type VaultKeys } from "../../src/crypto/vault-keys.ts";
import { openText } from "../../src/crypto/vault-seal.ts";
import type { NamedVault } from "../../src/model/vault.ts";
import { type NamedTable, tableOf, TABLES_OF_VAULT } from "../../src/store/tables/tables.ts";
import { sealVault, type VaultRow, wrappedKeys } from "../../src/store/vaults/rows.ts";
import { keysIn } from "./seed.ts";
import { admin, type Reply } from "./service.ts";
import { unwrap } from "./versions.ts";

/** Every sealed text that D1 holds of a vault, and under which keys it opens. */

const rowOf = async (vault: string): Promise<VaultRow> =>
  (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<VaultRow>())!;

/** The keys of a vault as they are now. */
export const keysOfVault = (vault: string): Promise<VaultKeys> => keysIn(env, vault);

/** The newest of them. */
export const newestKeyOf = async (vault: string): Promise<VaultKey> => (await keysOfVault(vault)).newest;

/** Writes a newer key into the list of a vault, as a commit that renews the key does. */
export async function addKeyInDatabase(vault: string): Promise<void> {
  const keyring = unwrap(await openKeyring(env.ROOT_KEYS));
  const before = { keys: await keysOfVault(vault), wrapped: wrappedKeys(await rowOf(vault)) };
  const { wrapped } = await addVaultKey(keyring, vault, crypto.randomUUID(), before);
  await env.DB.prepare("UPDATE vaults SET keys = ?2 WHERE id = ?1").bind(vault, wrapped.list).run();
}

/** Gives a vault a key with the last number, without the keys before: the rows under those do not open any more. */
export async function giveLastKey(vault: string): Promise<void> {
  const keyring = unwrap(await openKeyring(env.ROOT_KEYS));
  const { index, ...keysBefore } = await keysOfVault(vault);
  const newest = { ...keysBefore.newest, number: KEY_NUMBER_MAX - 1 };
  const before = { keys: { index, newest, all: [] }, wrapped: wrappedKeys(await rowOf(vault)) };
  const { keys, wrapped } = await addVaultKey(keyring, vault, crypto.randomUUID(), before);
  const { attribute_version: attributeVersion } = await rowOf(vault);
  const { name, description } = await sealVault(keys, {
    id: vault,
    name: "Last",
    description: "",
    attributeVersion,
  } as NamedVault);
  await env.DB.prepare("UPDATE vaults SET keys = ?2, name = ?3, description = ?4 WHERE id = ?1")
    .bind(vault, wrapped.list.split("\n")[0], name, description)
    .run();
}

interface SealedText {
  readonly where: string;
  readonly place: AssociatedData;
  readonly sealed: string;
}

type Row = Record<string, any>;

const name = (table: string, { item_id = "", id = "", key = "", version = "", until = "" }: Row, column: string) =>
  `${table} ${[item_id, id, key, version, until].join(" ")} ${column}`;

/** All sealed texts of a vault, also those of its own row. */
export async function sealedTexts(vault: string): Promise<SealedText[]> {
  const textsOf = async (table: NamedTable): Promise<SealedText[]> => {
    const owner = Object.values(table.owner!)[0];
    const { results } = await env.DB.prepare(`SELECT * FROM ${table.name} WHERE ${owner} = ?`).bind(vault).all<Row>();
    return results.flatMap((row) =>
      Object.entries(table.associatedData ?? {}).map(([column, dataOf]) => ({
        where: name(table.name, row, column),
        place: dataOf(vault, row as never),
        sealed: row[column],
      })),
    );
  };
  return (await Promise.all([tableOf("vaults")!, ...TABLES_OF_VAULT].map(textsOf))).flat();
}

/** The texts that open under this key. */
export async function openUnder(key: VaultKey, texts: readonly SealedText[]): Promise<string[]> {
  const opened = await Promise.all(texts.map(async ({ place, sealed }) => (await openText({ all: [key] }, place, sealed)).ok));
  return texts.filter((_, index) => opened[index]).map(({ where }) => where);
}

export const dataKeyOf = async (vault: string): Promise<string> => newestKeyId((await rowOf(vault)).keys);

/** The numbers of the keys of a vault, the newest first. */
export const keyNumbersOf = async (vault: string): Promise<number[]> =>
  parseKeyList((await rowOf(vault)).keys).map(({ number }) => number);

/** Asks for a new key of a vault in place of the newest one, or of one that is named. */
export async function renewKey(vault: string, { replaces, ...more }: Renewal = {}): Promise<Reply> {
  const body = { replaces: replaces ?? (await dataKeyOf(vault)) };
  return admin("POST", `/v1/admin/vaults/${vault}/keys`, { body, ...more });
}

interface Renewal {
  readonly replaces?: string;
  readonly env?: Partial<Env>;
  readonly headers?: Record<string, string>;
}
