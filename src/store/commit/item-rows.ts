import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { KeyedFile } from "../../model/file.ts";
import type { Item } from "../../model/item.ts";
import { NOTHING_STORED, type StoredItem } from "../../model/stored.ts";
import { sealFile } from "../items/files.ts";
import { sealItem } from "../items/items.ts";
import { assignments, insertRow, valuesOf, into } from "../tables/statements.ts";
import { type RowOf, TABLES, TABLES_OF_ITEM } from "../tables/tables.ts";

/**
 * The statements that change the rows of Files, in the order of the operations. A row that only earlier versions need moves to
 * `file_versions`. When a version is restored, it moves back. The sealed text does not change.
 */

export type FileChange =
  /** Writes the row of a new File, or the new content of a File. */
  | { readonly kind: "put"; readonly item: string; readonly file: KeyedFile; readonly since: number; readonly replaces: boolean }
  /** Copies rows for the versions before `until`. */
  | { readonly kind: "end"; readonly item: string; readonly ids: readonly string[]; readonly until: number }
  | { readonly kind: "remove"; readonly item: string; readonly ids: readonly string[] }
  /** Copies ended rows back, for the versions from `since` on. */
  | {
      readonly kind: "return";
      readonly item: string;
      readonly rows: readonly (readonly [id: string, until: number])[];
      readonly since: number;
    };

const IDS = "(SELECT value FROM json_each(?3))";

const FILE_COLUMNS = Object.keys(TABLES.files.columns) as (keyof RowOf<"files">)[];
const ENDED_COLUMNS = Object.keys(TABLES.file_versions.columns);
const KEY_LENGTH = TABLES.files.key.length;

const FILE_SQL = {
  insert: insertRow("files", FILE_COLUMNS),
  update: `UPDATE files SET ${assignments(FILE_COLUMNS.slice(KEY_LENGTH), 1 + KEY_LENGTH)} WHERE vault_id = ?1 AND item_id = ?2 AND id = ?3`,
  // An existing row belongs to a version that was lost, as in `item_versions`, so it is replaced.
  end: `
    INSERT OR REPLACE INTO file_versions (${ENDED_COLUMNS.join(", ")})
    SELECT ${ENDED_COLUMNS.map((column) => (column === "until" ? "?4" : column)).join(", ")} FROM files
    WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  remove: `DELETE FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id IN ${IDS}`,
  return: `
    INSERT INTO files (${FILE_COLUMNS.join(", ")})
    SELECT ${FILE_COLUMNS.map((column) => (column === "since" ? "?4" : column)).join(", ")} FROM file_versions
    WHERE vault_id = ?1 AND item_id = ?2 AND (id, until) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))`,
};

export async function fileStatement(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  change: FileChange,
): Promise<D1PreparedStatement> {
  const { item } = change;
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(vault, item, ...values);
  if (change.kind === "put") {
    const { file, since, replaces } = change;
    const sealed = await sealFile(keys, vault, item, file);
    const row = { vault_id: vault, item_id: item, id: file.id, generation: file.generation, size: file.size, sealed, since };
    return db.prepare(replaces ? FILE_SQL.update : FILE_SQL.insert).bind(...valuesOf(row, FILE_COLUMNS));
  }
  if (change.kind === "end") return bind(FILE_SQL.end, JSON.stringify(change.ids), change.until);
  if (change.kind === "remove") return bind(FILE_SQL.remove, JSON.stringify(change.ids));
  return bind(FILE_SQL.return, JSON.stringify(change.rows), change.since);
}

/**
 * The statements that keep, trim and destroy versions. A version moves within D1 without being decrypted. Each statement serves all Items of
 * the group, so the number of statements does not grow with the group. Only a version that the group itself has made and replaced is sealed
 * in its own statement.
 */

/** The changes of a group to the rows of an Item. */
export interface VersionChange {
  readonly id: string;
  /** The rows before and after; absent where there are none. */
  readonly stored: { readonly before: StoredItem | undefined; readonly after: StoredItem | undefined };
  /** The kept versions that the group has made and replaced. */
  readonly made: readonly Item[];
  /** True if rows in `file_versions` belong to no kept version. */
  readonly filesUnused: boolean;
}

const VERSION_COLUMNS = Object.keys(TABLES.item_versions.columns) as (keyof RowOf<"item_versions">)[];

/**
 * An existing row is replaced. It exists only if some tables were restored by hand: then it belongs to a lost version, and must not block
 * writes.
 */
const VERSION_SQL = {
  move: `
    INSERT OR REPLACE INTO item_versions (${VERSION_COLUMNS.join(", ")})
    SELECT ${VERSION_COLUMNS.map((column) => (column === "item_id" ? "id" : column)).join(", ")} FROM items
    WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
  insert: insertRow("item_versions", VERSION_COLUMNS, true),
  // Row by row with the whole key: D1 reads no other version of the Item.
  trim: `
    DELETE FROM item_versions WHERE vault_id = ?1
      AND (item_id, version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))`,
  trimFiles: `
    DELETE FROM file_versions WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2))
      AND NOT EXISTS (
        SELECT 1 FROM item_versions AS kept
        WHERE kept.vault_id = ?1 AND kept.item_id = file_versions.item_id
          AND kept.version >= file_versions.since AND kept.version < file_versions.until)`,
  // The version of a damaged row may be beyond the integers of JavaScript: JSON then has a number that SQLite reads as REAL.
  insertDeleted: `
    INSERT OR REPLACE ${into("deleted_items")}
    SELECT ?1, value ->> 'id', CAST(value ->> 'version' AS INTEGER), value ->> 'at', value ->> 'by' FROM json_each(?2)`,
  deleteDeleted: "DELETE FROM deleted_items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
  // The rows in `items` and `deleted_items` are changed one by one.
  destroy: TABLES_OF_ITEM.filter(({ name }) => name !== "items" && name !== "deleted_items").map(
    ({ name }) => `DELETE FROM ${name} WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2))`,
  ),
};

