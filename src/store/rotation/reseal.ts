import { formatPosition, type ResealPosition, type ResealStage, START } from "../../model/reseal.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Vault } from "../../model/vault.ts";
import { type BatchOutcome, runBatch, type Store, tryBatch } from "../d1/database.ts";
import { type OpenVault, openVault, type VaultRow } from "../vaults/rows.ts";
import { resealRow, resealStatements } from "./reseal-rows.ts";
import { type Columns, RESEAL_TABLES, type ResealTable, readSql, SLICE, stagesFrom } from "./reseal-tables.ts";

/**
 * The slices of a reseal. A slice reads the row of the vault with the next rows, in one D1 call, and writes them with the new
 * position, in one batch that takes effect only while the vault is as it was read: no commit and no other slice came in between. So a
 * slice that is repeated, late or of another coordinator does no harm, and D1 alone knows how far the reseal has come.
 */

/** The vault after a slice. */
export interface ResealState {
  readonly vault: Vault;
  /** Where the reseal goes on; absent when none is under way. */
  readonly position: ResealPosition | undefined;
  /** Where this slice has come, also when it was the last one. */
  readonly reached?: ResealPosition | undefined;
}

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  /**
   * Inserts a vault without an id unless the vault is as it was read: then the NOT NULL column refuses the batch. So it does while the
   * vault has no row, as in the middle of a restore: the rows that the restore has written must not get the texts of a slice of before.
   */
  require: `
    INSERT INTO vaults (id) SELECT NULL WHERE NOT EXISTS (
      SELECT 1 FROM vaults WHERE id = ?1 AND content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4 AND data_key_id = ?5
        AND resealed = ?6)`,
  /** Moves the position, or ends the reseal when there is no next one. */
  move: `
    UPDATE vaults SET resealed = ?2,
      previous_data_key_id = iif(?2 IS NULL, NULL, previous_data_key_id),
      previous_data_key = iif(?2 IS NULL, NULL, previous_data_key),
      previous_index_key = iif(?2 IS NULL, NULL, previous_index_key)
    WHERE id = ?1`,
};

/**
 * Does one slice. In: where the reseal is expected to be; absent, or when it is elsewhere, the slice only reads. Out: the state of the
 * vault. Errors: `vault_not_found`, those of opening the vault, `unavailable`, `database_full`. After each of them it may be repeated.
 */
export async function resealSlice(store: Store, id: string, expected: ResealPosition | undefined): Promise<Result<ResealState>> {
  const stages = expected ? stagesOf(expected) : [];
  const read = await runBatch<[VaultRow, ...Columns[]]>(
    store.db,
    store.db.prepare(SQL.vault).bind(id),
    ...stages.map((stage) => readStage(store.db, id, stage, expected!)),
  );
  if (!read.ok) return read;
  const [[row], ...rows] = read.value;
  if (!row) return fail("vault_not_found");
  const opened = await openVault(store, row);
  if (!opened.ok) return opened;
  const { vault } = opened.value;
  const position = vault.reseal?.position;
  if (!expected || !position || formatPosition(position) !== formatPosition(expected)) return ok({ vault, position });
  const slice = await resealStages(store.db, opened.value, position, stages, rows);
  const outcome = await tryBatch(store.db, [...moveStatements(store.db, row, slice.next), ...slice.statements]);
  if (outcome === "stale") return ok({ vault, position });
  if (outcome !== "committed") return fail(FAILURES[outcome]);
  return ok({ vault, position: slice.next, reached: slice.reached });
}

const FAILURES: Readonly<Record<Exclude<BatchOutcome, "committed" | "stale">, "internal" | "database_full" | "unavailable">> = {
  refused: "internal",
  full: "database_full",
  unavailable: "unavailable",
  unknown: "unavailable",
};

/** The stages that a slice reads: at the begin of one all that follow, so that a small vault takes one slice. */
const stagesOf = ({ stage, after }: ResealPosition): readonly ResealStage[] => (after.length > 0 ? [stage] : stagesFrom(stage));

function readStage(db: D1Database, vault: string, stage: ResealStage, position: ResealPosition): D1PreparedStatement {
  const table = RESEAL_TABLES[stage];
  const begins = stage !== position.stage || position.after.length === 0;
  return db.prepare(readSql(table)).bind(vault, ...(begins ? Object.values(table.key) : position.after));
}

function moveStatements(db: D1Database, row: VaultRow, next: ResealPosition | undefined): D1PreparedStatement[] {
  const state = [row.content_version, row.attribute_version, row.updated_at, row.data_key_id, row.resealed];
  return [db.prepare(SQL.require).bind(row.id, ...state), db.prepare(SQL.move).bind(row.id, next ? formatPosition(next) : null)];
}

interface Slice {
  readonly statements: readonly D1PreparedStatement[];
  readonly next: ResealPosition | undefined;
  readonly reached: ResealPosition;
}

/** Seals the rows of the stages again, up to the first stage of which rows are left. */
async function resealStages(
  db: D1Database,
  { vault, keys }: OpenVault,
  from: ResealPosition,
  stages: readonly ResealStage[],
  read: readonly (readonly Columns[])[],
): Promise<Slice> {
  const statements: D1PreparedStatement[] = [];
  let position = from;
  for (const [index, stage] of stages.entries()) {
    const [table, rows] = [RESEAL_TABLES[stage], read[index]!];
    const resealed = await Promise.all(rows.map((row) => resealRow(keys, vault.id, table, row)));
    const changed = resealed.flatMap((row) => (row.changed ? [row.changed] : []));
    statements.push(...resealStatements(db, vault.id, table, changed));
    const last = rows.at(-1);
    position = {
      stage,
      after: last ? Object.keys(table.key).map((column) => last[column]!) : [],
      items: position.items + (stage === "items" ? rows.length : 0),
      rows: position.rows + rows.length,
      unreadable: position.unreadable + resealed.filter(({ unreadable }) => unreadable).length,
    };
    if (!isLast(table, rows)) return { statements, next: position, reached: position };
  }
  const [, next] = stagesFrom(position.stage);
  return { statements, next: next && { ...position, stage: next, after: START.after }, reached: position };
}

/** Whether no rows of the table are left. */
function isLast({ texts }: ResealTable, rows: readonly Columns[]): boolean {
  const characters = rows.reduce(
    (sum, row) => sum + Object.keys(texts).reduce((size, name) => size + String(row[name]).length, 0),
    0,
  );
  return rows.length < SLICE.rows && characters < SLICE.characters;
}
