import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Operation, OPERATION_FORMAT } from "../../src/model/operation.ts";
import { COORDINATOR_MIGRATIONS, migrateObject } from "../../src/store/d1/object-schema.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** Two releases at the same time: a deployment replaces Workers and coordinators one after the other. */

/** A namespace that changes each operation on its way to the coordinator. */
const changing = (change: (operation: Operation) => object): Partial<Env> => ({
  COORDINATOR: {
    getByName: (name: string) => ({
      write: (operation: Operation) => env.COORDINATOR.getByName(name).write(change(operation) as Operation),
    }),
  } as unknown as Env["COORDINATOR"],
});

describe("an operation of another release", () => {
  it("is refused with a 503 and Retry-After when its format is newer, and nothing happens", async () => {
    const { items, call } = await freshVault();
    const bindings = changing((operation) => ({ ...operation, format: OPERATION_FORMAT + 1, change: { kind: "not-known-yet" } }));
    const reply = await call("POST", items, { body: LOGIN, env: bindings });
    expect(reply.body).toEqual({ status: 503, message: "A newer release of the service is being deployed: try again" });
    expect([reply.headers.get("Item-Vault-Error"), reply.headers.get("Retry-After")]).toEqual(["version_skew", "1"]);
    expect((await call("GET", items)).body).toEqual([]);
  });
});

/** Runs a function on the storage of a new coordinator. */
async function withStorage<T>(use: (sql: SqlStorage) => T): Promise<T> {
  const { vault } = await freshVault();
  return runInDurableObject(env.COORDINATOR.getByName(vault), (_, { storage }) => use(storage.sql));
}

const versions = (sql: SqlStorage) => sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray();

describe("the storage of a coordinator", () => {
  it("records its schema version", async () => {
    expect(await withStorage(versions)).toEqual([{ version: 1 }]);
  });

  it("of a newer release is left as it is", async () => {
    const after = await withStorage((sql) => {
      sql.exec("UPDATE schema_version SET version = 9");
      migrateObject(sql, COORDINATOR_MIGRATIONS);
      return versions(sql);
    });
    expect(after).toEqual([{ version: 9 }]);
  });
});
