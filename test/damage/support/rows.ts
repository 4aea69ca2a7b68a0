import { env } from "cloudflare:workers";
import { ignoreChecks } from "../../support/migrate.ts";

/** Every column of every table, and how one row of it is damaged. */

export interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly nullable: boolean;
  /** The columns of the primary key. */
  readonly key: readonly string[];
}

interface Info {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

const TABLES = `
  SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\'
    AND name <> 'd1_migrations' ORDER BY name`;

/** Out: the columns of all tables, as the database has them. */
export async function listColumns(): Promise<Column[]> {
  const { results: tables } = await env.DB.prepare(TABLES).all<{ name: string }>();
  const found: Column[] = [];
  for (const { name: table } of tables) {
    const { results } = await env.DB.prepare(`PRAGMA table_info(${table})`).all<Info>();
    const key = results.filter(({ pk }) => pk > 0).map(({ name }) => name);
    for (const { name, type, notnull } of results) found.push({ table, column: name, type, nullable: notnull === 0, key });
  }
  return found;
}

/** SQL of the value that a damaged column gets; `undefined` where the fault is none of this type. */
export const FAULTS = {
  flipped: ({ column, type }: Column) =>
    type === "INTEGER"
      ? `(${column} | 1) - (${column} & 1)` // the lowest bit
      : `substr(${column}, 1, length(${column}) / 2) || CASE substr(${column}, length(${column}) / 2 + 1, 1) WHEN 'A' THEN 'B' ELSE 'A' END
         || substr(${column}, length(${column}) / 2 + 2)`,
  emptied: ({ type, nullable }: Column) => (nullable ? "NULL" : type === "INTEGER" ? "0" : "''"),
  swapped: ({ table, column }: Column) =>
    `coalesce((SELECT other.${column} FROM ${table} AS other WHERE other.${column} <> ${table}.${column} LIMIT 1), ${column})`,
  "an impossible number": ({ type }: Column) => (type === "INTEGER" ? "9223372036854775807" : undefined),
  "a negative number": ({ type }: Column) => (type === "INTEGER" ? "-1" : undefined),
};

export type FaultName = keyof typeof FAULTS;

export interface Case extends Column {
  readonly fault: FaultName;
  readonly sql: string;
}

export async function listCases(): Promise<Case[]> {
  return (await listColumns()).flatMap((column) =>
    (Object.keys(FAULTS) as FaultName[]).flatMap((fault): Case[] => {
      const sql = FAULTS[fault](column);
      return sql === undefined ? [] : [{ ...column, fault, sql }];
    }),
  );
}

export type Row = Readonly<Record<string, string | number | null>>;

/** The row that is damaged: the first one of the vault, or else of the table, that has a value in the column. In: ids of rows that stay sound. */
export async function chooseRow({ table, key, column }: Column, vault: string, spared: readonly string[]): Promise<Row> {
  const { results } = await env.DB.prepare(`SELECT * FROM ${table} ORDER BY ${key.join()}`).all<Row>();
  const filled = results.filter((row) => row[column] !== null && !spared.includes(String(row["id"])));
  if (filled.length === 0) throw new Error(`${table}.${column} has no value in any row`);
  return filled.find((row) => row["vault_id"] === vault || (table === "vaults" && row["id"] === vault)) ?? filled[0]!;
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
