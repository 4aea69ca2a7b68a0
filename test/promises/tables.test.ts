import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { TIME_END } from "../../src/model/time.ts";
import { ALL_TABLES, columnsOfKind, type NamedTable } from "../../src/store/tables/tables.ts";
import { VALUES_OF_KINDS } from "../support/tables.ts";

/** The catalogue of tables (src/store/tables) is complete, and says what the schema says. */

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

const isOwn = (name: string) => !/^(sqlite_|_cf_|d1_migrations$|test_)/.test(name);

let schema: Map<string, Column[]>;

beforeAll(async () => {
  const tables = (await env.DB.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all<{ name: string }>()).results;
  const own = tables.map(({ name }) => name).filter(isOwn);
  const columns = await env.DB.batch<Column>(own.map((name) => env.DB.prepare(`PRAGMA table_info(${name})`)));
  schema = new Map(own.map((name, index) => [name, columns[index]!.results]));
});

/** The column as the catalogue has it, in the words of the schema. */
const described = ({ columns }: NamedTable, name: string) => {
  const kind = columns[name]!.replace("?", "") as keyof typeof VALUES_OF_KINDS;
  return { name, type: typeof VALUES_OF_KINDS[kind] === "number" ? "INTEGER" : "TEXT", nullable: columns[name]!.endsWith("?") };
};

describe("the catalogue of tables", () => {
  it("has every table of the schema, and no other", () => {
    expect(ALL_TABLES.map(({ name }) => name).toSorted()).toEqual([...schema.keys()].toSorted());
  });

  it.each(ALL_TABLES)("has every column of $name with its type, in the order of the schema, and the primary key", (table) => {
    const columns = schema.get(table.name)!;
    expect(Object.keys(table.columns).map((name) => described(table, name))).toEqual(
      columns.map(({ name, type, notnull }) => ({ name, type, nullable: notnull === 0 })),
    );
    const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    expect(table.key).toEqual(key.map(({ name }) => name));
  });

  it.each(ALL_TABLES)(
    "bounds the numbers, times and words of $name as the schema does, where that checks them",
    async ({ name, columns, words = {} }) => {
      const sql = await env.DB.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").bind(name).first<string>("sql");
      const checked = [...sql!.matchAll(/CHECK \((\w+) BETWEEN [01] AND (\d+)\)/g)].map(([, column = "", most]) => [
        column,
        Number(most),
      ]);
      const bounds = { time: TIME_END - 1, number: Number.MAX_SAFE_INTEGER };
      const kindOf = (column: string) => columns[column]!.replace("?", "") as keyof typeof bounds;
      expect(checked).toEqual(checked.map(([column]) => [column, bounds[kindOf(String(column))]]));
      const checks = [...sql!.matchAll(/CHECK \((\w+) = '([^)]+)'\)/g)];
      const lists = checks.map(([, column, list]) => [column, list!.split(new RegExp(`'\\s+OR ${column} = '`))]);
      expect(lists).toEqual(lists.map(([column]) => [column, words[String(column)]]));
    },
  );

  it.each(ALL_TABLES)("binds each sealed text of $name to its row, and to no other", (table) => {
    const sealed = columnsOfKind(table, "sealed");
    const entries = Object.entries(table.associatedData ?? {});
    expect(entries.map(([column]) => column).toSorted()).toEqual(sealed.toSorted());
    const row = (id: string) =>
      Object.fromEntries(
        Object.entries(table.columns).map(([name, kind]) => [name, kind.startsWith("number") ? 1 : id]),
      ) as never;
    const [one, other] = ["018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002"];
    const bound = entries.map(([, of]) => [of(one, row(one)), of(other, row(other))] as const);
    // A proof is a known text, which the id of its root key alone binds.
    const alike = bound.filter(([a, b]) => JSON.stringify(a) === JSON.stringify(b));
    expect(alike.length).toBe(table.name === "root_keys" ? 1 : 0);
    expect(new Set(bound.map(([a]) => JSON.stringify(a))).size).toBe(sealed.length);
  });

  it.each(ALL_TABLES)("says of what each blind index of $name is made, who owns the rows and when they are deleted", (table) => {
    const { derived = {}, owner, item, purge } = table;
    expect(Object.keys(derived).toSorted()).toEqual(columnsOfKind(table, "index").toSorted());
    for (const source of Object.values(derived)) expect(columnsOfKind(table, "sealed")).toContain(source);
    expect(Object.keys(table.columns)).toEqual(expect.arrayContaining([...Object.values(owner ?? {}), ...(item ? [item] : [])]));
    expect(Object.values(purge)).not.toEqual([]);
    expect(purge.withVault === undefined || (owner !== undefined && "vault" in owner)).toBe(true);
  });

  it("names only counters that vaults have", () => {
    const { columns } = ALL_TABLES.find(({ name }) => name === "vaults")!;
    for (const { counters = [] } of ALL_TABLES) expect(Object.keys(columns)).toEqual(expect.arrayContaining([...counters]));
  });
});
