import { hasDeletion } from "../activity/entry-rows.ts";
import { defect, must } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import type { Bucket } from "../buckets/bucket.ts";

const IS_RESTORED = "EXISTS (SELECT 1 FROM restores WHERE vault_id = value)";

const EXISTS = "EXISTS (SELECT 1 FROM vaults WHERE id = value)";

const SQL = `SELECT value AS vault FROM json_each(?1) WHERE ${EXISTS} OR (NOT ${IS_RESTORED} AND ${hasDeletion("value")})`;

/**
 * Returns the statement that reads which vaults D1 knows: `{vault}`. D1 knows a vault when it has its row or its deletion. When it does not know
 * the vault, or a restore has deleted the row, missing rows prove nothing about the contents of the vault. Before that, a restore does not
 * rely on FILES, because its last phase copies the contents that FILES lacks.
 */
export const knownVaults = (db: D1Database, vaults: readonly string[]): D1PreparedStatement =>
  db.prepare(SQL).bind(JSON.stringify(vaults));

/**
 * Finds contents in R2 without a row. They come from a database that was restored, perhaps only temporarily. Each run of the cron
 * trigger checks a part of the bucket. Coordinators sweep the found contents (sweep.ts); nothing is deleted here.
 */

/** The key of the object that stores the position: the last key that was read. No content has such a key. */
const POSITION = "positions/contents";

/** Limits of a run: lists, of 1,000 objects each, and vaults whose coordinators are called. */
const RUN_MAX = { lists: 2, vaults: 10 };

/** A younger object may belong to an upload whose row is not committed yet. Such an upload is swept after a day. */
const AGE_MS_MIN = 2 * DAY;

/** Vault ids are hexadecimal, so the keys of all contents come before this one. */
const END = "g";

const CONTENT = /^[0-9a-f-]{36}\/[0-9a-f-]{36}\/[0-9a-f-]{36}$/;

/**
 * The query reads all rows of Files of the vaults of the keys. The primary keys of these rows begin with the Item, which the key of a
 * content does not name.
 */
const REFERENCED = TABLES_OF_CONTENTS.map(
  ({ name }) => `
      SELECT vault_id AS vault, id AS file, generation FROM ${name}
      WHERE vault_id IN (SELECT substr(value, 1, 36) FROM json_each(?1))
        AND (generation IN (SELECT substr(value, 75) FROM json_each(?1)) OR id IN (SELECT substr(value, 38, 36) FROM json_each(?1)))`,
).join(" UNION ");

/** A row of a File, as `referencedStatement` reads it. */
export interface Reference {
  readonly vault: string;
  readonly file: string;
  readonly generation: string;
}

/** Returns the statement that reads the rows that may need one of these contents. */
export const referencedStatement = (db: D1Database, keys: readonly string[]): D1PreparedStatement =>
  db.prepare(REFERENCED).bind(JSON.stringify(keys));

/**
 * Returns true if a row may need a content. It may if it has the content's File or its generation, because the other one of the two may be
 * damaged.
 */
export function isReferencedBy(rows: readonly Reference[]): (key: string) => boolean {
  const names = new Set(rows.flatMap(({ vault, file, generation }) => [`${vault}/${file}`, `${vault} ${generation}`]));
  return (key) => names.has(key.slice(0, 73)) || names.has(`${key.slice(0, 36)} ${key.slice(74)}`);
}

/**
 * Checks the next part of the bucket, and passes the keys of contents without a row to `watch`, vault by vault. Vaults unknown to
 * D1 prove nothing and are skipped. `now` is in Unix milliseconds. Returns the number of keys new to `watch`. Throws if D1, R2 or
 * a `watch` fails. A run that ends early is repeated from the same position. A run whose `watch` failed continues after it.
 */
export async function findContentsWithoutRow(
  db: D1Database,
  bucket: Bucket,
  now: number,
  watch: (vault: string, keys: readonly string[]) => Promise<number>,
): Promise<number> {
  let [position, found, failed] = [(await (await bucket.get(POSITION))?.text()) ?? "", 0, false];
  for (let list = 0, vaults = RUN_MAX.vaults; list < RUN_MAX.lists && vaults > 0; list++) {
    const { objects, next } = await bucket.list({ after: position });
    const old = objects.filter(({ key, uploaded }) => CONTENT.test(key) && uploaded.getTime() <= now - AGE_MS_MIN);
    const missing = await withoutRow(
      db,
      old.map(({ key }) => key),
    );
    const called = [...missing].slice(0, vaults);
    for (const [vault, keys] of called) {
      // A later pass finds it again.
      found += await watch(vault, keys).catch(() => ((failed = true), 0));
    }
    const last = missing.size > called.length ? called.at(-1)![1].at(-1)! : (objects.at(-1)?.key ?? END);
    vaults -= called.length;
    position = last >= END || (next === undefined && missing.size === called.length) ? "" : last;
    if (position === "") break;
  }
  await bucket.put(POSITION, position);
  if (failed) throw defect("a coordinator could not watch contents");
  return found;
}

/** Returns the keys without a row by vault, in their order. */
async function withoutRow(db: D1Database, keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (keys.length === 0) return new Map();
  const vaults = [...new Set(keys.map((key) => key.slice(0, 36)))];
  const read = await runBatch<[Reference, { vault: string }]>(db, referencedStatement(db, keys), knownVaults(db, vaults));
  const [references, vaultRows] = must("read the rows of contents", read);
  const isReferenced = isReferencedBy(references);
  const known = new Set(vaultRows.map(({ vault }) => vault));
  const missing = keys.filter((key) => !isReferenced(key) && known.has(key.slice(0, 36)));
  return Map.groupBy(missing, (key) => key.slice(0, 36));
}
