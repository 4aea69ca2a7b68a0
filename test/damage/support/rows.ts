import { env } from "cloudflare:workers";
import { ALL_TABLES, type TableName, tableOf } from "../../../src/store/tables/tables.ts";
import { ignoreChecks } from "../../support/migrate.ts";

/** Every column of every table, and how one row of it is damaged. */

export interface Column {
  readonly table: TableName;
  readonly column: string;
  readonly isNumber: boolean;
  readonly nullable: boolean;
  /** The columns of the primary key. */
  readonly key: readonly string[];
}

/** The columns of all tables: test/promises/tables.test.ts compares the catalogue with the schema. */
const COLUMNS: readonly Column[] = ALL_TABLES.flatMap(({ name, columns, key }) =>
  Object.entries(columns).map(([column, kind]) => ({
    table: name,
    column,
    isNumber: /^(time|number)/.test(kind),
    nullable: kind.endsWith("?"),
    key,
  })),
);

/** SQL of the value that a damaged column gets; `undefined` where the fault is none of this type. */
export const FAULTS = {
  flipped: ({ column, isNumber }: Column) =>
    isNumber
      ? `(${column} | 1) - (${column} & 1)` // the lowest bit
      : `substr(${column}, 1, length(${column}) / 2) || CASE substr(${column}, length(${column}) / 2 + 1, 1) WHEN 'A' THEN 'B' ELSE 'A' END
         || substr(${column}, length(${column}) / 2 + 2)`,
  emptied: ({ isNumber, nullable }: Column) => (nullable ? "NULL" : isNumber ? "0" : "''"),
  swapped: ({ table, column }: Column) =>
    `coalesce((SELECT other.${column} FROM ${table} AS other WHERE other.${column} <> ${table}.${column} LIMIT 1), ${column})`,
  "an impossible number": ({ isNumber }: Column) => (isNumber ? "9223372036854775807" : undefined),
  "a negative number": ({ isNumber }: Column) => (isNumber ? "-1" : undefined),
  "the last safe integer": ({ isNumber }: Column) => (isNumber ? String(Number.MAX_SAFE_INTEGER) : undefined),
};

export type FaultName = keyof typeof FAULTS;

export interface Case extends Column {
  readonly fault: FaultName;
  readonly sql: string;
}

/** Every column of every table with every fault that it can have. */
export const CASES: readonly Case[] = COLUMNS.flatMap((column) =>
  (Object.keys(FAULTS) as FaultName[]).flatMap((fault): Case[] => {
    const sql = FAULTS[fault](column);
    return sql === undefined ? [] : [{ ...column, fault, sql }];
  }),
);

export type Row = Readonly<Record<string, string | number | null>>;

/** The row that is damaged: the first one of the vault, or else of the table, that has a value in the column. In: ids of rows that stay sound. */
export async function chooseRow({ table, key, column }: Column, vault: string, spared: readonly string[]): Promise<Row> {
  const { results } = await env.DB.prepare(`SELECT * FROM ${table} ORDER BY ${key.join()}`).all<Row>();
  const filled = results.filter((row) => row[column] !== null && !spared.includes(String(row["id"])));
  if (filled.length === 0) throw new Error(`${table}.${column} has no value in any row`);
  const [owner = ""] = Object.values(tableOf(table)!.owner ?? {});
  return filled.find((row) => row[owner] === vault) ?? filled[0]!;
}

/** Damages the row. Out: the row as it is then; `undefined` when the database refuses it, or nothing changes. */
export async function damage({ table, key, column, sql }: Case, row: Row): Promise<Row | undefined> {
  const where = key.map((name) => `${name} = ?`).join(" AND ");
  await ignoreChecks(true);
  try {
    const changed = await env.DB.prepare(`UPDATE ${table} SET ${column} = ${sql} WHERE ${where} RETURNING *`)
      .bind(...key.map((name) => row[name]))
      .first<Row>();
    return changed && changed[column] !== row[column] ? changed : undefined;
  } catch (error) {
    if (/constraint|NOT NULL|datatype/i.test(String(error))) return undefined;
    throw error;
  } finally {
    await ignoreChecks(false);
  }
}
