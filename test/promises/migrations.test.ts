import type { D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { tryBatch } from "../../src/store/d1/database.ts";
import { OBJECTS } from "../../src/store/d1/schema.ts";
import { fetchRaw, freshVault } from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** The files of migrations/, and the database that they create (test/support/setup.ts). */

const { MIGRATIONS } = env as unknown as { MIGRATIONS: D1Migration[] };
const statements = MIGRATIONS.flatMap(({ queries }) => queries);
const files = Object.keys(import.meta.glob("../../migrations/*", { query: "?raw", import: "default", eager: true })).map((path) =>
  path.replace("../../migrations/", ""),
);

interface Row {
  readonly [column: string]: unknown;
  readonly name: string;
}

const rows = async (sql: string) => (await env.DB.prepare(sql).all<Row>()).results;

/** Every statement that created something, without the tables of SQLite, D1, wrangler and other tests. */
const definitions = async () =>
  (await rows("SELECT name, type, sql FROM sqlite_schema ORDER BY name")).filter(
    ({ name }) => !/^(sqlite_|_cf_|test_|d1_migrations$)/.test(name),
  );

const readState = async () => [await definitions(), await rows("SELECT id AS name FROM deployment")];

describe("the migrations", () => {
  it("are named NNNN_name.sql and numbered from 0001 without a gap", () => {
    expect(files.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
    expect(files.toSorted().map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
    expect(MIGRATIONS.map(({ name }) => name)).toEqual(files.toSorted());
  });

  it("create the objects that /health and verify look for", async () => {
    const created = (await definitions()).map(({ type, name }) => `${String(type)} ${name}`);
    expect(created.toSorted()).toEqual(
      Object.entries(OBJECTS)
        .flatMap(([type, names]) => names.map((name) => `${type} ${name}`))
        .toSorted(),
    );
  });

  it.each(Object.entries(OBJECTS).map(([type, names]) => [type, names.find((name) => name !== "activity")!]))(
    "are missed one by one: a dropped %s is named by /health and by verify, and its migration brings it back",
    async (type, name) => {
      const { sql } = (await definitions()).find((one) => one.name === name)!;
      await env.DB.prepare(`DROP ${type} ${name}`).run();
      try {
        const report = JSON.parse(await (await fetchRaw("GET", "/health", { env: { ...env } })).text());
        expect(report.dependencies).toContainEqual({
          service: "schema",
          status: "ERROR",
          message: expect.stringContaining(`the ${type} ${name}:`) as string,
        });
        expect((await verifyAll()).findings).toContainEqual(expect.objectContaining({ kind: "schema_incomplete", table: name }));
        const again = statements.find((one) => new RegExp(`CREATE( UNIQUE)? \\w+ IF NOT EXISTS ${name}\\b`).test(one))!;
        await env.DB.prepare(again).run();
        expect(JSON.parse(await (await fetchRaw("GET", "/health", { env: { ...env } })).text()).dependencies).toContainEqual(
          expect.objectContaining({ service: "schema", status: "ACTIVE" }),
        );
      } finally {
        if (!(await definitions()).some((one) => one.name === name)) await env.DB.prepare(String(sql)).run();
      }
    },
  );

  it("are recorded in wrangler's table, so that the last name has the number of the schema", async () => {
    expect(await rows("SELECT name FROM d1_migrations ORDER BY id")).toEqual(MIGRATIONS.map(({ name }) => ({ name })));
  });
});

describe("the schema", () => {
  it.each([
    ["items = -1", "items"],
    ["updated_at = 253402300800000", "updated_at"],
    ["content_version = 9007199254740992", "content_version"],
  ])("refuses a value that no row of the service may have: %s", async (change, column) => {
    const { vault } = await freshVault();
    const written = env.DB.prepare(`UPDATE vaults SET ${change} WHERE id = ?`).bind(vault).run();
    await expect(written).rejects.toThrow(`CHECK constraint failed: ${column}`);
    expect(await tryBatch(env.DB, [env.DB.prepare(`UPDATE vaults SET ${change} WHERE id = ?`).bind(vault)])).toMatchObject({
      outcome: "refused",
    });
  });
});

describe("the schema", () => {
  it.each([
    ["activity", "action = 'WRITE'", "action"],
    ["activity", "result = ''", "result"],
    ["activity", "sequence = -1", "sequence"],
    ["activity", "version = 9007199254740992", "version"],
    ["activity", "at = 253402300800000", "at"],
    ["logs", "expired = -1", "expired"],
    ["root_key_uses", "vaults = -1", "vaults"],
    ["counters", "value = -1", "value"],
  ])("refuses in %s what no entry and no count may be: %s", async (table, change, column) => {
    await freshVault();
    await env.DB.batch([
      env.DB.prepare("INSERT OR IGNORE INTO logs (vault_id) VALUES ('log')"),
      env.DB.prepare("INSERT OR IGNORE INTO counters VALUES ('count', 1)"),
    ]);
    await expect(env.DB.prepare(`UPDATE ${table} SET ${change}`).run()).rejects.toThrow(`CHECK constraint failed: ${column}`);
  });
});

describe("the first migration", () => {
  it("changes nothing in a database that has it", async () => {
    const before = await readState();
    await env.DB.batch(MIGRATIONS[0]!.queries.map((sql) => env.DB.prepare(sql)));
    expect(await readState()).toEqual(before);
  });
});
