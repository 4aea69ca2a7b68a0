import schema from "../../schema.sql";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import type { Item } from "../../src/model/item.ts";
import { sealItem } from "../../src/store/items.ts";
import type { VaultRow } from "../../src/store/vaults.ts";
import type { Route } from "./floors.ts";
import { tally } from "./variants.ts";

/** What is not measured: tables, large vaults, counters. */

const FLOOR = "CREATE TABLE IF NOT EXISTS floor (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID";

const INSERT = `
  INSERT INTO items (vault_id, id, version, title_index, overview, details)
  SELECT ?1, value ->> 'id', 1, value ->> 'title_index', value ->> 'overview', value ->> 'details' FROM json_each(?2)`;
const COUNT =
  "UPDATE vaults SET items = items + ?2, created = created + ?2, content_version = content_version + ?2 WHERE id = ?1";

export const chores: Readonly<Record<string, Route>> = {
  /** Makes the tables. */
  "/bench/schema": async ({ DB }) => {
    const statements = `${schema};${FLOOR}`
      .replaceAll(/--.*$/gm, "")
      .split(";")
      .filter((sql) => sql.trim() !== "");
    await DB.batch(statements.map((sql) => DB.prepare(sql)));
    return Response.json("done");
  },

  /** Gives a vault the Items `Item <from>` to `Item <to - 1>`, past its coordinator: one by one they would take minutes. */
  "/bench/items": async ({ DB, ROOT_KEYS }, query) => {
    const vault = query.get("vault")!;
    const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
    const keyring = await openKeyring(ROOT_KEYS);
    const row = (await DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<VaultRow>())!;
    if (!keyring.ok) throw new Error("no keyring");
    const wrapped = { rootKeyId: row.root_key_id, dataKeyId: row.data_key_id, dataKey: row.data_key, indexKey: row.index_key };
    const keys = await unwrapVaultKeys(keyring.value, vault, wrapped, Date.now());
    if (!keys.ok) throw new Error("no keys");
    const items = Array.from({ length: to - from }, (_, index) => login(vault, `Item ${from + index}`));
    const rows = await Promise.all(items.map((item) => sealItem(keys.value, item)));
    await DB.batch([DB.prepare(INSERT).bind(vault, JSON.stringify(rows)), DB.prepare(COUNT).bind(vault, rows.length)]);
    return Response.json(items.map(({ id }) => id));
  },

  /** The key of the one object whose name begins so. */
  "/bench/key": async (env, query) => Response.json((await env.FILES.list({ prefix: query.get("prefix")! })).objects[0]!.key),

  /** What was counted since the last time. */
  "/bench/tally": async () => {
    const counted = { ...tally };
    for (const name of Object.keys(tally) as (keyof typeof tally)[]) tally[name] = 0;
    return Response.json(counted);
  },
};

/** An Item as the demo has it: a name, a password, an address, a tag. */
const login = (vault: string, title: string): Item => ({
  id: crypto.randomUUID(),
  vault,
  version: 1,
  title,
  category: "LOGIN",
  tags: ["bench"],
  urls: [{ href: "https://db.example.com", primary: true }],
  favorite: false,
  createdAt: 0,
  updatedAt: 0,
  lastEditedBy: crypto.randomUUID(),
  sections: [],
  fields: [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "ada" },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "correct horse", entropy: 40 },
  ],
  files: [],
});
