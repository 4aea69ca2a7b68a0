import type { Cell, TableRows } from "../../model/backup.ts";
import type { Cursor } from "../../model/cursor.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { DEPLOYMENT_LOST, SELECT_DEPLOYMENT } from "../d1/deployment.ts";
import {
  columnsInVault,
  firstKey,
  isAfterKey,
  keyInVault,
  keyOfNextSlice,
  keysOfSlice,
  type KeyValue,
  type SliceBounds,
  sliceOfVault,
  textBytes,
} from "../tables/slices.ts";
import { backedUpIn, columnsOfKind, type NamedTable, tableOf, TABLES } from "../tables/tables.ts";

/**
 * Reads the rows of a vault for its backup, in slices. A slice is one D1 call and thus one transaction: all its rows are from one moment. So
 * are the vault's row and its webhooks, which every slice reads.
 */

/** The rows of a table that slices read, or a part of its columns. */
interface Source {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: NamedTable;
  readonly bounds: SliceBounds;
  /**
   * The SQL of a slice. ?1: the vault. ?2 and ?3: the numbers of the write before the first one, and of the last one. From ?4 on: the key
   * after which the slice begins.
   */
  readonly sql: string;
}

const PARTS = backedUpIn("vault");
const OF_ITEMS = PARTS.filter(({ item, owner }) => item !== undefined && owner !== undefined && "vault" in owner);
const OF_LOG = PARTS.filter(({ owner }) => owner !== undefined && "log" in owner);
/** The tables whose rows belong to the vault itself. They have few rows. */
const OF_VAULT = PARTS.filter((table) => !OF_ITEMS.includes(table) && !OF_LOG.includes(table));

/** The bounds of a slice of all rows, for each table. */
const SLICE_MAX: SliceBounds = { rows: 2_000, bytes: 4 * 1024 * 1024 };

/**
 * The bounds of a slice of changes, for each table. Items and their versions have most bytes: together about 16 MiB. The larger a slice is,
 * the more writers a backup keeps up with.
 */
const CHANGES_MAX: SliceBounds = { rows: 2_000, bytes: 8 * 1024 * 1024 };
/** The bounds for rows of Files: one Item may have thousands, and has to fit into a slice. */
const FILES_MAX: SliceBounds = { rows: 20_000, bytes: CHANGES_MAX.bytes };
/** The bounds for numbers of versions: each Item has up to 101. */
const NUMBERS_MAX: SliceBounds = { rows: 20_000, bytes: Number.MAX_SAFE_INTEGER };

const source = (table: NamedTable, bounds: SliceBounds, sql: string, more: Partial<Source> = {}): Source => ({
  name: table.name,
  columns: columnsInVault(table),
  table,
  bounds,
  sql,
  ...more,
});

/** The Items that writes have changed, each with the lowest version that the log has of these writes. */
const CHANGED_ITEMS = `
  SELECT item_id AS changed, min(coalesce(version, 0)) AS changed_from FROM activity
  WHERE vault_id = ?1 AND sequence > ?2 AND sequence <= ?3 AND item_id IS NOT NULL GROUP BY item_id`;

/**
 * Returns SQL of a slice of the rows of changed Items. A version of an Item never changes, so only possibly new versions are read: from the
 * version that was current before the first of the writes.
 */
function changesOf(table: NamedTable, bounds: SliceBounds, columns: readonly string[] = columnsInVault(table)): string {
  const { name, item } = table;
  const key = keyInVault(table); // its first column has the id of the Item
  const bytes = columns.length === key.length ? "0" : textBytes(table);
  const isNew = name === "item_versions" && bytes !== "0" ? "AND version >= changed_from - 1" : "";
  const rows = `(SELECT * FROM (${CHANGED_ITEMS}) WHERE changed >= ?4) CROSS JOIN ${name} ON vault_id = ?1 AND ${item} = changed ${isNew}`;
  const keys = keysOfSlice(key, bytes, `${rows} WHERE ${isAfterKey(key, 4)}`, bounds);
  return `
    SELECT ${columns.join(", ")}, ${bytes} AS row_bytes
    FROM (SELECT ${key.map((column, index) => `${column} AS key${index}`).join(", ")} FROM (${keys}))
    CROSS JOIN ${name} ON vault_id = ?1 AND ${key.map((column, index) => `${column} = key${index}`).join(" AND ")}
    ORDER BY ${key.join(", ")}`;
}

