import { defect, must } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import { knownVaults } from "./known-vaults.ts";
import type { Bucket, ObjectHead } from "../buckets/bucket.ts";

/**
 * Finds contents in R2 that no row references. They come from a database that was restored, perhaps only for a while. Each run of the
 * cron trigger looks through a part of the bucket; coordinators sweep what it finds (sweep.ts), so nothing is deleted here.
 */

/** The key of the object that stores the position: the last key that was read. No content has such a key. */
const POSITION = "positions/contents";

/** The most lists of a run, of 1,000 objects each, and the most vaults whose coordinators it calls. */
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

/** The statement that reads the rows that may need one of these contents. */
export const referencedStatement = (db: D1Database, keys: readonly string[]): D1PreparedStatement =>
  db.prepare(REFERENCED).bind(JSON.stringify(keys));

const keyOf = ({ vault, file, generation }: Reference): string => `${vault}/${file}/${generation}`;

const partsOf = ({ vault, file, generation }: Reference): string[] => [`${vault}/${file}`, `${vault} ${generation}`];

const partsOfKey = (key: string): string[] => {
  const [vault = "", file = "", generation = ""] = key.split("/");
  return partsOf({ vault, file, generation });
};

/** Returns the keys of the contents that rows name. */
export const namedBy = (rows: readonly Reference[]): ReadonlySet<string> => new Set(rows.map(keyOf));

/** The most Files whose objects are listed, each by one call. A row of a further File counts as damaged. */
const LISTED_FILES_MAX = 10;

/**
 * Returns whether a row may need a content: it names the content, or it is damaged and has the content's File or generation. A row whose
 * own content is in the bucket is not damaged. `listed` has keys of the bucket. Throws if the bucket fails.
 */
export async function neededBy(
  bucket: Bucket,
  rows: readonly Reference[],
  listed: readonly string[],
): Promise<(key: string) => boolean> {
  const [named, stored] = [namedBy(rows), new Set(listed)];
  const unnamed = new Set(listed.filter((key) => !named.has(key)).flatMap(partsOfKey));
  const isStored = (row: Reference) => stored.has(keyOf(row));
  const suspects = rows.filter((row) => !isStored(row) && partsOf(row).some((part) => unnamed.has(part)));
  const keys = suspects.map(keyOf).filter((key) => CONTENT.test(key));
  for (const prefix of [...new Set(keys.map((key) => key.slice(0, 74)))].slice(0, LISTED_FILES_MAX)) {
    for (const { key } of (await bucket.list({ prefix })).objects) stored.add(key);
  }
  const damaged = new Set(suspects.filter((row) => !isStored(row)).flatMap(partsOf));
  return (key) => named.has(key) || partsOfKey(key).some((part) => damaged.has(part));
}

/**
 * Looks through the next part of the bucket, and hands the keys of contents without a row to `watch`, vault by vault. A vault that D1 does
 * not know proves nothing. In: Unix milliseconds. Out: the number of keys that `watch` did not know. Throws when D1, R2 or a `watch`
 * fails. A run that ends early is repeated from the same position; one whose `watch` failed continues after it.
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
    const missing = await withoutRow(db, bucket, objects, now);
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

/** Returns the keys of old objects that no row needs, by vault, in their order. */
async function withoutRow(
  db: D1Database,
  bucket: Bucket,
  objects: readonly ObjectHead[],
  now: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const isOld = ({ key, uploaded }: ObjectHead) => CONTENT.test(key) && uploaded.getTime() <= now - AGE_MS_MIN;
  const keys = objects.filter(isOld).map(({ key }) => key);
  if (keys.length === 0) return new Map();
  const vaults = [...new Set(keys.map((key) => key.slice(0, 36)))];
  const read = await runBatch<[Reference, { vault: string }]>(db, referencedStatement(db, keys), knownVaults(db, vaults));
  const [references, vaultRows] = must("read the rows of contents", read);
  const isNeeded = await neededBy(
    bucket,
    references,
    objects.map(({ key }) => key),
  );
  const known = new Set(vaultRows.map(({ vault }) => vault));
  const missing = keys.filter((key) => !isNeeded(key) && known.has(key.slice(0, 36)));
  return Map.groupBy(missing, (key) => key.slice(0, 36));
}
