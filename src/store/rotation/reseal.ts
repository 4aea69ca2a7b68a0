import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { formatPosition, RESEAL_STAGES, type ResealPosition, type ResealStage, START } from "../../model/reseal.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Vault } from "../../model/vault.ts";
import { keyInVault, keyOfNextSlice, type KeyValue } from "../tables/slices.ts";
import { type NamedTable, tableOf } from "../tables/tables.ts";
import { runBatch, type Store, writeFenced } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";
import { isAsRead, type OpenVault, openVault, valuesAsRead, type VaultRow } from "../vaults/rows.ts";
import { type Columns, readRows, resealRow, RESEAL_SLICE_MAX, writeRows } from "./reseal-rows.ts";

/**
 * The slices of a reseal. A slice reads the row of the vault with the next rows, in one D1 call, and writes them with the new
 * position, in one batch that takes effect only while the vault is as it was read: no commit and no other slice came in between. So a
 * slice that is repeated, late or of another coordinator does no harm, and D1 alone knows how far the reseal has come.
 *
 * When the earlier keys may go: since the vault has a newer one, nothing is sealed under an earlier one. Commits seal under the newest,
 * which their fence compares, and so do webhooks. But commits also copy texts as they are sealed, such as that of a File that a restored
 * version brings back, and a copy may lie where the first pass has been; and the position is a plain column, which may be damaged. So it only
 * tells which rows need not be read again. What removes the keys is the last pass, one slice that has seen all rows from the first one to the
 * last, of all tables, while the vault had the versions that its batch compares. It reads only the rows whose texts have the header of an
 * earlier key. Those are few, or do not open.
 */

export interface ResealState {
  /** The vault as it was read before the slice. */
  readonly vault: Vault;
  /** Where the reseal goes on; absent when none is under way, or when this slice has ended it. */
  readonly position: ResealPosition | undefined;
}

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  /**
   * It refuses the batch also while the vault has no row, as in the middle of a restore: the rows that the restore has written must not get
   * the texts of a slice that was read before it.
   */
  require: fence(isAsRead("resealed IS ?6")),
  /**
   * Moves the position; without a next one the reseal ends, and the vault has its newest key alone, which is the first line of the list.
   * A rotation may have wrapped the keys again since the row was read, so the list is cut as it is.
   */
  move: `
    UPDATE vaults SET resealed = ?2, keys = iif(?2 IS NULL, substr(keys, 1, instr(keys || char(10), char(10)) - 1), keys)
    WHERE id = ?1`,
};

/**
 * Does one slice. In: where the reseal is expected to be; absent, or when it is elsewhere, the slice only reads. Out: the state of the
 * vault. Errors: `vault_not_found`, those of opening the vault, `unavailable`, `database_full`; `integrity`, when the last pass finds more than
 * `LAST_PASS_READS_MAX` slices of rows that do not open. After each of them it may be repeated.
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
  const position = vault.reseal && checkPosition(vault.reseal.position);
  if (!expected || !position || formatPosition(position) !== formatPosition(expected)) return ok({ vault, position });
  const pass = position.under === null ? firstPass : lastPass;
  const passed = await pass(store.db, opened.value, position, rows);
  if (!passed.ok) return passed;
  const { next, statements } = passed.value;
  const written = await writeFenced(store.db, [...moveStatements(store.db, opened.value, next), ...statements], "busy");
  if (!written.ok && written.failure.kind !== "busy") return written;
  return ok({ vault, position: written.ok ? next : position });
}

/** The position; the begin when it is that of no row of its table: D1 would refuse the values. */
function checkPosition(position: ResealPosition): ResealPosition {
  const { stage, after } = position;
  return after.length === 0 || after.length === keyInVault(tableOf(stage)!).length ? position : START;
}

/** The stages that a slice reads: at the begin of one all that follow, so that a small vault takes one slice; in the last pass all. */
function stagesOf({ stage, after, under }: ResealPosition): readonly ResealStage[] {
  if (under !== null) return RESEAL_STAGES;
  return after.length > 0 ? [stage] : RESEAL_STAGES.slice(RESEAL_STAGES.indexOf(stage));
}

