import { type Cell, type Part, REGISTRY, type TableRows } from "../../model/backup.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { isImpossible } from "../checks/parts.ts";
import { holdsTime } from "../tables/numbers.ts";
import { backedUpColumns, tableOf } from "../tables/tables.ts";
import type { RestorePorts, Step, Stepped } from "./step.ts";

/**
 * The third phase: writes the next groups of rows of one part, as far as the calls of the step go. Each row is in one group, so the groups of
 * a step may take effect in any order. Fails as `loadPart` and as `writeStep` do.
 */
export async function rowsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position } = step;
  const { store, write } = ports;
  const ref = manifest.parts[position.part];
  if (!ref) return ok({ position: beginPhase(step.row ? "bucket" : "end", position.rowsLeftOut) });
  const part = await loadPart(store.backups, manifest, ref);
  if (!part.ok) return part;
  const possible = possibleRows(part.value, manifest.at);
  const groups = groupsOf(possible.tables);
  let { index } = position;
  for (; index < groups.length && (index === position.index || !ports.isSpent()); index++) {
    const group = groups[index]!;
    const isRegistry = manifest.vault === REGISTRY;
    const written = await write([
      isRegistry ? insertInRegistry(store.db, group, store.now) : insertInVault(store.db, manifest.vault, group),
    ]);
    if (!written.ok) return written;
  }
  const rowsLeftOut = position.rowsLeftOut + possible.rowsLeftOut;
  const following: Position = { ...beginPhase("rows", rowsLeftOut), part: position.part + 1 };
  return ok({ position: index < groups.length ? { ...position, index } : following });
}

/** The rows that one D1 call writes: rows of one table. */
type RowGroup = TableRows;

/** Limits of a group: rows, and approximate characters. D1 accepts a parameter of 2 MB. */
const GROUP_MAX = { rows: 2_000, characters: 768 * 1024 };

/** The groups of a part, in the order in which they are written: the same groups each time. */
const groupsOf = (tables: readonly TableRows[]): RowGroup[] =>
  tables.flatMap(({ table, columns, rows }) => chunk(rows, lengthOf).map((some) => ({ table, columns, rows: some })));

const lengthOf = (row: readonly Cell[]): number =>
  row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length + 3 : 20), 0);

function chunk<T>(list: readonly T[], size: (one: T) => number): T[][] {
  const chunks: T[][] = [];
  let length = 0;
  for (const one of list) {
    const last = chunks.at(-1);
    length += size(one);
    if (last && last.length < GROUP_MAX.rows && length <= GROUP_MAX.characters) last.push(one);
    else {
      chunks.push([one]);
      length = size(one);
    }
  }
  return chunks;
}

/** By table, what an insert does when the row exists: an entry of the log stays and gets its number again. */
const CONFLICT: Readonly<Record<string, string>> = {
  activity: "ON CONFLICT (vault_id, id) DO UPDATE SET sequence = excluded.sequence, at = excluded.at",
};

/** Inserts rows of a vault. The phase `contents` has checked the names of the table and its columns. */
function insertInVault(db: D1Database, vault: string, group: RowGroup): D1PreparedStatement {
  const values = group.columns.map((_, index) => `value ->> ${index}`).join(", ");
  const conflict = CONFLICT[group.table];
  const sql = `
    INSERT ${conflict ? "" : "OR REPLACE"} INTO ${group.table} (vault_id, ${group.columns.join(", ")})
    SELECT ?1, ${values} FROM json_each(?2) WHERE true ${conflict ?? ""}`;
  return db.prepare(sql).bind(vault, JSON.stringify(group.rows));
}

/**
 * A token of a backup becomes an ended token: its name is kept, and it grants nothing. `added` is the column that the backup does not
 * have.
 */
const RESTORED_TOKENS = { into: "ended_tokens", added: { ended_at: "min(value ->> 'expires_at', ?2)" } };

/** Inserts rows of the registry, and replaces none. `now` is in Unix milliseconds. */
function insertInRegistry(db: D1Database, group: RowGroup, now: number): D1PreparedStatement {
  const { into, added } = group.table === "tokens" ? RESTORED_TOKENS : { into: group.table, added: {} };
  const columns = backedUpColumns(tableOf(group.table)!);
  const rows = group.rows.map((row) => Object.fromEntries(group.columns.map((column, index) => [column, row[index]])));
  const names = [...columns, ...Object.keys(added)].join(", ");
  const values = [...columns.map((column) => `value ->> '${column}'`), ...Object.values(added)].join(", ");
  const sql = `INSERT INTO ${into} (${names}) SELECT ${values} FROM json_each(?1) WHERE ?2 > 0 ON CONFLICT DO NOTHING`;
  return db.prepare(sql).bind(JSON.stringify(rows), now);
}

/**
 * Returns the rows of a part that the CHECKs of the schema accept, and the number of the others. One such row would make the whole insert fail.
 * An impossible time becomes `at`, in Unix milliseconds. All other damaged rows are written unchanged (contract 21.24).
 */
function possibleRows(part: Part, at: number): { readonly tables: readonly TableRows[]; readonly rowsLeftOut: number } {
  let rowsLeftOut = 0;
  const tables = part.tables.map(({ table, columns, rows }) => {
    const isWrong = (cell: Cell, index: number) => isImpossible(table, columns[index]!, cell);
    const possible = rows
      .map((row) => row.map((cell, index) => (holdsTime(table, columns[index]!) && isWrong(cell, index) ? at : cell)))
      .filter((row) => !row.some(isWrong));
    rowsLeftOut += rows.length - possible.length;
    return { table, columns, rows: possible };
  });
  return { tables, rowsLeftOut };
}
