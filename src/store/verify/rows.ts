import { type Part, REGISTRY } from "../../model/backup.ts";
import { ok, type Result } from "../../model/result.ts";
import { rowsOf } from "../backup/part.ts";
import { frontierOf, keysAfter, readSlice, type Slice as RowSlice, type SourceName } from "../backup/read-rows.ts";
import { readRegistry } from "../backup/registry-rows.ts";
import { createCollector, partOf, type RowUnit } from "../backup/units.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { checkPart } from "../checks/parts.ts";
import { runBatch } from "../d1/database.ts";
import { missesRowsSql } from "../vaults/counted-rows.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import { DONE, type Position, type Slice, type VerifyPorts } from "./run.ts";

/** The stages that read rows of D1 as a backup does, and check them as the rows of a backup are checked. */

interface Units {
  readonly units: readonly RowUnit[];
  readonly slice: RowSlice;
  /** True if all rows were read at one moment. */
  readonly isOneMoment: boolean;
  /** The position after the units; absent at the end. */
  readonly after: Position["after"] | undefined;
}

/** Reads the next units after an id, at least one. Returns undefined if the vault does not exist. Fails with `unavailable`. */
async function readUnits(db: D1Database, vault: string, name: SourceName, after: string): Promise<Result<Units | undefined>> {
  const collector = createCollector(name);
  let keys = keysAfter(name, after);
  for (let isOneMoment = true; ; isOneMoment = false) {
    const read = await readSlice(db, vault, { name, keys });
    if (!read.ok) return read;
    const slice = read.value;
    if (!slice) return ok(undefined);
    keys = slice.next;
    collector.add(slice.rows);
    const frontier = frontierOf(keys);
    const units = collector.takeBelow(frontier);
    // An Item may have more rows than one slice.
    if (frontier === undefined || units.length > 0)
      return ok({ units, slice, isOneMoment, after: frontier === undefined ? undefined : [units.at(-1)!.id] });
  }
}

/** Checks all rows of some Items; with the first ones the webhooks. The position is the last Item before. */
export async function checkItems({ store }: VerifyPorts, { vault, after: [before = ""] }: Position): Promise<Result<Slice>> {
  const read = await readUnits(store.db, vault, "items", String(before));
  if (!read.ok || !read.value) return read.ok ? ok(DONE) : read;
  const { units, slice, isOneMoment, after } = read.value;
  const keys = await openKeys(store, slice.row as unknown as VaultRow);
  // Keys that cannot be decrypted are a finding of the stage `vault`.
  if (!keys.ok) return ok(DONE);
  const tables = [...partOf("items", units).tables, ...(before === "" ? slice.ofVault : [])];
  const { faults, rows, bytes } = await checkPart({ store, vault, keys: keys.value }, undefined, { tables });
  const unfit = isOneMoment ? units.flatMap((unit) => checkVersions(vault, unit.id, partOf("items", [unit]))) : [];
  return ok({ faults: [...faults, ...unfit], checked: { rows, bytes, items: units.length }, after });
}

interface Versioned {
  readonly version: number;
}

/** A row of a File: for the versions of the Item from `since` on and before `until`. */
interface Range {
  readonly id: string;
  readonly since: number;
  readonly until?: number;
}

/** Compares the rows of one Item with each other. */
function checkVersions(vault: string, item: string, part: Part): Fault[] {
  const [[current], [deleted]] = [rowsOf<Versioned>(part, "items"), rowsOf<Versioned>(part, "deleted_items")];
  const versions = rowsOf<Versioned>(part, "item_versions");
  const rows = [...rowsOf<Range>(part, "file_versions"), ...rowsOf<Range>(part, "files")];
  const files = rows.toSorted((a, b) => (a.id === b.id ? a.since - b.since : a.id < b.id ? -1 : 1));
  const overlaps = (end: number, { id }: Range, following?: Range) => following?.id === id && following.since < end;
  const wrong = (kind: Fault["kind"], table: string, detail: string, named: object = {}): Fault =>
    fault(kind, { vault, item, table, ...named }, detail);
  const last = (current ?? deleted)?.version;
  if (last === undefined) {
    const detail = `${versions.length} versions and ${files.length} rows of Files are left of an Item whose row is lost: ${RESTORE}`;
    return [wrong("item_missing", versions.length > 0 ? "item_versions" : part.tables[0]!.table, detail)];
  }
  const end = current ? last : last + 1;
  return [
    ...versions
      .filter(({ version }) => version >= end)
      .map(({ version }) => wrong("version_wrong", "item_versions", `the Item has no version after ${end - 1}`, { version })),
    ...(current && deleted ? [wrong("version_wrong", "deleted_items", "the Item exists and is deleted", { version: last })] : []),
    ...(current || versions.some(({ version }) => version === last)
      ? []
      : [wrong("version_missing", "deleted_items", "the last version is missing", { version: last })]),
    ...files
      .filter((row, index) => {
        const { since, until = last + 1 } = row;
        return since >= until || until > last + 1 || overlaps(until, row, files[index + 1]);
      })
      .map(({ id, since, until }) =>
        wrong("version_wrong", until === undefined ? "files" : "file_versions", `the row begins with version ${since}`, {
          file: id,
        }),
      ),
  ];
}

