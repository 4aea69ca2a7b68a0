import { formatPosition, RESEAL_STAGES, type ResealPosition, type ResealStage, START } from "../../model/reseal.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Vault } from "../../model/vault.ts";
import { keyOfNextSlice } from "../tables/slices.ts";
import { type BatchOutcome, runBatch, type Store, tryBatch } from "../d1/database.ts";
import { fence } from "../d1/fence.ts";
import { isAsRead, type OpenVault, openVault, valuesAsRead, type VaultRow } from "../vaults/rows.ts";
import { type Columns, readRows, resealRow, SLICE, tableOfStage, writeRows } from "./reseal-rows.ts";

/**
 * The slices of a reseal. A slice reads the row of the vault with the next rows, in one D1 call, and writes them with the new
 * position, in one batch that takes effect only while the vault is as it was read: no commit and no other slice came in between. So a
 * slice that is repeated, late or of another coordinator does no harm, and D1 alone knows how far the reseal has come.
 *
 * When the earlier key may go: since the vault has a newer one, nothing is sealed under the earlier one. Commits seal under the newest,
 * which their fence compares, and so do webhooks. But commits also copy texts as they are sealed, such as that of a File that a restored
 * version brings back, and a copy may lie where a pass over the tables has been. So passes are repeated, until no commit came between the
 * begin of one and its end: then each row is as the pass has left it. Each pass after the first reads only the rows whose texts have
 * another header than those under the newest key, and those are few: mostly it is one slice, so that no commit can come in between.
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
  const outcome = await tryBatch(store.db, [...moveStatements(store.db, opened.value, slice.next), ...slice.statements]);
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
const stagesOf = ({ stage, after }: ResealPosition): readonly ResealStage[] =>
  after.length > 0 ? [stage] : RESEAL_STAGES.slice(RESEAL_STAGES.indexOf(stage));

/** Reads the next rows of a stage: those after the position, and of a later stage the first ones. */
function readStage(db: D1Database, vault: string, stage: ResealStage, position: ResealPosition): D1PreparedStatement {
  const after = stage === position.stage ? position.after : START.after;
  return readRows(db, vault, tableOfStage(stage), after, position.notUnder);
}

const moveStatements = (db: D1Database, { vault, row }: OpenVault, next: ResealPosition | undefined): D1PreparedStatement[] => [
  db.prepare(SQL.require).bind(...valuesAsRead(vault), row.resealed),
  db.prepare(SQL.move).bind(row.id, next ? formatPosition(next) : null),
];

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
  const sequence = vault.contentVersion + vault.attributeVersion;
  const since = from.since ?? sequence;
  const { notUnder } = from;
  let position = from;
  for (const [index, stage] of stages.entries()) {
    const [table, rows] = [tableOfStage(stage), read[index]!];
    const resealed = await Promise.all(rows.map((row) => resealRow(keys, vault.id, table, row)));
    const changed = resealed.flatMap((row) => (row.changed ? [row.changed] : []));
    statements.push(...writeRows(db, vault.id, table, changed));
    const left = keyOfNextSlice(table, SLICE, rows);
    const counted = notUnder === null ? resealed : [];
    position = {
      stage,
      after: left ?? START.after,
      notUnder,
      since,
      items: position.items + (stage === "items" ? counted.length : 0),
      rows: position.rows + counted.length,
      unreadable: position.unreadable + counted.filter(({ unreadable }) => unreadable).length,
    };
    if (left) return { statements, next: position, reached: position };
  }
  const stage = RESEAL_STAGES[RESEAL_STAGES.indexOf(position.stage) + 1];
  if (stage) return { statements, next: { ...position, stage }, reached: position };
  const again = { ...position, stage: START.stage, since: null, notUnder: keys.newest.number };
  return { statements, next: since === sequence ? undefined : again, reached: position };
}
