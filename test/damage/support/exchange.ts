import { env } from "cloudflare:workers";
import type { NamedTable } from "../../../src/store/tables/tables.ts";
import type { Row } from "./rows.ts";

/** Exchanges a column of two rows, as somebody does who writes to D1. */

export const isPlain = ({ columns }: NamedTable, column: string): boolean => !/^(sealed|keys|lines)/.test(columns[column]!);

/** Replaces two rows by the same ones with exchanged values of a column. Returns what puts the rows back. */
export async function exchangeColumn(
  { name, key }: NamedTable,
  column: string,
  [one, other]: readonly [Row, Row],
): Promise<() => Promise<void>> {
  const insert = (row: Row) =>
    env.DB.prepare(
      `INSERT INTO ${name} (${Object.keys(row).join()}) SELECT ${Object.keys(row)
        .map(() => "?")
        .join()}`,
    ).bind(...Object.values(row));
  const remove = (row: Row) =>
    env.DB.prepare(`DELETE FROM ${name} WHERE ${key.map((part) => `${part} = ?`).join(" AND ")}`).bind(
      ...key.map((part) => row[part]!),
    );
  const replace = async (removed: readonly Row[], rows: readonly Row[]): Promise<void> =>
    void (await env.DB.batch([...removed.map(remove), ...rows.map(insert)]));
  const exchanged = [
    { ...one, [column]: other[column]! },
    { ...other, [column]: one[column]! },
  ];
  await replace([one, other], exchanged);
  return () => replace(exchanged, [one, other]);
}