/** Reads the next rows of a stage: those after the position, and of a later stage the first ones. */
const readStage = (db: D1Database, vault: string, stage: ResealStage, { stage: first, after, under }: ResealPosition) =>
  readRows(db, vault, tableOf(stage)!, stage === first ? after : START.after, under);

const moveStatements = (db: D1Database, { vault, row }: OpenVault, next: ResealPosition | undefined): D1PreparedStatement[] => [
  db.prepare(SQL.require).bind(...valuesAsRead(vault), row.resealed),
  db.prepare(SQL.move).bind(row.id, next ? formatPosition(next) : null),
];

/** What a slice has done, or is to write. */
interface Slice {
  readonly statements: readonly D1PreparedStatement[];
  /** Where the reseal goes on; absent when the earlier keys go. */
  readonly next: ResealPosition | undefined;
}

/** Rows of a table that were sealed again. */
interface ResealedRows {
  /** None when no row changes. */
  readonly statements: readonly D1PreparedStatement[];
  readonly unreadable: number;
  /** The key after which further rows may be; `null` when there are none. */
  readonly nextKey: readonly KeyValue[] | null;
}

async function resealRows(
  db: D1Database,
  keys: VaultKeys,
  vault: string,
  table: NamedTable,
  rows: readonly Columns[],
): Promise<ResealedRows> {
  const resealed = await Promise.all(rows.map((row) => resealRow(keys, vault, table, row)));
  const changed = resealed.flatMap((row) => (row.changed ? [row.changed] : []));
  const unreadable = resealed.filter((row) => row.unreadable).length;
  return { statements: writeRows(db, vault, table, changed), unreadable, nextKey: keyOfNextSlice(table, RESEAL_SLICE_MAX, rows) };
}

/** Seals the rows of the stages again, up to the first stage of which rows are left. In: the rows of the stages of `stagesOf`. */
async function firstPass(
  db: D1Database,
  { vault, keys }: OpenVault,
  from: ResealPosition,
  firstRows: readonly (readonly Columns[])[],
): Promise<Result<Slice>> {
  const statements: D1PreparedStatement[] = [];
  let position = from;
  for (const [index, stage] of stagesOf(from).entries()) {
    const rows = firstRows[index]!;
    const { nextKey, unreadable, statements: writes } = await resealRows(db, keys, vault.id, tableOf(stage)!, rows);
    statements.push(...writes);
    position = {
      stage,
      after: nextKey ?? START.after,
      under: null,
      items: position.items + (stage === "items" ? rows.length : 0),
      rows: position.rows + rows.length,
      unreadable: position.unreadable + unreadable,
    };
    if (nextKey) return ok({ statements, next: position });
  }
  const stage = RESEAL_STAGES[RESEAL_STAGES.indexOf(position.stage) + 1];
  if (stage) return ok({ statements, next: { ...position, stage } });
  const under = keys.all.slice(1).map(({ number }) => number);
  return ok({ statements, next: { ...position, stage: START.stage, under } });
}

/** At most so many D1 calls read on in the last pass: of an invocation, Workers allow 1,000. */
const LAST_PASS_READS_MAX = 500;

/**
 * Reads all rows with a text under an earlier key, passes over those that do not open, and seals the others again: those in the last slice of
 * a table, which is what commits copy. With others the first pass begins again, because the position may have been damaged.
 * In: the first rows of each stage. Errors: `unavailable`, `integrity`.
 */
async function lastPass(
  db: D1Database,
  { vault, keys }: OpenVault,
  position: ResealPosition,
  firstRows: readonly (readonly Columns[])[],
): Promise<Result<Slice>> {
  const statements: D1PreparedStatement[] = [];
  let reads = 0;
  for (const [index, stage] of RESEAL_STAGES.entries()) {
    const table = tableOf(stage)!;
    let rows = firstRows[index]!;
    for (;;) {
      const { nextKey, statements: writes } = await resealRows(db, keys, vault.id, table, rows);
      statements.push(...writes);
      if (!nextKey) break;
      if (writes.length > 0) return ok({ statements, next: START });
      if (++reads > LAST_PASS_READS_MAX) return fail("integrity");
      const more = await runBatch<[Columns]>(db, readRows(db, vault.id, table, nextKey, position.under));
      if (!more.ok) return more;
      [rows] = more.value;
    }
  }
  return ok({ statements, next: undefined });
}