/** The name of the query for the version numbers of changed Items, and for the changed Items. */
export const VERSION_NUMBERS = "version_numbers";
export const CHANGED = "changed";

const VERSIONS = tableOf("item_versions")!;
const ITEMS = tableOf("items")!;

/**
 * SQL: the entries of the log without those of writes after ?3, the last write of the backup. A number beyond the newest write is damaged;
 * its entry is read, so that it is named.
 */
const NOT_LATER = `(
  sequence IS NULL OR sequence <= ?3 OR sequence > (SELECT content_version + attribute_version FROM vaults WHERE id = ?1))`;

/** The sources of slices: all rows of Items, the changed rows, or the log up to a write. */
export const SOURCES = {
  items: OF_ITEMS.map((table) => source(table, SLICE_MAX, sliceOfVault(table, SLICE_MAX, { keyParameter: 4 }))),
  changes: [
    ...OF_ITEMS.map((table) => {
      const bounds = columnsOfKind(table, "content").length > 0 ? FILES_MAX : CHANGES_MAX;
      return source(table, bounds, changesOf(table, bounds));
    }),
    source(VERSIONS, NUMBERS_MAX, changesOf(VERSIONS, NUMBERS_MAX, keyInVault(VERSIONS)), {
      name: VERSION_NUMBERS,
      columns: keyInVault(VERSIONS),
    }),
    source(
      ITEMS,
      CHANGES_MAX,
      `SELECT changed AS id, 0 AS row_bytes FROM (${CHANGED_ITEMS}) WHERE changed > ?4 ORDER BY changed LIMIT ${CHANGES_MAX.rows}`,
      { name: CHANGED, columns: ["id"] },
    ),
  ],
  log: OF_LOG.map((table) => {
    const where = "sequence" in table.columns ? NOT_LATER : undefined;
    return source(table, SLICE_MAX, sliceOfVault(table, SLICE_MAX, { keyParameter: 4, ...(where && { where }) }));
  }),
} as const satisfies Readonly<Record<string, readonly Source[]>>;

export type SourceName = keyof typeof SOURCES;

/** The start of a slice: for each source the key of the row before; `null` if all of its rows were read. */
export type Keys = readonly (readonly KeyValue[] | null)[];

/** Returns the keys after the rows of an Item, or after an entry of the log. */
export const keysAfter = (name: SourceName, id: string): Keys =>
  SOURCES[name].map(({ table }) => {
    const [, ...others] = firstKey(table);
    return [id, ...others.map(() => AFTER_ALL)];
  });

/** In SQLite a blob sorts after every number and text, and a text after every number. No column of a key has this text or a higher one. */
const AFTER_ALL = "\u{10FFFF}";

const SQL = {
  // Not *: a later schema may have columns whose values only a later release restores.
  vault: `SELECT ${Object.keys(TABLES.vaults.columns).join(", ")} FROM vaults WHERE id = ?1`,
  log: `
    SELECT count(*) AS entries, EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1 AND sequence = ?2 AND at = ?3) AS known
    FROM activity WHERE vault_id = ?1 AND sequence > ?2
      AND sequence <= (SELECT content_version + attribute_version FROM vaults WHERE id = ?1)`,
  ofVault: OF_VAULT.map(
    (table) =>
      `SELECT ${columnsInVault(table).join(", ")} FROM ${table.name} WHERE vault_id = ?1 ORDER BY ${keyInVault(table).join(", ")}`,
  ),
};

export interface Wanted {
  readonly name: SourceName;
  readonly keys: Keys;
  /** The write after which changes are read, or since which the slice shows if D1 is still the same. */
  readonly since?: Cursor | undefined;
  /** The last write whose changes or log entries are read; absent: the newest write. */
  readonly until?: Cursor | undefined;
}

export interface Slice {
  /** The row of the vault, by column. */
  readonly row: Readonly<Record<string, Cell>>;
  /** The newest write of the vault. */
  readonly head: Cursor;
  readonly deployment: string;
  /** True if the log has `since` and the entry of every later write. False after D1 was restored to an earlier time. */
  readonly isComplete: boolean;
  /** The rows of each source. */
  readonly rows: readonly (readonly (readonly Cell[])[])[];
  /** The rows that belong to the vault itself. */
  readonly ofVault: readonly TableRows[];
  /** The keys with which the next slice begins. */
  readonly next: Keys;
}