/** Checks entries of the log of a vault, and looks for the rows that they name. The position is the last entry before. */
export async function checkLog({ store }: VerifyPorts, { vault, after: [before = ""] }: Position): Promise<Result<Slice>> {
  const read = await readUnits(store.db, vault, "log", String(before));
  if (!read.ok || !read.value) return read.ok ? ok(DONE) : read;
  const { units, after } = read.value;
  const checked = await checkPart({ store, vault, keys: undefined }, undefined, partOf("log", units));
  const bind = (sql: string) => store.db.prepare(sql).bind(vault, before, units.at(-1)?.id ?? before);
  const named = await runBatch<[NamedItem, { item: string; version: number }]>(store.db, bind(SQL.items), bind(SQL.versions));
  if (!named.ok) return named;
  const [items, versions] = named.value;
  const lost = versions.map((one) =>
    fault("item_lost", { vault, ...one, table: "item_versions" }, "the log has the version, and no row: only a backup has it"),
  );
  const faults = [...checked.faults, ...checkNamedItems(vault, items), ...lost];
  return ok({ faults, checked: { rows: checked.rows }, after });
}

/** Checks rows that belong to no vault. The position is the number of a table, and the key of the last row before. */
export async function checkRegistry({ store }: VerifyPorts, { after: [table = 0, ...key] }: Position): Promise<Result<Slice>> {
  const read = await readRegistry(store.db, { table: Number(table), key });
  if (!read.ok || !read.value) return read.ok ? ok(DONE) : read;
  const { columns, rows, isEnd } = read.value;
  const { name } = read.value.table;
  // The stage `tokens` checks all columns of a token.
  const tables = name === "tokens" ? [] : [{ table: name, columns, rows: rows.map(({ cells }) => cells) }];
  const { faults, rows: checked } = await checkPart({ store, vault: REGISTRY, keys: undefined }, undefined, { tables });
  const after = isEnd ? [Number(table) + 1] : [table, ...(rows.at(-1)!.key as readonly string[])];
  return ok({ faults, checked: { rows: checked }, after });
}

/**
 * Finds Items with a write in the log and no row in the database, or only the row of an earlier version. This is possible as long as the
 * log keeps the entries of writes, 30 days by default.
 */

/** The advice in a finding that names a lost Item. */
const RESTORE = "`item-vault admin restore --item` brings it back from a backup";

/** The row of an Item that entries of the log name, at the moment at which they were read. */
interface NamedItem {
  readonly item: string;
  /** NULL: there is no such row. */
  readonly version: number | null;
  /** The last version of the deleted Item. NULL: it is not deleted. */
  readonly deleted: number | null;
  /** 1 if the last write to an Item without a row deleted or destroyed it. */
  readonly ended: number;
  /** The version of its last write, if an entry names a later version than the row; else NULL. */
  readonly written: number | null;
}

/** SQL: true if the vault ?1 has fewer deleted Items than its count. With a retention of 0 a deleted Item has no row. */
const MISSES_DELETED = `(
  SELECT ${missesRowsSql("deleted", "(SELECT count(*) FROM deleted_items WHERE vault_id = ?1)")} FROM vaults WHERE id = ?1)`;

/**
 * Returns the SQL of versions that entries of the log of the vault ?1 name and that are missing between others of their Item. The oldest
 * ones may have been dropped, because only VERSIONS_KEPT are kept. `entries` is the SQL of the entries.
 */
