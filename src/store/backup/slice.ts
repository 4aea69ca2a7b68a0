import type { Cell, TableRows } from "../../model/backup.ts";
import type { Cursor } from "../../model/cursor.ts";
import { firstIdAt } from "../../model/ids.ts";
import { ok, type Result } from "../../model/result.ts";
import { HOUR } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import { CHANGED_ITEMS, columnsOf, firstKey, type Key, SLICE, sliceOfAll, sliceOfChanged, sliceOfNumbered } from "./slice-sql.ts";
import { VAULT_TABLES, type VaultTable } from "./tables.ts";

/** Reads slices of the rows of a vault. A slice is one D1 call, so a transaction: all that it reads is of one moment. */

/** The webhooks are few, and read whole in each slice. */
const WEBHOOKS = VAULT_TABLES.find(({ table }) => table === "webhooks")!;
export const SLICED = VAULT_TABLES.filter((table) => table !== WEBHOOKS);

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  deployment: "SELECT id FROM deployment",
  log: `
    SELECT count(*) AS entries, EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence = ?2 AND at = ?4) AS known
    FROM activity WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3`,
  items: `${CHANGED_ITEMS} ORDER BY item_id`,
  webhooks: `SELECT ${columnsOf(WEBHOOKS).join(", ")} FROM webhooks WHERE vault_id = ?1 ORDER BY id`,
  all: SLICED.map(sliceOfAll),
  changed: SLICED.map((table) => (table.item === undefined ? sliceOfNumbered(table) : sliceOfChanged(table))),
};

/** Reading the rows of a vault once: all of them, or those that have changed since a position. */
export interface Pass {
  /** The position after which changes are read; absent: all rows are. */
  readonly since?: Cursor | undefined;
  /** Where the pass began; absent before the first slice. */
  readonly start?: Cursor | undefined;
  /** Whether all entries of the log after the key are read; else only those of the writes of the pass. */
  readonly wholeLog: boolean;
  /** By table the last key that was read; `null`: all rows are read. */
  readonly keys: readonly (Key | null)[];
}

/**
 * In: the position; and for the first pass of a snapshot, which reads entries of reads and denials too, the time (Unix milliseconds)
 * from which on they may be missing. The other passes read only writes: else a vault that is read often would never be done.
 */
export const startPass = (since?: Cursor, logFrom?: number): Pass => ({
  since,
  wholeLog: since === undefined || logFrom !== undefined,
  // Entries of reads come through a queue, so they may come late.
  keys: SLICED.map((table) =>
    table.table === "activity" && logFrom !== undefined ? [firstIdAt(Math.max(0, logFrom - HOUR))] : firstKey(table),
  ),
});

export interface Slice {
  /** The row of the vault, by column. */
  readonly row: Readonly<Record<string, Cell>>;
  readonly head: Cursor;
  readonly deployment: string;
  /** Whether the log tells all changes of the pass. */
  readonly complete: boolean;
  /** The Items that are read again; empty but in the first slice of a pass. */
  readonly replaces: readonly string[];
  readonly tables: readonly TableRows[];
  readonly webhooks: TableRows;
  /** The pass after the slice. */
  readonly next: Pass;
}

type Row = Record<string, Cell>;

/** Reads the next slice. Out: `undefined` when the vault does not exist. Errors: `unavailable`. */
export async function readSlice(db: D1Database, vault: string, pass: Pass): Promise<Result<Slice | undefined>> {
  const { since, start, keys, wholeLog } = pass;
  const sqlOf = (index: number) => (since && !(wholeLog && SLICED[index]!.item === undefined) ? SQL.changed : SQL.all)[index]!;
  const range = [since?.sequence ?? Number.MAX_SAFE_INTEGER, start?.sequence ?? Number.MAX_SAFE_INTEGER];
  const unread = SLICED.map((table, index) => ({ table, index })).filter(({ index }) => keys[index] !== null);
  const read = await runBatch<[Row, { id: string }, { entries: number; known: number }, { changed: string }, Row, ...Row[]]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.deployment),
    db.prepare(SQL.log).bind(vault, ...range, since?.at ?? 0),
    db.prepare(SQL.items).bind(vault, ...(start ? [0, 0] : range)),
    db.prepare(SQL.webhooks).bind(vault),
    ...unread.map(({ index }) => db.prepare(sqlOf(index)).bind(vault, ...range, ...keys[index]!)),
  );
  if (!read.ok) return read;
  const [[row], [deployment], [log], items, webhooks, ...slices] = read.value as [
    Row[],
    { id: string }[],
    { entries: number; known: number }[],
    { changed: string }[],
    Row[],
    ...Row[][],
  ];
  if (!row) return ok(undefined);
  const head = headOf(row);
  const next = keys.map((key, index) => {
    const at = unread.findIndex((one) => one.index === index);
    return at < 0 ? key : nextKey(SLICED[index]!, slices[at]!);
  });
  return ok({
    row,
    head,
    deployment: deployment!.id,
    complete: !since || isComplete(since, start ?? head, log!),
    replaces: items.map(({ changed }) => changed),
    tables: unread.map(({ table }, at) => rowsOf(table, slices[at]!)).filter(({ rows }) => rows.length > 0),
    webhooks: rowsOf(WEBHOOKS, webhooks),
    next: { ...pass, start: start ?? head, keys: next },
  });
}

const headOf = (row: Row): Cursor => ({
  sequence: Number(row["content_version"]) + Number(row["attribute_version"]),
  at: Number(row["updated_at"]),
});

/**
 * Whether the log has an entry of every write after a position up to another one. Release 0.2.0 writes entries without numbers,
 * and a database that was restored repeats numbers: the time of the position tells.
 */
const isComplete = (since: Cursor, until: Cursor, { entries, known }: { entries: number; known: number }): boolean =>
  since.sequence === until.sequence
    ? since.at === until.at
    : until.sequence > since.sequence && known === 1 && entries === until.sequence - since.sequence;

const rowsOf = (table: VaultTable, rows: readonly Row[]): TableRows => {
  const columns = columnsOf(table);
  return { table: table.table, columns, rows: rows.map((row) => columns.map((column) => row[column]!)) };
};

/** A slice that did not reach a limit has the last row. */
function nextKey(table: VaultTable, rows: readonly Row[]): Key | null {
  const bytes = rows.reduce((sum, row) => sum + Number(row["row_bytes"]), 0);
  return rows.length < SLICE.rows && bytes < SLICE.bytes ? null : table.key.map((column) => rows.at(-1)![column]!);
}

/** Whether all rows of the pass are read. */
export const isRead = ({ keys }: Pass): boolean => keys.every((key) => key === null);
