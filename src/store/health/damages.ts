import { logRefusal } from "../../log.ts";
import { createCache } from "../../crypto/cache.ts";
import { HEADER_AND_NONCE_LENGTH } from "../../crypto/seal.ts";
import { KEYS_DO_NOT_OPEN } from "../../crypto/vault-keys.ts";
import type { Failure } from "../../model/failure.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY, MINUTE } from "../../model/time.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { type FileRow, FILES_OF_ITEM } from "../items/files.ts";
import { type ItemRow, openItem } from "../items/items.ts";
import { checkRootKeys } from "../keys/root-keys.ts";
import { KEY_COLUMNS, type KeyRow, NEWEST_KEY_NONCE, openKeys } from "../vaults/rows.ts";
import { into } from "../tables/statements.ts";

/**
 * Rows that could not be decrypted, for /health and /metrics (contract 13.3, 13.4). The table `counters` keeps them, each with the time of
 * its last read. The name of a counter has the nonces of its row, so a row that was repaired, replaced or deleted is no longer counted.
 */

const PREFIX = "damaged/";

/** Further records would tell an operator nothing new. */
const ROWS_MAX = 1_000;

const KEPT = `name >= '${PREFIX}' AND name < 'damaged0'`;

/** Returns SQL of the header and nonce of a sealed text (crypto/seal.ts). Each text has its own nonce, which reveals nothing. */
const nonceOf = (column: string) => `substr(${column}, 1, ${HEADER_AND_NONCE_LENGTH})`;

/**
 * The name of a counter. It outlives its row, so it contains no sealed text: without its keys a deleted vault cannot be decrypted
 * (contract 13.13).
 */
const NAME_OF = {
  item: `json_array(vault_id, id, version, ${nonceOf("overview")} || ${nonceOf("details")})`,
  vault: `json_array(id, NULL, ${NEWEST_KEY_NONCE} || ${nonceOf("name")} || ${nonceOf("description")})`,
};

const insert = (rows: string) => `
  INSERT ${into("counters")} SELECT '${PREFIX}' || ${rows}
  LIMIT max(0, ${ROWS_MAX} - (SELECT count(*) FROM counters WHERE ${KEPT}))
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

const SQL = {
  keys: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  item: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id = ?2",
  items: insert(
    `${NAME_OF.item}, ?3 FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))`, // JSON, because there may be many
  ),
  vault: insert(`${NAME_OF.vault}, ?3 FROM vaults WHERE id = ?1 AND ?2 = '[]'`),
  forget: `DELETE FROM counters WHERE ${KEPT} AND value <= ?1`,
  count: `
    SELECT count(*) AS found, CASE WHEN item IS NULL THEN 'vault' ELSE 'item' END AS kind
    FROM (SELECT substr(name, ${PREFIX.length + 1}) AS path, substr(name, ${PREFIX.length + 1}) ->> 0 AS vault,
      substr(name, ${PREFIX.length + 1}) ->> 1 AS item FROM counters WHERE ${KEPT} AND value > ?1)
    WHERE path IN (SELECT ${NAME_OF.item} FROM items WHERE vault_id = vault AND id = item
      UNION ALL SELECT ${NAME_OF.vault} FROM vaults WHERE id = vault)
    GROUP BY kind`,
};

/** The records that this isolate wrote in the last minute, so that a list that is read repeatedly writes each once. */
const recorded = createCache<true>(256, MINUTE);

/**
 * Records rows of a vault that cannot be decrypted: Items by their ids, or without ids the row of the vault. Makes one D1 call;
 * for a vault another call comes first, because with wrong root keys no vault is damaged. Never fails: a row that is not recorded
 * is recorded at the next read.
 */
export async function recordDamage(store: Store, vault: string, items: readonly string[]): Promise<void> {
  const { primary: db, now } = store; // a near read finds damaged rows too
  const ids = JSON.stringify(items);
  const name = vault + ids;
  if (recorded.get(name, now)) return;
  recorded.set(name, true, now);
  const checked = items.length === 0 ? await checkRootKeys(db, store.keyring) : ok(undefined);
  if (!checked.ok && checked.cause) logRefusal(checked);
  if (!checked.ok) return;
  const add = db.prepare(items.length > 0 ? SQL.items : SQL.vault).bind(vault, ids, now);
  const added = await runBatch(db, add, forgetStatement(db, now));
  if (!added.ok) logRefusal(added);
}

/**
 * Records an Item after a row or content could not be decrypted, as `recordDamage` does. The Item counts if its own row or a row
 * of its Files is damaged. A version or a content does not count. Makes one more D1 call.
 */
export async function recordItemDamage(store: Store, vault: string, item: string): Promise<void> {
  const { db } = store;
  const read = await runBatch<[KeyRow, ItemRow, FileRow]>(
    db,
    db.prepare(SQL.keys).bind(vault),
    db.prepare(SQL.item).bind(vault, item),
    db.prepare(FILES_OF_ITEM).bind(vault, item),
  );
  if (!read.ok) return logRefusal(read);
  const [[keyRow], [row], files] = read.value;
  const keys = keyRow && (await openKeys(store, keyRow));
  if (!keys?.ok || !row) return;
  const opened = await openItem(keys.value, vault, row, files);
  if (!opened.ok || opened.value.brokenFiles) await recordDamage(store, vault, [item]);
}

const forgetStatement = (db: D1Database, now: number): D1PreparedStatement => db.prepare(SQL.forget).bind(now - DAY);

/** Deletes the records of rows that were not read in the last day. `now` is in Unix milliseconds. Throws if D1 fails. */
export const forgetDamages = async (db: D1Database, now: number): Promise<void> => {
  await forgetStatement(db, now).run();
};

/** Returns true if a request's failure indicates a damaged row. */
export const isDamage = ({ kind, detail }: Failure): boolean =>
  kind === "integrity" || (kind === "misconfigured" && detail === KEYS_DO_NOT_OPEN);

export const DAMAGED = ["item", "vault"] as const;

/** The number of damaged rows, by kind, that were read in the last day and have not changed since; kinds without one are absent. */
export type Damages = ReadonlyMap<string, number>;

export interface DamageRow {
  readonly kind: (typeof DAMAGED)[number];
  readonly found: number;
}

/** Returns the statement that counts damaged rows. `now` is in Unix milliseconds. */
export const damagesStatement = (db: D1Database, now: number): D1PreparedStatement => db.prepare(SQL.count).bind(now - DAY);

export const damagesOf = (rows: readonly DamageRow[]): Damages => new Map(rows.map(({ kind, found }) => [kind, found]));

/** Returns a warning for /health if damaged rows were read. `now` is in Unix milliseconds. */
export async function probeDamages(db: D1Database, now: number): Promise<Result<string | undefined>> {
  const read = await runBatch<[DamageRow]>(db, damagesStatement(db, now));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const damages = damagesOf(read.value[0]);
  const found = DAMAGED.flatMap((kind) => {
    const count = damages.get(kind) ?? 0;
    const word = kind === "item" ? "Item" : kind;
    return count > 0 ? [`${count} ${word}${count === 1 ? "" : "s"}`] : [];
  });
  return ok(
    found.length > 0
      ? `${found.join(" and ")} could not be decrypted in the last 24 hours: \`item-vault admin verify\` names them`
      : undefined,
  );
}