const lostVersions = (entries: string): string => `
  WITH lost AS MATERIALIZED (
    SELECT DISTINCT item_id AS item, version FROM (${entries}) AS named
    WHERE sequence IS NOT NULL AND item_id IS NOT NULL AND version IS NOT NULL AND event IS NOT 'version_destroyed'
      AND version > (SELECT min(version) FROM item_versions WHERE vault_id = ?1 AND item_id = named.item_id)
      AND version < coalesce(
        (SELECT version FROM items WHERE vault_id = ?1 AND items.id = named.item_id),
        (SELECT version FROM deleted_items WHERE vault_id = ?1 AND deleted_items.id = named.item_id))
      AND NOT EXISTS (
        SELECT 1 FROM item_versions AS kept WHERE vault_id = ?1 AND item_id = named.item_id AND kept.version = named.version)),
  destroyed AS MATERIALIZED (
    SELECT item_id, version FROM activity
    WHERE EXISTS (SELECT 1 FROM lost) AND vault_id = ?1 AND event = 'version_destroyed' AND item_id IN (SELECT item FROM lost))
  SELECT item, version FROM lost WHERE NOT EXISTS (
    SELECT 1 FROM destroyed WHERE item_id = item AND coalesce(destroyed.version, lost.version) = lost.version)`;

/**
 * Returns the SQL of Items that entries of the log of the vault ?1 name. `entries` is the SQL of the entries. The log has no index by Item.
 * So one scan finds the last writes to all Items without a row, and another one those to all Items behind an entry. Only the last write
 * counts, because an Item that was made again under its id begins with version 1. SQLite takes `ended` and `version` from the row with the
 * largest sequence.
 */
const namedItems = (entries: string): string => `
  WITH named AS MATERIALIZED (
    SELECT item_id AS item, items.version, deleted.version AS deleted, latest
    FROM (
      SELECT item_id, max(version) FILTER (WHERE event IS NOT 'version_destroyed') AS latest FROM (${entries})
      WHERE sequence IS NOT NULL AND item_id IS NOT NULL GROUP BY item_id)
    LEFT JOIN items ON items.vault_id = ?1 AND items.id = item_id
    LEFT JOIN deleted_items AS deleted ON deleted.vault_id = ?1 AND deleted.id = item_id),
  missing AS (SELECT item FROM named WHERE version IS NULL AND deleted IS NULL),
  behind AS (SELECT item FROM named WHERE latest > coalesce(version, deleted)),
  last AS (
    SELECT item_id, event IS 'destroyed' OR (action = 'DELETE' AND event IS NULL AND NOT ${MISSES_DELETED}) AS ended, max(sequence)
    FROM activity
    WHERE EXISTS (SELECT 1 FROM missing) AND vault_id = ?1 AND sequence IS NOT NULL AND item_id IN (SELECT item FROM missing)
    GROUP BY item_id),
  newest AS (
    SELECT item_id, version, max(sequence) FROM activity
    WHERE EXISTS (SELECT 1 FROM behind) AND vault_id = ?1 AND sequence IS NOT NULL AND item_id IN (SELECT item FROM behind)
      AND version IS NOT NULL AND event IS NOT 'version_destroyed'
    GROUP BY item_id)
  SELECT item, named.version, deleted, item IN (SELECT item_id FROM last WHERE last.ended) AS ended, newest.version AS written
  FROM named LEFT JOIN newest ON newest.item_id = item`;

/** Returns the faults of Items that entries of the log of a vault name. An Item is named once in a slice of the log. */
const checkNamedItems = (vault: string, items: readonly NamedItem[]): Fault[] =>
  items.flatMap(({ item, version, deleted, ended, written }): Fault[] => {
    const stored = version ?? deleted;
    const place = { vault, item, table: "items" };
    if (stored === null) return ended === 1 ? [] : [fault("item_lost", place, `the log has the Item, and no row: ${RESTORE}`)];
    if (written === null || written <= stored) return [];
    return [
      fault("item_lost", { ...place, version: written }, `the row has version ${stored}, and the log ${written}: ${RESTORE}`),
    ];
  });

/** The writes of a slice of the log. */
const WRITES = "SELECT id, item_id, version, sequence, event FROM activity WHERE vault_id = ?1 AND id > ?2 AND id <= ?3";

const SQL = { items: namedItems(WRITES), versions: lostVersions(WRITES) };
