import type { Cell, TableRows } from "../../model/backup.ts";
import type { Cursor } from "../../model/cursor.ts";
import { firstIdAt } from "../../model/ids.ts";
import { ok, type Result } from "../../model/result.ts";
import { DAY, HOUR } from "../../model/time.ts";
import { runBatch } from "../d1/database.ts";
import {
  columnsInVault,
  firstKey,
  isAfterKey,
  keyInVault,
  keyOfNextSlice,
  keysOfSlice,
  type KeyValue,
  sliceOfVault,
  textBytes,
} from "../tables/slices.ts";
import { backedUpIn, type NamedTable } from "../tables/tables.ts";

/** Reads slices of the rows of a vault. A slice is one D1 call, which is one transaction: it reads all rows at one moment. */

/** The most rows of a table in a slice, and about the most bytes of their sealed texts. */
export const SLICE_MAX = { rows: 1_000, bytes: 2 * 1024 * 1024 };

const isOfVault = ({ owner, item }: NamedTable) => item === undefined && owner !== undefined && "vault" in owner;

/** The tables whose rows belong to the vault and not to an Item. They have few rows, so each slice reads all of them. */
export const WHOLE = backedUpIn("vault").filter(isOfVault);
export const SLICED = backedUpIn("vault").filter((table) => !isOfVault(table));

/** The Items that writes have changed. ?1: the vault; ?2 and ?3: the numbers of the writes before the first and of the last. */
const CHANGED_ITEMS = `
  SELECT DISTINCT item_id AS changed FROM activity
  WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3 AND item_id IS NOT NULL`;

/** A slice of all rows. ?1: the vault; from ?4 on the key after which it begins. */
const sliceOfAll = (table: NamedTable): string => sliceOfVault(table, SLICE_MAX, { keyParameter: 4 });

/** A slice of the rows that writes have changed. ?1 to ?3: as `CHANGED_ITEMS`; from ?4 on the key after which it begins. */
function sliceOfChanged(table: NamedTable): string {
  const { name, item } = table;
  if (name === "log_segments") return sliceOfAll(table); // a pass of changes reads none
  if (item === undefined) return sliceOfVault(table, SLICE_MAX, { keyParameter: 4, where: "sequence > ?2 AND sequence <= ?3" });
  const key = keyInVault(table); // its first column has the id of the Item
  const found = `(${CHANGED_ITEMS} AND item_id >= ?4) CROSS JOIN ${name} ON vault_id = ?1 AND ${item} = changed`;
  const keys = keysOfSlice(key, textBytes(table), `${found} WHERE ${isAfterKey(key, 4)}`, SLICE_MAX);
  return `
    SELECT ${columnsInVault(table).join(", ")}, ${textBytes(table)} AS row_bytes
    FROM (SELECT ${key.map((column, index) => `${column} AS key${index}`).join(", ")} FROM (${keys}))
    CROSS JOIN ${name} ON vault_id = ?1 AND ${key.map((column, index) => `${column} = key${index}`).join(" AND ")}
    ORDER BY ${key.join(", ")}`;
}

const SQL = {
  vault: "SELECT * FROM vaults WHERE id = ?1",
  deployment: "SELECT id FROM deployment",
  log: `
    SELECT count(*) AS entries, EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence = ?2 AND at = ?4) AS known
    FROM activity WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3`,
  items: `${CHANGED_ITEMS} ORDER BY item_id`,
  whole: WHOLE.map(
    (table) =>
      `SELECT ${columnsInVault(table).join(", ")} FROM ${table.name} WHERE vault_id = ?1 ORDER BY ${keyInVault(table).join(", ")}`,
  ),
  all: SLICED.map(sliceOfAll),
  changed: SLICED.map(sliceOfChanged),
};

/** A pass: it reads all rows of a vault, or those that have changed since a position. */
export interface Pass {
  /** The position after which changes are read; absent when all rows are read. */
  readonly since?: Cursor | undefined;
  /** The position of the vault when the pass began; absent before the first slice. */
  readonly start?: Cursor | undefined;
  /** Whether the pass reads all entries of the log after the key, or only those of its writes. */
  readonly wholeLog: boolean;
  /** The last key that was read of each table; `null` when all of its rows are read. */
  readonly keys: readonly (readonly KeyValue[] | null)[];
}

