import { type Cell, type Part, REGISTRY, type TableRows, type Manifest } from "../../model/backup.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { columnsInVault } from "../tables/slices.ts";
import { backedUpColumns, backedUpIn, TABLES_OF_CONTENTS } from "../tables/tables.ts";
import type { RestorePorts, Step, Stepped } from "./step.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Finding } from "../../model/finding.ts";
import type { Store } from "../d1/database.ts";
import { checkPart, checkVaultRow, isImpossible } from "../checks/parts.ts";
import { holdsTime } from "../tables/numbers.ts";
import { findingOf } from "../checks/fault.ts";
import type { VaultRow } from "../vaults/rows.ts";

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
  const readable = await readablePart(store, manifest, part.value, step.keys);
  const groups = groupsOf(readable.part);
  const findings = position.index === 0 ? await findingsOf(store, step, readable) : [];
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
  const rowsLeftOut = position.rowsLeftOut + readable.rowsLeftOut;
  const following: Position = { ...beginPhase("rows", rowsLeftOut), part: position.part + 1 };
  return ok({ position: index < groups.length ? { ...position, index } : following, findings });
}

/** The rows that one D1 call writes: rows of one table. */
type RowGroup = TableRows;

/** Limits of a group: rows, and approximate characters. D1 accepts a parameter of 2 MB. */
const GROUP_MAX = { rows: 2_000, characters: 768 * 1024 };

/** The groups of a part, in the order in which they are written: the same groups each time. */
const groupsOf = ({ tables }: Part): RowGroup[] =>
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
 * Makes a part with broken rows restorable: a damaged row affects no other row (contract 21.24). A row of an Item or a version is written
 * unchanged. The Item keeps its earlier versions and its Files, and each of them is served if it can be decrypted. A broken row of a File or
 * a webhook is left out, because it is useless.
 */

const LEFT_OUT: ReadonlySet<string> = new Set([...TABLES_OF_CONTENTS.map(({ name }) => name), "webhooks"]);

interface ReadablePart {
  /** The rows to write. */
  readonly part: Part;
  /** The number of rows that were left out. */
  readonly rowsLeftOut: number;
  /** The rows that cannot be decrypted. */
  readonly findings: readonly Finding[];
}

/** Returns the restorable rows of a part. `keys` are the keys of the vault; absent in the registry. */
export async function readablePart(
  store: Store,
  manifest: Manifest,
  part: Part,
  keys: VaultKeys | undefined,
): Promise<ReadablePart> {
  const context = { store, vault: manifest.vault, keys };
  const { broken, faults } = await checkPart(context, manifest.number, part);
  if (broken.size === 0) return { part, rowsLeftOut: 0, findings: [] };
  const findings = faults.filter(({ kind }) => kind === "row_unreadable").map((one) => findingOf(one));
  let rowsLeftOut = 0;
  const tables = part.tables.map(({ table, columns, rows }) => {
    const kept = rows.filter((row) => isWritten(table, columns, row, broken.get(row) ?? true));
    rowsLeftOut += rows.length - kept.length;
    return {
      table,
      columns,
      rows: kept.map((row) => (broken.has(row) ? withPossibleCells(table, columns, row, manifest.at) : row)),
    };
  });
  return { part: { ...part, tables }, rowsLeftOut, findings };
}

/** Returns the broken rows of a part; with the first part, also the broken row of the vault. */
export async function findingsOf(
  store: Store,
  { manifest, row, position }: Step,
  { findings }: ReadablePart,
): Promise<readonly Finding[]> {
  return row && position.part === 0 ? [...(await findBrokenVault(store, manifest.row!)), ...findings] : findings;
}

/** Returns the faults of the row of the vault in a backup. */
const findBrokenVault = async (store: Store, row: NonNullable<Manifest["row"]>): Promise<Finding[]> =>
  (await checkVaultRow(store, row as unknown as VaultRow)).map((one) => findingOf(one));

const isWritten = (table: string, columns: readonly string[], row: readonly Cell[], opens: boolean): boolean =>
  (opens || !LEFT_OUT.has(table)) &&
  columns.every(
    (column, index) => holdsTime(table, column) || isSince(table, column) || !isImpossible(table, column, row[index]!),
  );

/**
 * Returns true for the first version of a File. A damaged number becomes 0, so that the File is kept. If the File replaced another File,
 * finish.ts sets the number.
 */
const isSince = (table: string, column: string): boolean => table === "files" && column === "since";

/** A value, or the replacement of an impossible value: 0 for a first version, else the time of the backup, in Unix milliseconds. */
const possibleCell = (table: string, column: string, value: Cell, at: number): Cell => {
  if (!isImpossible(table, column, value)) return value;
  return isSince(table, column) ? 0 : at;
};

const withPossibleCells = (table: string, columns: readonly string[], row: readonly Cell[], at: number): Cell[] =>
  row.map((value, index) => possibleCell(table, columns[index]!, value, at));
