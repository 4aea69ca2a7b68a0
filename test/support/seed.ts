import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys, type VaultKeys } from "../../src/crypto/vault-keys.ts";
import type { Item } from "../../src/model/item.ts";
import { sealItem } from "../../src/store/items/items.ts";
import { type VaultRow, wrappedKeys } from "../../src/store/vaults/rows.ts";

/**
 * Inserts Items without the coordinator, for tests and benchmarks of large vaults, because single requests would take minutes.
 */

const INSERT = `
  INSERT INTO items (vault_id, id, version, title_index, overview, details, folded_index)
  SELECT ?1, value ->> 'id', value ->> 'version', value ->> 'title_index', value ->> 'overview', value ->> 'details',
    value ->> 'folded_index' FROM json_each(?2)`;
const COUNT =
  "UPDATE vaults SET items = items + ?2, created = created + ?2, content_version = content_version + ?2 WHERE id = ?1";

/** The keys of a vault as they are now. */
export async function keysIn({ DB, ROOT_KEYS }: Env, vault: string): Promise<VaultKeys> {
  const keyring = await openKeyring(ROOT_KEYS);
  const row = (await DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<VaultRow>())!;
  if (!keyring.ok) throw new Error("no keyring");
  const keys = await unwrapVaultKeys(keyring.value, vault, wrappedKeys(row), Date.now());
  if (!keys.ok) throw new Error("no keys");
  return keys.value;
}

/** Inserts earlier versions of Items. */
export async function seedVersions(env: Env, vault: string, versions: readonly Item[]): Promise<void> {
  const keys = await keysIn(env, vault);
  for (const item of versions) {
    const { id, version, overview, details } = await sealItem(keys, item);
    const sql = "INSERT INTO item_versions (vault_id, item_id, version, overview, details) VALUES (?1, ?2, ?3, ?4, ?5)";
    await env.DB.prepare(sql).bind(vault, id, version, overview, details).run();
  }
}

/** Inserts Items into a vault and updates its counters. The batches are limited because a parameter of D1 has at most 2 MB. */
export async function seedItems(env: Env, vault: string, items: readonly Item[]): Promise<void> {
  const { DB } = env;
  const keys = await keysIn(env, vault);
  const step = Math.max(1, Math.min(1000, Math.floor(1_000_000 / JSON.stringify(items[0]).length / 2)));
  for (let from = 0; from < items.length; from += step) {
    const rows = await Promise.all(items.slice(from, from + step).map((item) => sealItem(keys, item)));
    await DB.batch([DB.prepare(INSERT).bind(vault, JSON.stringify(rows)), DB.prepare(COUNT).bind(vault, rows.length)]);
  }
}

/** An Item of category LOGIN with a title and no other content, except for `more`. */
export const login = (vault: string, title: string, more: Omit<Partial<Item>, "nonce"> = {}): Item => ({
  id: crypto.randomUUID(),
  vault,
  version: 1,
  nonce: crypto.getRandomValues(new Uint8Array(8)).toHex(),
  title,
  category: "LOGIN",
  tags: [],
  urls: [],
  favorite: false,
  createdAt: 0,
  updatedAt: 0,
  lastEditedBy: crypto.randomUUID(),
  sections: [],
  fields: [],
  files: [],
  ...more,
});