/**
 * For each table of the log: the time from which on rows may be missing, in terms of the time from which on entries may be. A segment
 * grows for a day.
 */
const FIRST_ENTRIES = new Map<string, (time: number) => number>([
  ["activity", (time) => time],
  ["log_segments", (time) => time - (((time % DAY) + DAY) % DAY)],
]);

/**
 * In: the position; for the first pass of a backup the time from which on entries of reads and denials may be missing, in Unix
 * milliseconds. Only the first pass reads these entries: otherwise the backup of a vault that is read often would never end.
 */
export const startPass = (since?: Cursor, logFrom?: number): Pass => ({
  since,
  wholeLog: since === undefined || logFrom !== undefined,
  keys: SLICED.map((table) => {
    const firstEntry = FIRST_ENTRIES.get(table.name);
    if (firstEntry && logFrom !== undefined) return [firstIdAt(Math.max(0, firstEntry(logFrom - HOUR)))];
    return since !== undefined && table.name === "log_segments" ? null : firstKey(table);
  }),
});

export interface Slice {
  /** The row of the vault, by column. */
  readonly row: Readonly<Record<string, Cell>>;
  readonly head: Cursor;
  readonly deployment: string;
  /** Whether the log tells all changes of the pass. */
  readonly complete: boolean;
  /** The Items that are read again; empty except in the first slice of a pass. */
  readonly replaces: readonly string[];
  readonly tables: readonly TableRows[];
  /** The rows of the tables of `WHOLE`. */
  readonly ofVault: readonly TableRows[];
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
  const read = await runBatch<[Row, { id: string }, { entries: number; known: number }, { changed: string }, ...Row[]]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.deployment),
    db.prepare(SQL.log).bind(vault, ...range, since?.at ?? 0),
    db.prepare(SQL.items).bind(vault, ...(start ? [0, 0] : range)),
    ...SQL.whole.map((sql) => db.prepare(sql).bind(vault)),
    ...unread.map(({ index }) => db.prepare(sqlOf(index)).bind(vault, ...range, ...keys[index]!)),
  );
  if (!read.ok) return read;
  const [[row], [deployment], [log], items, ...others] = read.value as [
    Row[],
    { id: string }[],
    { entries: number; known: number }[],
    { changed: string }[],
    ...Row[][],
  ];
  if (!row) return ok(undefined);
  const slices = others.slice(WHOLE.length);
  const head = headOf(row);
  const next = keys.map((key, index) => {
    const at = unread.findIndex((one) => one.index === index);
    return at < 0 ? key : keyOfNextSlice(SLICED[index]!, SLICE_MAX, slices[at]!);
  });
  return ok({
    row,
    head,
    deployment: deployment!.id,
    complete: !since || isComplete(since, start ?? head, log!),
    replaces: items.map(({ changed }) => changed),
    tables: unread.map(({ table }, at) => rowsOf(table, slices[at]!)).filter(({ rows }) => rows.length > 0),
    ofVault: WHOLE.map((table, index) => rowsOf(table, others[index]!)),
    next: { ...pass, start: start ?? head, keys: next },
  });
}

const headOf = (row: Row): Cursor => ({
  sequence: Number(row["content_version"]) + Number(row["attribute_version"]),
  at: Number(row["updated_at"]),
});

/**
 * Whether the log has an entry of every write after a position, up to another position. Entries may be lost. A restored database repeats
 * numbers, which the time of the position shows.
 */
const isComplete = (since: Cursor, until: Cursor, { entries, known }: { entries: number; known: number }): boolean =>
  since.sequence === until.sequence
    ? since.at === until.at
    : until.sequence > since.sequence && known === 1 && entries === until.sequence - since.sequence;

const rowsOf = (table: NamedTable, rows: readonly Row[]): TableRows => {
  const columns = columnsInVault(table);
  return { table: table.name, columns, rows: rows.map((row) => columns.map((column) => row[column]!)) };
};

/** Whether all rows of the pass are read. */
export const isRead = ({ keys }: Pass): boolean => keys.every((key) => key === null);
