import type { D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { OBJECTS } from "../../src/store/d1/schema.ts";
import { admin, fetchRaw } from "../support/service.ts";

/** schema.sql describes the database that the files of migrations/ create. */

const bound = env as unknown as { MIGRATIONS: D1Migration[]; SCHEMA_DB: D1Database };
/** A database that schema.sql created; `env.DB` was created by the migrations (test/support/setup.ts). */
const schemaDb = bound.SCHEMA_DB;

const [schema = ""] = Object.values(import.meta.glob("../../schema.sql", { query: "?raw", import: "default", eager: true }));
const files = Object.keys(import.meta.glob("../../migrations/*", { query: "?raw", import: "default", eager: true })).map((path) =>
  path.replace("../../migrations/", ""),
);

interface Row {
  readonly [column: string]: unknown;
  readonly name: string;
}

const rows = async (db: D1Database, sql: string) => (await db.prepare(sql).all<Row>()).results;

/** False for the tables of SQLite, D1 and wrangler. */
const isOwnTable = ({ name }: Row) => !/^(sqlite_|_cf_|d1_migrations$)/.test(name);

/** The output of PRAGMA for every table and its indexes, by the name of the table. */
async function describeDatabase(db: D1Database): Promise<Record<string, object>> {
  const tables = (await rows(db, "PRAGMA table_list")).filter((table) => table["schema"] === "main" && isOwnTable(table));
  const described: Record<string, object> = {};
  for (const table of tables) {
    const columns = await rows(db, `PRAGMA table_xinfo(${table.name})`);
    described[table.name] = { ...table, columns, indexes: await describeIndexes(db, table.name) };
  }
  return described;
}

/** By name, because SQLite lists the indexes of a table in the order of their creation, which does not matter. */
async function describeIndexes(db: D1Database, table: string): Promise<Record<string, object>> {
  const described: Record<string, object> = {};
  for (const { seq: _, name, ...index } of await rows(db, `PRAGMA index_list(${table})`))
    described[name] = { ...index, columns: await rows(db, `PRAGMA index_xinfo(${name})`) };
  return described;
}

/** The text of every statement that created something. */
const definitions = async (db: D1Database) =>
  (await rows(db, "SELECT name, type, sql FROM sqlite_schema ORDER BY name")).filter(isOwnTable);

/** The statements of a file. A trigger contains statements, and ends with END. */
const statements = (sql: string) =>
  [...sql.replaceAll(/--.*$/gm, "").matchAll(/\s*CREATE TRIGGER[^]*?\bEND;|[^;]+;/g)].map(([statement]) => statement.trim());

beforeAll(async () => {
  await schemaDb.batch(statements(schema).map((statement) => schemaDb.prepare(statement)));
});

describe("the migrations", () => {
  it("are named NNNN_name.sql and numbered from 0001 without a gap", () => {
    expect(files.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
    expect(files.toSorted().map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
    expect(bound.MIGRATIONS.map(({ name }) => name)).toEqual(files.toSorted());
  });

  it("create the tables, columns and indexes of schema.sql", async () => {
    const described = await describeDatabase(env.DB);
    expect(Object.keys(described)).toContain("items");
    expect(described).toEqual(await describeDatabase(schemaDb));
  });

  it("create the objects that /health and verify look for", async () => {
    const created = (await definitions(env.DB))
      .map(({ type, name }) => `${String(type)} ${name}`)
      .filter((one) => !/ (d1_migrations|test_)/.test(one));
    expect(created.toSorted()).toEqual(
      Object.entries(OBJECTS)
        .flatMap(([type, names]) => names.map((name) => `${type} ${name}`))
        .toSorted(),
    );
  });

  it.each(Object.entries(OBJECTS).map(([type, names]) => [type, names.find((name) => name !== "activity")!]))(
    "are missed one by one: a dropped %s is named by /health and by verify, and schema.sql brings it back",
    async (type, name) => {
      const { sql } = (await definitions(env.DB)).find((one) => one.name === name)!;
      await env.DB.prepare(`DROP ${type} ${name}`).run();
      try {
        const report = JSON.parse(await (await fetchRaw("GET", "/health", { env: { ...env } })).text());
        expect(report.dependencies).toContainEqual({
          service: "schema",
          status: "ERROR",
          message: expect.stringContaining(`the ${type} ${name}:`) as string,
        });
        const { body } = await admin("POST", "/v1/admin/verify", { body: {} });
        expect(body.findings).toContainEqual(expect.objectContaining({ kind: "schema_incomplete", table: name }));
        const again = statements(schema).find((one) => new RegExp(`^CREATE \\w+ IF NOT EXISTS ${name}\\b`).test(one))!;
        await env.DB.prepare(again).run();
        expect(JSON.parse(await (await fetchRaw("GET", "/health", { env: { ...env } })).text()).dependencies).toContainEqual(
          expect.objectContaining({ service: "schema", status: "ACTIVE" }),
        );
      } finally {
        if (!(await definitions(env.DB)).some((one) => one.name === name)) await env.DB.prepare(String(sql)).run();
      }
    },
  );

  it("are recorded in wrangler's table, so that the last name has the number of the schema", async () => {
    expect(await rows(env.DB, "SELECT name FROM d1_migrations ORDER BY id")).toEqual(
      bound.MIGRATIONS.map(({ name }) => ({ name })),
    );
  });
});

describe("the first migration", () => {
  it("changes nothing in a database that schema.sql created", async () => {
    const [described, defined] = [await describeDatabase(schemaDb), await definitions(schemaDb)];
    await schemaDb.batch(bound.MIGRATIONS[0]!.queries.map((sql) => schemaDb.prepare(sql)));
    expect(await describeDatabase(schemaDb)).toEqual(described);
    expect(await definitions(schemaDb)).toEqual(defined);
  });
});