/**
 * Returns the statements that run before the rows of Items, which follow the changes of Files, and the statements that run after all other
 * changes.
 */
export async function versionStatements(
  db: D1Database,
  vault: string,
  keys: VaultKeys,
  changes: readonly VersionChange[],
): Promise<{ readonly first: D1PreparedStatement[]; readonly last: D1PreparedStatement[] }> {
  const run = (sql: string, rows: readonly unknown[]) =>
    rows.length > 0 ? [db.prepare(sql).bind(vault, JSON.stringify(rows))] : [];
  const existing = changes.filter(({ stored }) => stored.after);
  const destroyed = idsOf(changes.filter(({ stored }) => !stored.after));
  const deleted = existing.flatMap(({ id, stored }) => (stored.after!.deleted ? [{ id, ...stored.after!.deleted }] : []));
  const restored = changes.filter(({ stored }) => stored.before?.deleted && !stored.after?.deleted);
  const sealed = await Promise.all(changes.flatMap((change) => change.made.map((item) => sealItem(keys, item))));
  return {
    first: [
      ...run(VERSION_SQL.move, idsOf(existing.filter(moves))),
      ...sealed.map((row) =>
        db.prepare(VERSION_SQL.insert).bind(...valuesOf({ ...row, vault_id: vault, item_id: row.id }, VERSION_COLUMNS)),
      ),
      ...run(VERSION_SQL.trim, existing.flatMap(trimmedOf)),
    ],
    last: [
      ...run(VERSION_SQL.trimFiles, idsOf(existing.filter(({ filesUnused }) => filesUnused))),
      ...run(VERSION_SQL.insertDeleted, deleted),
      ...run(VERSION_SQL.deleteDeleted, idsOf(restored)),
      ...VERSION_SQL.destroy.flatMap((sql) => run(sql, destroyed)),
    ],
  };
}

const idsOf = (changes: readonly VersionChange[]): string[] => changes.map(({ id }) => id);

/** Returns true if the version in `items` becomes a kept earlier version. */
const moves = ({ stored: { before, after } }: VersionChange): boolean =>
  before?.current !== undefined && after!.versions.some(({ version }) => version === before.current!.version);

/** Returns the versions that were kept before the group and are not kept after it. */
function trimmedOf({ id, stored: { before = NOTHING_STORED, after } }: VersionChange): (readonly [string, number])[] {
  const remaining = new Set(after!.versions.map(({ version }) => version));
  return before.versions.filter(({ version }) => !remaining.has(version)).map(({ version }) => [id, version] as const);
}
