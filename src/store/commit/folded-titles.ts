import { FOLD_VERSION } from "../../model/fold.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { BY_FOLDED_TITLE, FOLDED, foldedIndex, UNREADABLE } from "../items/folded-index.ts";
import { type ItemRow, openSummary } from "../items/items.ts";
import { KEY_COLUMNS, type KeyRow, openKeys } from "../vaults/rows.ts";

/**
 * Indexes the titles that a release before the index has written: in slices, by the coordinator of the vault. It needs no
 * fence, because a value contains the title_index of the title that it was made from: beside another title it counts as
 * missing (folded-index.ts, docs/consistency.md).
 */

/** The most rows of a slice, and about the most characters of their summaries. */
const SLICE = { rows: 500, characters: 4 * 1024 * 1024 };

const SQL = {
  keys: `SELECT ${KEY_COLUMNS} FROM vaults WHERE id = ?1`,
  // Up to the row with which the sum exceeds the size. The sizes are added up apart from the texts, which would be copied.
  rows: `
    SELECT items.id, version, title_index, overview
    FROM (
      SELECT id, sum(octets) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - octets AS earlier
      FROM (
        SELECT id, octet_length(overview) AS octets FROM ${BY_FOLDED_TITLE}
        WHERE vault_id = ?1 AND ${FOLDED} IS NULL LIMIT ${SLICE.rows})) AS slice
    CROSS JOIN items ON items.vault_id = ?1 AND items.id = slice.id
    WHERE earlier < ${SLICE.characters}`,
  // An object by ids instead of a list: SQLite would go through the list for each row. With the + it takes the primary key.
  update: `
    UPDATE items SET folded_index = ?2 ->> id
    WHERE vault_id = ?1 AND id IN (SELECT key FROM json_each(?2)) AND +(${FOLDED}) IS NULL`,
  finish: `
    UPDATE vaults SET fold = ${FOLD_VERSION}
    WHERE id = ?1 AND fold <> ${FOLD_VERSION}
      AND NOT EXISTS (SELECT 1 FROM ${BY_FOLDED_TITLE} WHERE vault_id = ?1 AND ${FOLDED} IS NULL)`,
  left: `SELECT 1 FROM ${BY_FOLDED_TITLE} WHERE vault_id = ?1 AND ${FOLDED} IS NULL LIMIT 1`,
};

type Row = Omit<ItemRow, "details"> & { title_index: string };

/**
 * Indexes a slice of the titles of a vault, in two D1 calls. Out: whether titles are left. A row that does not open gets a
 * mark, so that it is not read again. Errors: `unavailable`; those of unwrapping the keys.
 */
export async function foldTitles(store: Store, vault: string): Promise<Result<boolean>> {
  const { db } = store;
  const read = await runBatch<[KeyRow, Row]>(db, db.prepare(SQL.keys).bind(vault), db.prepare(SQL.rows).bind(vault));
  if (!read.ok) return read;
  const [[row], rows] = read.value;
  if (!row) return ok(false); // the vault was deleted
  const keys = await openKeys(store, row);
  if (!keys.ok) return keys;
  const indexes = await Promise.all(
    rows.map(async ({ title_index, ...item }) => {
      const summary = await openSummary(keys.value, vault, item);
      const index = summary.ok ? await foldedIndex(keys.value.newest, summary.value.title) : UNREADABLE;
      return [item.id, index + title_index] as const;
    }),
  );
  const written = await runBatch<[never, never, object]>(
    db,
    db.prepare(SQL.update).bind(vault, JSON.stringify(Object.fromEntries(indexes))),
    db.prepare(SQL.finish).bind(vault),
    db.prepare(SQL.left).bind(vault),
  );
  return written.ok ? ok(written.value[2].length > 0) : written;
}

/** Vaults, and slices of them, per run of the cron trigger: at most 50,000 Items. */
const RUN = { vaults: 100, slices: 100 };

const UNFINISHED = `
  SELECT id FROM vaults WHERE fold <> ${FOLD_VERSION}
    OR EXISTS (SELECT 1 FROM ${BY_FOLDED_TITLE} WHERE vault_id = vaults.id AND ${FOLDED} IS NULL)
  ORDER BY random() LIMIT ${RUN.vaults}`;

/**
 * Has the coordinators index the titles of some of the vaults that are not finished, in random order, so that vaults that fail
 * do not keep the others waiting. In: `foldSlice` calls the coordinator of a vault, which indexes a slice and tells whether titles
 * are left. For the cron trigger: throws when D1 or a coordinator fails.
 */
export async function foldVaults(db: D1Database, foldSlice: (vault: string) => Promise<Result<boolean>>): Promise<void> {
  const unfinished = await runBatch<[{ id: string }]>(db, db.prepare(UNFINISHED));
  if (!unfinished.ok) throw new Error("the vaults could not be read");
  let slices = 0;
  let failed = false;
  for (const { id } of unfinished.value[0]) {
    // A vault that fails does not keep the others waiting: it stays unfinished.
    for (let left = true; left && slices < RUN.slices; slices++) {
      const done = await foldSlice(id).catch(() => fail("unavailable"));
      failed ||= !done.ok;
      left = done.ok && done.value;
    }
  }
  if (failed) throw new Error("the titles of a vault could not be indexed");
}
