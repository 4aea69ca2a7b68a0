import { env } from "cloudflare:workers";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import type { Item } from "../../src/model/item.ts";
import { sealItem } from "../../src/store/items.ts";
import type { VaultRow } from "../../src/store/vaults.ts";
import { freshVault } from "./service.ts";

/** Vaults of many Items, written past the coordinator: one by one they would take minutes. */

const INSERT = `
  INSERT INTO items (vault_id, id, version, title_index, overview, details)
  SELECT ?1, value ->> 'id', 1, value ->> 'title_index', value ->> 'overview', value ->> 'details' FROM json_each(?2)`;

/** A fresh vault of `size` Items, called `Item 0` and so on, unless said otherwise. Out: also the id of the first. */
export async function largeVault(size: number, more: Partial<Item> = {}) {
  const fresh = await freshVault();
  const keyring = await openKeyring(env.ROOT_KEYS);
  const row = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(fresh.vault).first<VaultRow>())!;
  if (!keyring.ok) throw new Error("no keyring");
  const wrapped = { rootKeyId: row.root_key_id, dataKeyId: row.data_key_id, dataKey: row.data_key, indexKey: row.index_key };
  const keys = await unwrapVaultKeys(keyring.value, fresh.vault, wrapped, Date.now());
  if (!keys.ok) throw new Error("no keys");
  const items = Array.from({ length: size }, (_, index) => item(fresh.vault, `Item ${index}`, more));
  // A statement of D1 takes 2 MB.
  const step = Math.max(1, Math.min(1000, Math.floor(1_000_000 / JSON.stringify(items[0]).length / 2)));
  for (let from = 0; from < size; from += step) {
    const rows = await Promise.all(items.slice(from, from + step).map((one) => sealItem(keys.value, one)));
    await env.DB.prepare(INSERT).bind(fresh.vault, JSON.stringify(rows)).run();
  }
  return { ...fresh, first: items[0]!.id };
}

const item = (vault: string, title: string, more: Partial<Item>): Item => ({
  id: crypto.randomUUID(),
  vault,
  version: 1,
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
