import type { VaultPlace } from "../../crypto/vault-texts.ts";
import { RESEAL_STAGES, type ResealStage } from "../../model/reseal.ts";
import { filePlace } from "../items/files.ts";
import { itemPlace } from "../items/items.ts";
import { webhookPlace } from "../events/webhook-rows.ts";
import { recordPlace } from "../commit/idempotency.ts";

/**
 * The tables with texts of a vault, as a reseal passes them: in the order of their stages, and each in the order of its primary key.
 *
 * After a row was passed, its text is under the new key, and stays so: since the vault has the new keys, commits and webhooks seal
 * under no other. But commits also copy texts in SQL, and a copy must never bring an old text behind the position. They copy
 * - from `items` to `item_versions` and from `files` to `file_versions`: the source is the earlier stage, so that its rows are all
 *   under the new key before the first row of the target is passed;
 * - from `file_versions` to `files`: these they seal again (returned-files.ts).
 */

/** At most so many rows of a table, and about so many characters of their texts, are sealed again in one batch. */
export const SLICE = { rows: 250, characters: 1024 * 1024 };

/** The columns of a row. */
export type Columns = Readonly<Record<string, string | number | null>>;

export interface ResealTable {
  readonly name: string;
  /** The primary key without the vault, and a value of each column that comes before all others. */
  readonly key: Readonly<Record<string, string | number>>;
  /** The sealed columns, and where the text of each belongs. */
  readonly texts: Readonly<Record<string, (vault: string, row: Columns) => VaultPlace>>;
  /** Other columns that sealing again needs. */
  readonly also?: readonly string[];
  /** Whether a row is replaced only while its text is the one that was read: its writes change no version of the vault. */
  readonly compares?: true;
}

const id = (row: Columns, column = "id"): string => String(row[column]);

const ofItem =
  (kind: "overview" | "details", column: string) =>
  (vault: string, row: Columns): VaultPlace =>
    itemPlace(kind, { vault, id: id(row, column), version: Number(row["version"]) });

const ofFile = (vault: string, row: Columns): VaultPlace => filePlace(vault, id(row));

export const RESEAL_TABLES: Readonly<Record<ResealStage, ResealTable>> = {
  webhooks: {
    name: "webhooks",
    key: { id: "" },
    texts: { sealed: (vault, row) => webhookPlace(vault, id(row)) },
    compares: true,
  },
  records: {
    name: "replays",
    key: { key: "" },
    texts: { sealed: (vault, row) => recordPlace(vault, id(row)) },
    also: ["id"],
  },
  items: {
    name: "items",
    key: { id: "" },
    texts: { overview: ofItem("overview", "id"), details: ofItem("details", "id") },
    also: ["version", "title_index", "folded_index"],
  },
  versions: {
    name: "item_versions",
    key: { item_id: "", version: -1 },
    texts: { overview: ofItem("overview", "item_id"), details: ofItem("details", "item_id") },
  },
  files: { name: "files", key: { item_id: "", id: "" }, texts: { sealed: ofFile } },
  file_versions: { name: "file_versions", key: { item_id: "", id: "", until: -1 }, texts: { sealed: ofFile } },
};

/** The stages from this one on. */
export const stagesFrom = (stage: ResealStage): readonly ResealStage[] => RESEAL_STAGES.slice(RESEAL_STAGES.indexOf(stage));

const lengthOf = ({ texts }: ResealTable): string =>
  Object.keys(texts)
    .map((column) => `octet_length(${column})`)
    .join(" + ");

/**
 * The rows after a key, in the order of the key, up to the one by which they exceed the bound. Their sizes are added up apart from the
 * texts, which SQLite would copy. Of rows without texts, which add nothing to the sum, the last one is meant. In: the parameters ?1,
 * the vault, and ?2 and on, the key.
 */
export function readSql(table: ResealTable): string {
  const key = Object.keys(table.key);
  const names = key.join(", ");
  const after = `vault_id = ?1 AND (${names}) > (${key.map((_, index) => `?${index + 2}`).join(", ")})`;
  const columns = [...key, ...(table.also ?? []), ...Object.keys(table.texts)].join(", ");
  return `
    SELECT ${columns} FROM ${table.name} WHERE ${after} AND (${names}) <= (
      SELECT ${names} FROM (
        SELECT ${names}, sum(octets) OVER (ORDER BY ${names} ROWS UNBOUNDED PRECEDING) - octets AS earlier
        FROM (
          SELECT ${names}, ${lengthOf(table)} AS octets FROM ${table.name}
          WHERE ${after} ORDER BY ${names} LIMIT ${SLICE.rows}))
      WHERE earlier < ${SLICE.characters} ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1)
    ORDER BY ${names}`;
}

const value = (column: string): string => `new.value ->> '${column}'`;

/**
 * Writes rows. In: ?1, the vault, and ?2, the columns of each row; of a table that compares also the text before, as `before`.
 * The vault is an expression of the list, because SQLite would else go through the list for each row of the vault.
 */
export function writeSql(table: ResealTable, columns: readonly string[]): string {
  const key = Object.keys(table.key).map((column) => `AND ${table.name}.${column} = ${value(column)}`);
  const before = table.compares ? `AND ${table.name}.sealed = ${value("before")}` : "";
  return `
    UPDATE ${table.name} SET ${columns.map((column) => `${column} = ${value(column)}`).join(", ")}
    FROM json_each(?2) AS new WHERE ${table.name}.vault_id = coalesce(?1, new.key) ${key.join(" ")} ${before}`;
}
