import { REGISTRY } from "../../model/backup.ts";
import { type ContentAddress, addressOf } from "../../model/file.ts";
import { beginPhase } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { SLICE_MAX as PURGE_SLICE } from "../commit/deleted-vaults.ts";
import { runBatch } from "../d1/database.ts";
import { deleteSliceOfVault, hasRowsOfVault, keyInVault } from "../tables/slices.ts";
import { TABLES_OF_CONTENTS, TABLES_OF_VAULT } from "../tables/tables.ts";
import { NEWEST_KEY_ID } from "../vaults/rows.ts";
import { adoptDeployment, beginRestore, IS_MARKED, type VaultState } from "./mark.ts";
import { NO_CONTENTS, type RestorePorts, type Step, type Stepped } from "./step.ts";

/** Deletes the rows of a vault in D1, before the rows of a backup are written. */

/** Rows of Files, and entries of the log, in one step. */
const SLICE_ROWS_MAX = { files: 200, entries: 1_000 };

const SQL = {
  /**
   * Keeps a vault whose state differs from the state that was compared with the backup, unless later writes are to be overwritten too. A
   * damaged time is compared as JavaScript has rounded it.
   */
  deleteVault: `
    DELETE FROM vaults WHERE id = ?1 AND ${NEWEST_KEY_ID} = ?4
      AND (?5 OR content_version + attribute_version = ?2 AND CAST(updated_at AS REAL) = ?3)`,
  deleteDeletion: `DELETE FROM deleted_vaults WHERE id = ?1 AND ${IS_MARKED}`,
  state: `SELECT EXISTS (SELECT 1 FROM vaults WHERE id = ?1) AS isThere, ${IS_MARKED} AS isMarked`,
  files: TABLES_OF_CONTENTS.map(
    (table) => `
      SELECT item_id, id, generation FROM ${table.name} WHERE vault_id = ?1
      ORDER BY ${keyInVault(table).join(", ")} LIMIT ${SLICE_ROWS_MAX.files}`,
  ),
  /** Deletes only rows of Files that `files` has read and whose contents were recorded before, even if the call takes effect late. */
  deleteFiles: TABLES_OF_CONTENTS.map(
    (table) => `
      DELETE FROM ${table.name} WHERE vault_id = ?1
        AND (item_id, id, generation) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2))`,
  ),
  deleteRows: TABLES_OF_VAULT.filter((table) => !TABLES_OF_CONTENTS.includes(table)).map((table) =>
    deleteSliceOfVault(table, PURGE_SLICE),
  ),
  /** The entries stay in the log without a number, so they are no events. Entries that are also in the backup get their numbers again. */
  unnumber: `
    UPDATE activity SET sequence = NULL, at = NULL WHERE vault_id = ?1
      AND id IN (SELECT id FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL LIMIT ${SLICE_ROWS_MAX.entries})`,
  left: `
    SELECT 1 WHERE ${hasRowsOfVault(TABLES_OF_VAULT)} OR EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL)`,
};

interface File {
  readonly item_id: string;
  readonly id: string;
  readonly generation: string;
}

/** The rows of a vault in D1. */
interface Leftovers {
  /** True if the row of the vault exists, and true if the restore has its mark. */
  readonly isThere: boolean;
  readonly isMarked: boolean;
  /** True if there are other rows. */
  readonly any: boolean;
  /** The rows of Files of the next slice, by table. */
  readonly files: readonly (readonly File[])[];
}

/** Fails with `unavailable`. */
async function loadLeftovers(db: D1Database, vault: string): Promise<Result<Leftovers>> {
  type State = { readonly isThere: number; readonly isMarked: number };
  const bind = (sql: string) => db.prepare(sql).bind(vault);
  const read = await runBatch<[State, unknown, ...File[]]>(db, bind(SQL.state), bind(SQL.left), ...SQL.files.map(bind));
  if (!read.ok) return read;
  const [[state], left, ...files] = read.value;
  return ok({ isThere: state!.isThere === 1, isMarked: state!.isMarked === 1, any: left.length > 0, files });
}

/** The statements that remove the row of a vault, unless it has changed, and the record of its deletion, and set the mark. */
const removeVault = (db: D1Database, step: Step, compared: VaultState | undefined, overwrite: boolean): D1PreparedStatement[] => {
  const { vault } = step.manifest;
  const { sequence, updated_at, newest_key } = compared ?? {};
  return [
    adoptDeployment(db, step),
    ...(compared ? [db.prepare(SQL.deleteVault).bind(vault, sequence, updated_at, newest_key, overwrite ? 1 : 0)] : []),
    beginRestore(db, step),
    db.prepare(SQL.deleteDeletion).bind(vault),
  ];
};

/** Returns the statements that delete a slice of the rows from `loadLeftovers`. */
const deleteLeftovers = (db: D1Database, vault: string, { files }: Leftovers): D1PreparedStatement[] => [
  ...SQL.deleteFiles.map((sql, index) => {
    const keys = files[index]!.map(({ item_id, id, generation }) => [item_id, id, generation]);
    return db.prepare(sql).bind(vault, JSON.stringify(keys));
  }),
  ...[...SQL.deleteRows, SQL.unnumber].map((sql) => db.prepare(sql).bind(vault)),
];

/**
 * The second phase: deletes the row of the vault, if there is one, and then its other rows, one slice at a time. Their contents stay in FILES
 * for the retention. Contents that the backup names too are not deleted. Nothing of the registry is deleted.
 *
 * Fails with `backup_newer` if the vault has changed since it was compared and must not be overwritten, as the ports do, and with
 * `unavailable`.
 */
export async function clearStep({ store, input, prepare, write }: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position, compared } = step;
  const { vault } = manifest;
  const { db } = store;
  if (position.index === 0) {
    const prepared = vault === REGISTRY ? ok(undefined) : await prepare(vault, NO_CONTENTS);
    if (!prepared.ok) return prepared;
    const removed = await write(removeVault(db, step, compared, input.overwrite));
    if (!removed.ok) return removed;
    return ok({ position: vault === REGISTRY ? beginPhase("rows") : { ...position, index: 1 } });
  }
  const left = await loadLeftovers(db, vault);
  if (!left.ok) return left;
  const { isThere, isMarked, any, files } = left.value;
  if (isThere) return fail("backup_newer", `vault ${vault} was changed while its restore began`);
  // The vault had changed, so it was not removed, and then it was deleted.
  if (!isMarked) return ok({ position: beginPhase("clear") });
  if (!any) return ok({ position: beginPhase("rows") });
  const released: ContentAddress[] = files.flat().map((row) => addressOf(vault, row.item_id, row));
  const prepared = await prepare(vault, { ...NO_CONTENTS, released });
  if (!prepared.ok) return prepared;
  const deleted = await write(deleteLeftovers(db, vault, left.value));
  return deleted.ok ? ok({ position: { ...position, index: position.index + 1 } }) : deleted;
}
