import { isCount } from "../tables/numbers.ts";
import { textBytes } from "../tables/slices.ts";
import { ALL_TABLES, type NamedTable, TABLES_OF_CONTENTS } from "../tables/tables.ts";

/** Counts the rows of a vault. The counters in the row of the vault have to equal these counts. */

export interface Counted {
  readonly items: number;
  readonly deleted: number;
  readonly files: number;
  readonly file_bytes: number;
  readonly sealed_bytes: number;
  /** The most earlier versions of one Item. */
  readonly versions_kept: number;
}

/** Counts that exceed the number of rows if rows are missing, each with the column that bounds it. A count above its bound is damaged. */
const BOUNDS = { items: "created", deleted: "created", files: "files", file_bytes: "file_bytes" } as const;

export type CountOfLoss = keyof typeof BOUNDS;

/** Returns true if the count of a vault shows that rows are missing. */
export const missesRows = (name: CountOfLoss, row: Readonly<Record<CountOfLoss | "created", number>>, found: number): boolean =>
  row[name] > found && row[name] <= row[BOUNDS[name]] && isCount(row[name]);

/** SQL: the same for a row of `vaults`. `found` is the expression for the number of rows. */
export const missesRowsSql = (name: CountOfLoss, found: string): string =>
  `(vaults.${name} > ${found} AND vaults.${name} <= vaults.${BOUNDS[name]})`;

/** A larger size is damaged and counts as nothing: a sum with it would fail the query, or exceed every quota. */
const FILE_BYTES_MAX = 2 ** 40;

/** SQL: the bytes of the sealed texts of a table that `sealed_bytes` counts. */
const bytesIn = (table: NamedTable): string =>
  `(SELECT coalesce(sum(${textBytes(table)}), 0) FROM ${table.name} WHERE vault_id = ?1)`;

/** SQL: the bytes of the sealed texts of all rows of the vault ?1. */
export const SEALED_BYTES = ALL_TABLES.filter(({ counters }) => counters?.includes("sealed_bytes"))
  .map(bytesIn)
  .join(" + ");

/** SQL: the number of Files of the vault ?1, and the bytes of its contents. */
const FILES = `(SELECT count(*) FROM files AS counted WHERE vault_id = ?1
  AND EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND items.id = counted.item_id))`;
const FILE_BYTES = `
  (SELECT coalesce(sum(CASE WHEN size BETWEEN 0 AND ${FILE_BYTES_MAX} THEN size ELSE 0 END), 0) FROM (
    ${TABLES_OF_CONTENTS.map(({ name }) => `SELECT item_id, id, generation, size FROM ${name} WHERE vault_id = ?1`).join(" UNION ")}))`;

/** SQL: a row if rows of Files of the vault ?1 are missing. Its counts then exceed the number of rows. */
export const MISSES_FILES = `SELECT 1 FROM vaults WHERE id = ?1 AND (${missesRowsSql("files", FILES)} OR ${missesRowsSql("file_bytes", FILE_BYTES)})`;

/** SQL: the counts of the vault ?1. Each row is read once for each count that includes it. */
export const COUNTED = `
  SELECT
    (SELECT count(*) FROM items WHERE vault_id = ?1) AS items,
    (SELECT count(*) FROM deleted_items WHERE vault_id = ?1) AS deleted,
    ${FILES} AS files,
    ${FILE_BYTES} AS file_bytes,
    ${SEALED_BYTES} AS sealed_bytes,
    (SELECT coalesce(max(kept), 0) FROM (
      SELECT count(*) - NOT EXISTS (SELECT 1 FROM items WHERE vault_id = ?1 AND id = item_id) AS kept
      FROM item_versions WHERE vault_id = ?1 GROUP BY item_id)) AS versions_kept`;
