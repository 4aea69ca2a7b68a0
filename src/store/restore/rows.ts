import { type Cell, type Part, REGISTRY, type TableRows } from "../../model/backup.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { isImpossible } from "../checks/parts.ts";
import { holdsTime } from "../tables/numbers.ts";
import { columnsInVault } from "../tables/slices.ts";
import { backedUpColumns, backedUpIn } from "../tables/tables.ts";
import type { RestorePorts, Step, Stepped } from "./step.ts";

/**
 * The third phase: writes the next groups of rows of one part, as far as the calls of the step go. Each row is in one group, so the groups of
 * a step may take effect in any order. Fails with `backup_damaged`, as `writeStep` does, or with `unavailable`.
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
    const statements =
      manifest.vault === REGISTRY
        ? registryStatements(store.db, group, store.now)
        : rowStatements(store.db, manifest.vault, group);
    if (!statements.ok) return fail("backup_damaged", `part ${ref.sha256}: ${statements.failure.detail}`);
    const written = await write(statements.value);
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

const TABLES_OF_BACKUP = backedUpIn("vault");

/** Returns the statements of a group of rows of a vault. Fails with `backup_damaged` for a table or column that the schema does not have. */
function rowStatements(db: D1Database, vault: string, group: RowGroup): Result<D1PreparedStatement[]> {
  const table = TABLES_OF_BACKUP.find(({ name }) => name === group.table);
  if (!table) return fail("backup_damaged", `the table ${group.table} is not known`);
  const known = columnsInVault(table);
  const unknown = group.columns.find((column) => !known.includes(column));
  if (unknown !== undefined) return fail("backup_damaged", `the column ${unknown} of ${group.table} is not known`);
  const values = group.columns.map((_, index) => `value ->> ${index}`).join(", ");
  const conflict = CONFLICT[group.table];
  const sql = `
    INSERT ${conflict ? "" : "OR REPLACE"} INTO ${group.table} (vault_id, ${group.columns.join(", ")})
    SELECT ?1, ${values} FROM json_each(?2) WHERE true ${conflict ?? ""}`;
  return ok([db.prepare(sql).bind(vault, JSON.stringify(group.rows))]);
}

/**
 * A token of a backup becomes an ended token: its name is kept, and it grants nothing. `added` is the column that the backup does not
 * have.
 */
const RESTORED_TOKENS = { into: "ended_tokens", added: { ended_at: "min(value ->> 'expires_at', ?2)" } };

const TABLES_OF_REGISTRY = backedUpIn("registry");

/**
 * Returns the statements of a group of rows of the registry. They replace no row. `now` is in Unix milliseconds. Fails with `backup_damaged`
 * for a table that no release has in the registry.
 */
function registryStatements(db: D1Database, group: RowGroup, now: number): Result<D1PreparedStatement[]> {
  const table = TABLES_OF_REGISTRY.find(({ name }) => name === group.table);
  if (!table) return fail("backup_damaged", `the table ${group.table} is not known`);
  const { into, added } = table.name === "tokens" ? RESTORED_TOKENS : { into: table.name, added: {} };
  const columns = backedUpColumns(table);
  const rows = group.rows.map((row) => Object.fromEntries(group.columns.map((column, index) => [column, row[index]])));
  const names = [...columns, ...Object.keys(added)].join(", ");
  const values = [...columns.map((column) => `value ->> '${column}'`), ...Object.values(added)].join(", ");
  const sql = `INSERT INTO ${into} (${names}) SELECT ${values} FROM json_each(?1) WHERE ?2 > 0 ON CONFLICT DO NOTHING`;
  return ok([db.prepare(sql).bind(JSON.stringify(rows), now)]);
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
