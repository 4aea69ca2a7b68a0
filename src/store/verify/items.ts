import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { columnsInVault, textBytes } from "../tables/slices.ts";
import { type NamedTable, tableOf, TABLES, TABLES_OF_ITEM } from "../tables/tables.ts";
import type { FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";
import { repairIndexes } from "../commit/repairs.ts";
import type { EndedRow } from "../checks/files.ts";
import { checkItem, type DeletedRow, type IndexedRow, type ItemFault, type ItemRows } from "../checks/items.ts";
import type { Fault } from "../checks/fault.ts";
import { DONE, keyAfter, type Position, type Slice, type VerifyPorts } from "./stage.ts";
import { type ListsOf, loadMoment } from "./vault-keys.ts";

/** The stage `items` checks every row of Items, versions and Files, Item by Item. */

/** The most Items of a slice, and about the most bytes of their sealed texts. */
export const SLICE_MAX = { items: 250, bytes: 4 * 1024 * 1024 };

/** The ids of the next Items that have a row in a table. */
const idsIn = ({ name, item }: NamedTable) =>
  `SELECT id FROM (SELECT DISTINCT ${item} AS id FROM ${name} WHERE vault_id = ?1 AND ${item} >= ?2 ORDER BY ${item} LIMIT ${SLICE_MAX.items})`;

/** The rows of the Items from ?2 to ?3. */
const rowsIn = (name: (typeof TABLES_OF_ITEM)[number]["name"], columns = columnsInVault(TABLES[name])) => {
  const { item } = tableOf(name)!;
  return `SELECT ${columns.join(", ")} FROM ${name} WHERE vault_id = ?1 AND ${item} >= ?2 AND ${item} <= ?3`;
};

const SQL = {
  /** The next Items, with the bytes of their texts. */
  sizes: `
    SELECT id,
      (SELECT coalesce(sum(${textBytes(TABLES.items)}), 0) FROM items WHERE vault_id = ?1 AND items.id = next.id)
      + (SELECT coalesce(sum(${textBytes(TABLES.item_versions)}), 0) FROM item_versions WHERE vault_id = ?1 AND item_id = next.id) AS bytes
    FROM (${TABLES_OF_ITEM.map(idsIn).join(" UNION ")} ORDER BY id LIMIT ${SLICE_MAX.items}) AS next`,
  items: rowsIn("items"),
  deleted: rowsIn("deleted_items"),
  versions: rowsIn("item_versions", ["item_id AS id", ...columnsInVault(TABLES.item_versions).slice(1)]),
  files: rowsIn("files"),
  ended: rowsIn("file_versions"),
};

/** The rows of several Items, in this order: of items, deleted_items, item_versions, files and file_versions. */
type Rows = [IndexedRow, DeletedRow, ItemRow, FileRow, EndedRow];

/** Loads a slice in two D1 calls: the first one finds its end, the second one reads its rows at one moment. */
export async function checkItems(ports: VerifyPorts, { vault, after: [after = ""] }: Position): Promise<Result<Slice>> {
  const { db } = ports.store;
  const sizes = await runBatch<[Size]>(db, db.prepare(SQL.sizes).bind(vault, after));
  if (!sizes.ok) return sizes;
  const end = endOf(sizes.value[0]);
  if (end === undefined) return ok(DONE);
  const bind = (sql: string) => db.prepare(sql).bind(vault, after, end);
  const moment = await loadMoment<Rows>(
    ports,
    vault,
    bind(SQL.items),
    bind(SQL.deleted),
    bind(SQL.versions),
    bind(SQL.files),
    bind(SQL.ended),
  );
  if (!moment.ok) return moment;
  if (!moment.value) return ok(DONE);
  const { keys, rows } = moment.value;
  const faults: Fault[] = [];
  const items = groupItems(rows);
  for (const item of items) {
    const itemFaults = await checkItem(keys, vault, item);
    faults.push(...itemFaults.map((one) => withRepair(ports, vault, item, one)));
  }
  const checked = { rows: rows.reduce((sum, list) => sum + list.length, 0), items: items.length, bytes: bytesOf(rows) };
  return ok({ faults, checked, after: [keyAfter(end)] });
}

interface Size {
  readonly id: string;
  readonly bytes: number;
}

/** The last Item of the slice. A slice has at least one Item, however large that is. */
function endOf(sizes: readonly Size[]): string | undefined {
  let [sum, end] = [0, sizes[0]?.id];
  for (const { id, bytes } of sizes) {
    sum += bytes;
    if (sum > SLICE_MAX.bytes) break;
    end = id;
  }
  return end;
}

/** The rows by the ids of their Items, in the order of the ids. */
function groupItems([current, deleted, versions, files, ended]: ListsOf<Rows>): ItemRows[] {
  const byId = new Map(current.map((row) => [row.id, row]));
  const deletions = new Map(deleted.map((row) => [row.id, row]));
  const [versionsOf, filesOf, endedOf] = [
    Map.groupBy(versions, ({ id }) => id),
    Map.groupBy(files, ({ item_id }) => item_id),
    Map.groupBy(ended, ({ item_id }) => item_id),
  ];
  const ids = new Set([...byId.keys(), ...deletions.keys(), ...versionsOf.keys(), ...filesOf.keys(), ...endedOf.keys()]);
  return [...ids].toSorted().map((id) => ({
    id,
    current: byId.get(id),
    deleted: deletions.get(id),
    versions: versionsOf.get(id) ?? [],
    files: filesOf.get(id) ?? [],
    ended: endedOf.get(id) ?? [],
  }));
}

const bytesOf = ([current, , versions, files, ended]: ListsOf<Rows>): number =>
  [...current, ...versions].reduce((sum, { overview, details }) => sum + overview.length + details.length, 0) +
  [...files, ...ended].reduce((sum, { sealed }) => sum + sealed.length, 0);

function withRepair({ store }: VerifyPorts, vault: string, { current }: ItemRows, { indexes, ...found }: ItemFault): Fault {
  if (indexes && current)
    return { ...found, repair: { by: "statement", statement: repairIndexes(store.db, vault, current, indexes) } };
  return found;
}
