import { type ContentAddress, addressOf } from "../../model/file.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { SLICE_MAX as PURGE_SLICE } from "../commit/deleted-vaults.ts";
import { fence } from "../d1/fence.ts";
import { deleteSliceOfVault, hasRowsOfVault, keyInVault } from "../tables/slices.ts";
import { TABLES_OF_CONTENTS, TABLES_OF_VAULT } from "../tables/tables.ts";
import { moveRestore, type VaultState } from "./progress.ts";
import { NO_CONTENTS, type RestorePorts } from "./ports.ts";
import type { Step, Stepped } from "./step.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";

/** Deletes the rows of a vault in D1, before the rows of a backup are written. */

/** The most rows of Files, and the most entries of the log, of one step. */
const SLICE_ROWS_MAX = { files: 200, entries: 1_000 };

const SQL = {
  /**
   * Refuses a vault whose state is not the one that was compared with the backup. A damaged time is compared as JavaScript has rounded it.
   */
  deleteVault: `
    DELETE FROM vaults WHERE id = ?1 AND content_version + attribute_version = ?2 AND CAST(updated_at AS REAL) = ?3 AND ${NEWEST_KEY_ID} = ?4`,
  isGone: fence("NOT EXISTS (SELECT 1 FROM vaults WHERE id = ?1)"),
  deleteDeletion: "DELETE FROM deleted_vaults WHERE id = ?1",
  files: TABLES_OF_CONTENTS.map(
    (table) => `
      SELECT item_id, id, generation FROM ${table.name} WHERE vault_id = ?1
      ORDER BY ${keyInVault(table).join(", ")} LIMIT ${SLICE_ROWS_MAX.files}`,
  ),
  /** Of Files a slice has the rows that `files` has read, whose contents were recorded before. */
  deleteRows: TABLES_OF_VAULT.map((table) =>
    deleteSliceOfVault(table, TABLES_OF_CONTENTS.includes(table) ? { ...PURGE_SLICE, rows: SLICE_ROWS_MAX.files } : PURGE_SLICE),
  ),
  /** The entries stay in the log without a number, so they are no events. The entries that the backup has too get their numbers again. */
  unnumber: `
    UPDATE activity SET sequence = NULL, at = NULL WHERE vault_id = ?1
      AND id IN (SELECT id FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL LIMIT ${SLICE_ROWS_MAX.entries})`,
  left: `
    SELECT 1 WHERE ${hasRowsOfVault(TABLES_OF_VAULT)} OR EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL)`,
};

/** The rows of a vault in D1, besides its own row. */
interface Leftovers {
  /** Whether there are any rows. */
  readonly any: boolean;
  /** The contents that the next slice of rows of Files names. */
  readonly contents: readonly ContentAddress[];
}

/** Errors: `unavailable`. */
async function loadLeftovers(db: D1Database, vault: string): Promise<Result<Leftovers>> {
  type File = { readonly item_id: string; readonly id: string; readonly generation: string };
  const bind = (sql: string) => db.prepare(sql).bind(vault);
  const read = await runBatch<[unknown, ...File[]]>(db, bind(SQL.left), ...SQL.files.map(bind));
  if (!read.ok) return read;
  const [left, ...rows] = read.value;
  return ok({ any: left.length > 0, contents: rows.flat().map((row) => addressOf(vault, row.item_id, row)) });
}

/** The statements that remove the row of a vault, in the state that was read, and the record of its deletion. */
const removeVault = (db: D1Database, vault: string, state: VaultState | undefined): D1PreparedStatement[] => [
  ...(state ? [db.prepare(SQL.deleteVault).bind(vault, state.sequence, state.updated_at, state.newest_key)] : []),
  db.prepare(SQL.isGone).bind(vault),
  db.prepare(SQL.deleteDeletion).bind(vault),
];

/** The statements that delete a slice of what `loadLeftovers` has found. */
const deleteLeftovers = (db: D1Database, vault: string): D1PreparedStatement[] =>
  [...SQL.deleteRows, SQL.unnumber].map((sql) => db.prepare(sql).bind(vault));

/**
 * The second phase: it deletes the row of the vault, if there is one, and then the other rows. Their contents stay in FILES for the
 * retention. The contents that the backup names too are not deleted at all. Errors: those of `moveRestore`, `unavailable`.
 */
export async function clearStep({ store, prepare }: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position, known, budget } = step;
  const { db } = store;
  budget.spend(3, 0);
  const found = position.index === 0 ? undefined : await loadLeftovers(db, manifest.vault);
  if (found && !found.ok) return found;
  const contents = found?.value.contents ?? [];
  const prepared = await prepare({ ...NO_CONTENTS, released: contents });
  if (!prepared.ok) return prepared;
  const finished = found?.value.any === false;
  const next = finished
    ? ({ phase: "rows", part: 0, index: 0, rowsLeftOut: 0 } as const)
    : { ...position, index: position.index + 1 };
  const statements = !found ? removeVault(db, manifest.vault, known.vault) : finished ? [] : deleteLeftovers(db, manifest.vault);
  const saved = await moveRestore(db, step, position, next, statements);
  return saved.ok ? ok({ position: next, saved: next }) : saved;
}