type Row = Record<string, Cell>;

/**
 * Reads a slice of the sources that are furthest behind, so that no source runs ahead. Returns undefined if the vault does not exist. Fails
 * with `unavailable`.
 */
export async function readSlice(
  db: D1Database,
  vault: string,
  { name, keys, since, until }: Wanted,
): Promise<Result<Slice | undefined>> {
  const sources: readonly Source[] = SOURCES[name];
  const frontier = frontierOf(keys);
  const read = sources.flatMap((one, index) => (keys[index] && keys[index][0] === frontier ? [{ one, index }] : []));
  const range = [since?.sequence ?? Number.MAX_SAFE_INTEGER, until?.sequence ?? Number.MAX_SAFE_INTEGER];
  const answers = await runBatch<Row[]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SELECT_DEPLOYMENT),
    db.prepare(SQL.log).bind(vault, since?.sequence ?? Number.MAX_SAFE_INTEGER, since?.at ?? 0),
    ...SQL.ofVault.map((sql) => db.prepare(sql).bind(vault)),
    ...read.map(({ one, index }) => db.prepare(one.sql).bind(vault, ...range, ...keys[index]!)),
  );
  if (!answers.ok) return answers;
  const [[row], [deployment], [log], ...others] = answers.value as [Row[], Row[], Row[], ...Row[][]];
  if (!row) return ok(undefined);
  const id = deployment!["id"];
  // `verify` names the lost row, and checks all others.
  if (since && typeof id !== "string") return fail("misconfigured", DEPLOYMENT_LOST);
  const slices = others.slice(OF_VAULT.length);
  const slice = (index: number): readonly Row[] | undefined => slices[read.findIndex((one) => one.index === index)];
  const head = headOf(row);
  return ok({
    row,
    head,
    deployment: String(id),
    isComplete: !since || isComplete(since, head, Number(log!["entries"]), log!["known"] === 1),
    rows: sources.map(({ columns }, index) => cellsOf(columns, slice(index) ?? [])),
    ofVault: OF_VAULT.map((table, index) => {
      const columns = columnsInVault(table);
      return { table: table.name, columns, rows: cellsOf(columns, others[index]!) };
    }),
    next: keys.map((key, index) => {
      const rows = slice(index);
      return rows ? keyOfNextSlice(sources[index]!.table, sources[index]!.bounds, rows) : key;
    }),
  });
}

/** Reads only the row of the vault and the rows that belong to the vault itself. Fails with `unavailable`. */
export const readVault = (db: D1Database, vault: string, since?: Cursor): Promise<Result<Slice | undefined>> =>
  readSlice(db, vault, { name: "items", keys: SOURCES.items.map(() => null), since });

/** Returns the id before which all rows of all sources were read; `undefined` when everything was read. */
export function frontierOf(keys: Keys): string | undefined {
  const ids = keys.flatMap((key) => (key ? [String(key[0])] : []));
  return ids.length === 0 ? undefined : ids.reduce((first, id) => (id < first ? id : first));
}

const cellsOf = (columns: readonly string[], rows: readonly Row[]): Cell[][] =>
  rows.map((row) => columns.map((column) => row[column]!));

const isVersion = (value: Cell | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Returns the head of a vault. A damaged number of a write leaves no entry of the log out. */
const headOf = ({ content_version: content, attribute_version: attribute, updated_at: at }: Row): Cursor => ({
  sequence: isVersion(content) && isVersion(attribute) ? content + attribute : Number.MAX_SAFE_INTEGER,
  at: Number(at),
});

/**
 * Returns true if the log has an entry of every write after a position, up to the newest write. Entries may be lost. A restored database
 * repeats numbers, which the time of the position shows.
 */
const isComplete = (since: Cursor, head: Cursor, entries: number, isKnown: boolean): boolean =>
  since.sequence === head.sequence
    ? since.at === head.at
    : head.sequence > since.sequence && isKnown && entries === head.sequence - since.sequence;
