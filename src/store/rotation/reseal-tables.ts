import { HEADER_LENGTH } from "../../crypto/seal.ts";
import type { VaultPlace } from "../../crypto/vault-texts.ts";
import { RESEAL_STAGES, type ResealStage } from "../../model/reseal.ts";
import { type TableName, tableOf } from "../tables/tables.ts";

/** The tables with texts of a vault, as a reseal passes them: in the order of their stages, and each in the order of its primary key. */

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

const textsOf = (name: TableName): ResealTable["texts"] =>
  tableOf(name)!.associatedData as Readonly<Record<string, (vault: string, row: never) => VaultPlace>> as ResealTable["texts"];

export const RESEAL_TABLES: Readonly<Record<ResealStage, ResealTable>> = {
  webhooks: {
    name: "webhooks",
    key: { id: "" },
    texts: textsOf("webhooks"),
    compares: true,
  },
  records: {
    name: "replays",
    key: { key: "" },
    texts: textsOf("replays"),
    also: ["id"],
  },
  items: {
    name: "items",
    key: { id: "" },
    texts: textsOf("items"),
    also: ["version", "title_index", "folded_index"],
  },
  versions: {
    name: "item_versions",
    key: { item_id: "", version: -1 },
    texts: textsOf("item_versions"),
  },
  files: { name: "files", key: { item_id: "", id: "" }, texts: textsOf("files") },
  file_versions: { name: "file_versions", key: { item_id: "", id: "", until: -1 }, texts: textsOf("file_versions") },
};

/** The stages from this one on. */
export const stagesFrom = (stage: ResealStage): readonly ResealStage[] => RESEAL_STAGES.slice(RESEAL_STAGES.indexOf(stage));

const lengthOf = ({ texts }: ResealTable): string =>
  Object.keys(texts)
    .map((column) => `octet_length(${column})`)
    .join(" + ");

/** SQL: whether a text of the row is not under the newest key. In: its header, as SQL. */
const isEarlier = ({ texts }: ResealTable, header: string): string =>
  `(${Object.keys(texts)
    .map((column) => `substr(${column}, 1, ${HEADER_LENGTH}) <> ${header}`)
    .join(" OR ")})`;

/**
 * The rows after a key, in the order of the key, up to the one by which they exceed the bound. Their sizes are added up apart from the
 * texts, which SQLite would copy. Of rows without texts, which add nothing to the sum, the last one is meant. In: whether all rows are
 * read, or those with a text that is not under the newest key; the parameters ?1, the vault, ?2, the header of the texts under that key,
 * and ?3 and on, the key.
 */
export function readSql(table: ResealTable, all: boolean): string {
  const key = Object.keys(table.key);
  const names = key.join(", ");
  const wanted = all ? "?2 = ?2" : isEarlier(table, "?2");
  const after = `vault_id = ?1 AND (${names}) > (${key.map((_, index) => `?${index + 3}`).join(", ")}) AND ${wanted}`;
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
