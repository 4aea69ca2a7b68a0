import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { forgetSchemaVersion, SCHEMA } from "../../src/store/d1/schema.ts";
import { renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { freshVault, LOGIN, send } from "../support/service.ts";

/** The schema versions that a Worker serves (docs/design/tables.md). */

afterEach(forgetSchemaVersion);

/** Leads to the coordinator of that name, in an isolate that has not read the schema version. */
const getByName = (name: string) => {
  forgetSchemaVersion();
  return env.COORDINATOR.getByName(name);
};

/** D1 whose record of applied migrations is the result of the query `recorded`. The service reads the version again. */
function databaseAt(recorded: string): Partial<Env> {
  forgetSchemaVersion();
  return { DB: wrapDatabase(env.DB, { rewrite: (sql) => (sql.includes("FROM d1_migrations") ? recorded : sql) }) };
}

const versionQuery = (version: number | null) => `SELECT ${version} AS version`;
const schemaOf = async (bindings: Partial<Env>) => {
  const { body } = await send("GET", "/health", { env: bindings });
  return body.dependencies.find(({ service }: { service: string }) => service === "schema");
};

const NO_RECORD = "SELECT version FROM no_such_table";

describe("a database with an older schema than the oldest that is supported", () => {
  it("makes every data route answer 503 with the command to run", async () => {
    const { items, call } = await freshVault();
    const bindings = databaseAt(NO_RECORD);
    for (const [method, path, body] of [
      ["GET", items, undefined],
      ["POST", items, LOGIN],
      ["GET", "/v1/vaults", undefined],
    ] as const) {
      const reply = await call(method, path, { body, env: bindings });
      expect(reply.body).toEqual({ status: 503, message: expect.stringContaining("wrangler d1 migrations apply DB") });
      expect(reply.headers.get("Item-Vault-Error")).toBe("schema");
    }
  });

  it("is served as soon as the migrations were applied", async () => {
    const { items, call } = await freshVault();
    expect((await call("GET", items, { env: databaseAt(NO_RECORD) })).status).toBe(503);
    expect((await call("GET", items)).status).toBe(200);
  });

  it("may have wrangler's table without a migration in it", async () => {
    const { items, call } = await freshVault();
    const reply = await call("GET", items, { env: databaseAt(versionQuery(null)) });
    expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([503, "schema"]);
  });

  it("is an ERROR in /health", async () => {
    const found = await schemaOf(databaseAt(NO_RECORD));
    expect(found).toMatchObject({ status: "ERROR", message: expect.stringContaining("wrangler d1 migrations apply DB") });
  });
});

describe("a supported database", () => {
  it("may have a newer schema, of which /health warns", async () => {
    const { items, call } = await freshVault();
    expect((await call("GET", items, { env: databaseAt(versionQuery(SCHEMA.newest + 1)) })).status).toBe(200);
    expect(await schemaOf(databaseAt(versionQuery(SCHEMA.newest + 1)))).toMatchObject({ status: "WARNING" });
  });

  it("is ACTIVE in /health at the newest version", async () => {
    expect(await schemaOf({})).toMatchObject({ status: "ACTIVE" });
  });
});

describe("the schema version", () => {
  it("is read once per isolate, not once per request", async () => {
    const { items, call } = await freshVault();
    let reads = 0;
    const bindings = databaseAt(versionQuery(SCHEMA.newest));
    const DB = wrapDatabase(bindings.DB!, { rewrite: (sql) => (sql.includes("FROM d1_migrations") ? (reads++, sql) : sql) });
    for (let request = 0; request < 5; request++) await call("GET", items, { env: { DB } });
    expect(reads).toBe(1);
  });

  it("is read again after an SQL error that contradicts it", async () => {
    const { items, call } = await freshVault();
    await call("GET", items);
    let reads = 0;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => {
        if (sql.includes("FROM d1_migrations")) reads++;
        return sql.replace("LEFT JOIN vaults", "LEFT JOIN no_such_table AS vaults");
      },
    });
    const failed = await call("GET", items, { env: { DB } });
    expect([failed.status, reads]).toEqual([500, 1]);
    await call("GET", items, { env: { DB } });
    expect(reads).toBeGreaterThan(1);
  });

  it("is not read for a request with an invalid token, so that such requests cause no load", async () => {
    await send("GET", "/v1/vaults", { headers: { Authorization: "Bearer x.y.z" } });
    forgetSchemaVersion();
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      before: () => {
        calls++;
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    for (let request = 0; request < 5; request++) {
      const reply = await send("GET", "/v1/vaults", { env: { DB }, headers: { Authorization: "Bearer x.y.z" } });
      expect(reply.status).toBe(401);
    }
    expect(calls).toBe(0);
  });

  it("is not read by a coordinator, whose first D1 call may fail and is retried", async () => {
    const { vault, items, call } = await freshVault();
    let calls = 0;
    const before = () => {
      if (calls++ === 0) throw new Error("D1_ERROR: Network connection lost.");
    };
    await renewCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
    const COORDINATOR = { getByName } as unknown as Env["COORDINATOR"];
    expect((await call("POST", items, { body: LOGIN, env: { COORDINATOR } })).status).toBe(200);
  });

  it("is not cached when D1 fails: the request is answered 503, and the next one is served", async () => {
    const { items, call } = await freshVault();
    forgetSchemaVersion();
    const DB = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    expect((await call("GET", items, { env: { DB } })).headers.get("Item-Vault-Error")).toBe("unavailable");
    expect((await call("GET", items)).status).toBe(200);
  });
});
