import type { EndedFile, StoredDeletion, StoredVersion } from "../../model/stored.ts";
import type { FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";

/** The rows of earlier versions and of deleted Items, as a group of writes needs them. */

/** The earlier versions and ended Files of an Item, without the texts. */
export interface KeptRows {
  readonly versions: readonly StoredVersion[];
  readonly ended: readonly EndedFile[];
}

export const NOTHING_KEPT: KeptRows = { versions: [], ended: [] };

/** A version whose texts a group needs. Without a number: the last version of a deleted Item. */
export type VersionRef = readonly [item: string, version: number | null];

/** The texts of an earlier version, and the rows of its Files that have ended since. */
export interface KeptTexts {
  readonly row: ItemRow;
  readonly ended: readonly FileRow[];
}

type OfItem<Row> = Row & { readonly item_id: string };
type EndedText = FileRow & { readonly version: number };
type DeletedRow = StoredDeletion & { readonly id: string };

/** The rows that the statements below give, in their order. */
export type KeptAnswer = [OfItem<StoredVersion>, OfItem<EndedFile>, DeletedRow, ItemRow, EndedText];

type StatementsOf<Rows extends unknown[]> = { [K in keyof Rows]: D1PreparedStatement };
type RowsOf<Rows extends unknown[]> = { [K in keyof Rows]: Rows[K][] };

const WANTED = `
  WITH wanted AS MATERIALIZED (
    SELECT DISTINCT value ->> 0 AS item,
      coalesce(value ->> 1, (SELECT version FROM deleted_items WHERE vault_id = ?1 AND id = value ->> 0)) AS version
    FROM json_each(?2))`;

const SQL = {
  versions: `
    SELECT item_id, version, octet_length(overview) + octet_length(details) AS bytes FROM item_versions
    WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2)) ORDER BY version`,
  ended: `
    SELECT item_id, id, generation, size, since, until, octet_length(sealed) AS bytes FROM file_versions
    WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2))`,
  deleted: `
    SELECT id, version, deleted_at AS at, deleted_by AS "by" FROM deleted_items
    WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
  texts: `${WANTED}
    SELECT kept.item_id AS id, kept.version, kept.overview, kept.details
    FROM wanted CROSS JOIN item_versions AS kept
    WHERE kept.vault_id = ?1 AND kept.item_id = wanted.item AND kept.version = wanted.version`,
  endedTexts: `${WANTED}
    SELECT wanted.version, item_id, id, generation, size, sealed, since
    FROM wanted CROSS JOIN file_versions AS kept
    WHERE kept.vault_id = ?1 AND kept.item_id = wanted.item AND kept.since <= wanted.version AND wanted.version < kept.until`,
};

/** Returns the statements that load kept rows of `items`, and the versions whose texts are needed. */
export function keptStatements(
  db: D1Database,
  vault: string,
  items: readonly string[],
  texts: readonly VersionRef[],
): StatementsOf<KeptAnswer> {
  const bind = (sql: string, list: unknown) => db.prepare(sql).bind(vault, JSON.stringify(list));
  return [
    bind(SQL.versions, items),
    bind(SQL.ended, items),
    bind(SQL.deleted, items),
    bind(SQL.texts, texts),
    bind(SQL.endedTexts, texts),
  ];
}

/** The kept rows by the ids of their Items. */
export interface Kept {
  readonly kept: ReadonlyMap<string, KeptRows>;
  readonly deleted: ReadonlyMap<string, StoredDeletion>;
  readonly texts: readonly KeptTexts[];
}

export function groupKept([versions, ended, deleted, texts, endedTexts]: RowsOf<KeptAnswer>): Kept {
  const [versionsOf, endedOf] = [Map.groupBy(versions, itemOf), Map.groupBy(ended, itemOf)];
  const ids = [...new Set([...versionsOf.keys(), ...endedOf.keys()])];
  return {
    kept: new Map(ids.map((id) => [id, { versions: versionsOf.get(id) ?? [], ended: endedOf.get(id) ?? [] }])),
    deleted: new Map(deleted.map((row) => [row.id, row])),
    texts: texts.map((row) => ({
      row,
      ended: endedTexts.filter(({ item_id, version }) => item_id === row.id && version === row.version),
    })),
  };
}

const itemOf = ({ item_id }: OfItem<unknown>): string => item_id;
