import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Operation, OPERATION_FORMAT } from "../../src/model/operation.ts";
import { fail } from "../../src/model/result.ts";
import { COORDINATOR_MIGRATIONS, migrateObject } from "../../src/store/d1/object-schema.ts";
import { coordinatorsWhose, rebindCoordinator, renewCoordinator, setVariables, wrapDatabase } from "../support/bindings.ts";
import { bytesOf, itemIn, pattern } from "../support/files.ts";
import { holdCommits, inOneGroup } from "../support/group.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, outcome } from "../support/service.ts";
import { restoreWaits, skipWaits } from "../support/waits.ts";

let call: Client;
let vault: string;
let items: string;

beforeEach(async () => {
  ({ vault, items, call } = await freshVault());
});

afterEach(() => {
  vi.useRealTimers();
  restoreWaits();
});

type Write = (operation: Operation) => Promise<unknown>;

/** A namespace whose stubs call `write` for each operation. `real` sends it to the coordinator; `attempt` counts from 1. */
function coordinators(write: (real: Write, operation: Operation, attempt: number) => Promise<unknown>): Partial<Env> {
  let attempt = 0;
  return coordinatorsWhose((stub) => ({
    expect: (upload: never) => stub.expect(upload),
    write: (operation: Operation) => write((o) => stub.write(o), operation, ++attempt),
  }));
}

/** A coordinator that is reset after its first commit. A PATCH changes the Item before the Worker retries. */
const resetAndOvertaken = (path: string, body: unknown) =>
  coordinators(async (real, operation, attempt) => {
    if (attempt > 1) return real(operation);
    await real(operation);
    await call("PATCH", path, { body });
    throw resetError;
  });

const resetError = new Error("Durable Object reset because its code was updated.");
const versionOf = async (id: string) =>
  (await env.DB.prepare("SELECT version FROM items WHERE id = ?").bind(id).first<number>("version")) ?? 0;

describe("a write whose coordinator is reset", () => {
  it("before the commit is retried and takes effect", async () => {
    const bindings = coordinators((real, operation, attempt) => (attempt === 1 ? Promise.reject(resetError) : real(operation)));
    expect((await call("POST", items, { body: LOGIN, env: bindings })).status).toBe(200);
    expect((await call("GET", items)).body).toHaveLength(1);
  });

  it("and whose retry is refused is answered 503 without Retry-After, because the first attempt may still take effect", async () => {
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const path = `/v1/vaults/${vault}/deleted-items/${id}/restore`;
    let first!: () => Promise<unknown>;
    const bindings = coordinators(async (real, operation, attempt) => {
      if (attempt > 1) return real(operation);
      first = () => real(operation);
      throw resetError;
    });
    // The Item is not deleted yet when the retry arrives, and is when the first attempt does.
    const refused = await call("POST", path, { env: bindings });
    await call("DELETE", `${items}/${id}`);
    await first();
    expect([refused.status, refused.headers.get("Item-Vault-Error"), refused.headers.get("Retry-After")]).toEqual([
      503,
      "uncertain",
      null,
    ]);
    expect((await call("GET", `${items}/${id}`)).status).toBe(200);
  });

  it.each(["busy", "unavailable"] as const)(
    "and whose retry is %s is answered 503 without Retry-After, because the first attempt may have taken effect",
    async (kind) => {
      const bindings = coordinators(async (real, operation, attempt) => {
        if (attempt > 1) return fail(kind);
        await real(operation);
        throw resetError;
      });
      const reply = await call("POST", items, { body: LOGIN, env: bindings });
      expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, null]);
      expect((await call("GET", items)).body).toHaveLength(1);
    },
  );

  it.each(["POST", "PATCH", "PUT", "DELETE"])(
    "after the commit is retried, gets its answer and takes effect once (contract 10.6): %s",
    async (method) => {
      const { body: item } = await call("POST", items, { body: LOGIN });
      const bindings = coordinators(async (real, operation, attempt) => {
        const answer = await real(operation);
        if (attempt > 1) return answer;
        await evictDurableObject(env.COORDINATOR.getByName(vault));
        throw resetError;
      });
      const bodies: Record<string, unknown> = {
        POST: LOGIN,
        PUT: { ...LOGIN, vault: { id: vault } },
        PATCH: [{ op: "add", path: "/tags/-", value: "once" }],
      };
      const path = method === "POST" ? items : `${items}/${item.id}`;
      const reply = await call(method, path, { body: bodies[method], env: bindings });
      expect(reply.status).toBe(method === "DELETE" ? 204 : 200);
      const remaining = (await call("GET", items)).body;
      expect(remaining).toHaveLength({ POST: 2, DELETE: 0 }[method] ?? 1);
      const expected = { POST: [1, 1], PUT: [2, 2], PATCH: [2, 2], DELETE: [undefined, 0] }[method];
      expect([reply.body?.version, await versionOf(item.id)]).toEqual(expected);
      expect(reply.body?.tags).toEqual(method === "PATCH" ? ["once"] : method === "DELETE" ? undefined : []);
    },
  );

  it.each([{}, { "Idempotency-Key": "k" }] as Record<string, string>[])(
    "after the commit is answered with its version when a later write has changed the Item: %j",
    async (headers) => {
      const { body: item } = await call("POST", items, { body: LOGIN });
      const path = `${items}/${item.id}`;
      const body = [{ op: "add", path: "/tags/-", value: "x" }];
      const reply = await call("PATCH", path, { body, headers, env: resetAndOvertaken(path, body) });
      expect([reply.status, reply.body]).toMatchObject([200, { version: 2, tags: ["x"] }]);
      expect((await call("GET", path)).body).toMatchObject({ version: 3, tags: ["x", "x"] });
    },
  );

  it.each([{}, { "Idempotency-Key": "k" }] as Record<string, string>[])(
    "after the commit is answered 409 `overtaken` when a later write has changed the Item and no version is kept: %j",
    async (headers) => {
      await setVariables(vault, { VERSIONS_KEPT: 0 });
      const { body: item } = await call("POST", items, { body: LOGIN });
      const path = `${items}/${item.id}`;
      const body = [{ op: "add", path: "/tags/-", value: "x" }];
      const bindings = resetAndOvertaken(path, body);
      const reply = await call("PATCH", path, { body, headers, env: bindings });
      expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([409, "overtaken"]);
      expect((await call("GET", path)).body).toMatchObject({ version: 3, tags: ["x", "x"] });
    },
  );

  it("keeps the content of an upload after the commit, also when it is answered 409 `overtaken`", async () => {
    const { token } = await makeToken({ [vault]: "rw" });
    const { files, path, upload, download } = await itemIn({ vault, items, call: client(token), token });
    await setVariables(vault, { VERSIONS_KEPT: 0 });
    const bindings = resetAndOvertaken(path, [{ op: "add", path: "/tags/-", value: "x" }]);
    expect(outcome(await upload(pattern(100), "?name=f", { env: bindings }))).toEqual([409, "overtaken"]);
    const [file] = (await call("GET", files)).body;
    expect(await bytesOf(await download(file.id))).toEqual(pattern(100));
  });

  it("at each of three attempts is answered 503 without Retry-After; a write to an overloaded coordinator is not retried", async () => {
    let attempts = 0;
    const alwaysFailing = (error: Error) => coordinators(() => (attempts++, Promise.reject(error)));
    const reply = await call("POST", items, { body: LOGIN, env: alwaysFailing(resetError) });
    expect([reply.status, reply.headers.get("Retry-After"), attempts]).toEqual([503, null, 3]);
    attempts = 0;
    await call("POST", items, { body: LOGIN, env: alwaysFailing(Object.assign(new Error("overloaded"), { overloaded: true })) });
    expect(attempts).toBe(1);
  });
});

describe("the queue of a vault", () => {
  it("refuses a write with 503 and Retry-After while 256 writes wait; every other write takes effect", async () => {
    const { waiting, arrived, release } = await holdCommits(vault);
    const first = call("POST", items, { body: LOGIN });
    await waiting();
    const others = Array.from({ length: 300 }, () => call("POST", items, { body: LOGIN }));
    await arrived(301);
    release();
    const replies = await Promise.all([first, ...others]);
    const served = replies.filter((reply) => reply.status === 200);
    const refused = replies.filter((reply) => reply.status !== 200);
    expect(served).toHaveLength(257);
    expect(new Set(refused.map((reply) => `${reply.status} ${reply.headers.get("Retry-After")} ${reply.body.message}`))).toEqual(
      new Set(["503 1 Too many writes are waiting: try again"]),
    );
    expect((await call("GET", items)).body).toHaveLength(served.length);
  });

  it("refuses a write whose token was revoked or whose vault was deleted before its turn", async () => {
    const { id, token } = await makeToken({ [vault]: "rw" });
    const { waiting, arrived, release } = await holdCommits(vault);
    const create = () => call("POST", items, { body: LOGIN });
    const first = create();
    await waiting();
    const second = client(token)("POST", items, { body: LOGIN });
    await arrived(2);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    release();
    expect([(await first).status, (await second).status]).toEqual([200, 401]);
    const { others } = await inOneGroup(vault, create, [() => admin("DELETE", `/v1/admin/vaults/${vault}`), create]);
    expect(others.map((reply) => reply.status)).toEqual([204, 404]);
  });
});

describe("a write while D1 fails", () => {
  const failingD1 = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });

  it("on every read is answered 503 with Retry-After, and nothing happened", async () => {
    await renewCoordinator(vault, { DB: failingD1 });
    const reply = await call("POST", items, { body: LOGIN });
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, "1"]);
    await rebindCoordinator(vault, { DB: env.DB });
    expect((await call("GET", items)).body).toEqual([]);
  });

  it("on its commit is answered 503 without Retry-After, because it may have taken effect; the next write gets Retry-After", async () => {
    await call("POST", items, { body: LOGIN });
    await rebindCoordinator(vault, { DB: failingD1 });
    skipWaits();
    const [first, next] = [await call("POST", items, { body: LOGIN }), await call("POST", items, { body: LOGIN })];
    expect([first.status, first.headers.get("Retry-After")]).toEqual([503, null]);
    expect([next.status, next.headers.get("Retry-After")]).toEqual([503, "1"]);
  });

  it("after each commit is acknowledged and takes effect once", async () => {
    let writes = 0;
    const losingAnswers = wrapDatabase(env.DB, {
      after: (results) => {
        if (results.some((result) => result.meta.rows_written > 0)) throw new Error(`D1_ERROR: lost ${++writes}`);
      },
    });
    await rebindCoordinator(vault, { DB: losingAnswers });
    expect((await call("POST", items, { body: LOGIN })).status).toBe(200);
    expect(writes).toBe(1);
    expect((await call("GET", items)).body).toHaveLength(1);
  });
});

/** A D1 call without an answer fails after ten seconds. Otherwise it would block the queue of its vault forever. */

const neverAnswer = () => new Promise<never>(() => undefined);

it("a read that D1 never answers is answered 503 `unavailable` after the deadline", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reply = call("GET", items, { env: { DB: wrapDatabase(env.DB, { before: neverAnswer }) } });
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await reply).headers.get("Item-Vault-Error")).toBe("unavailable");
});

it("a write that D1 never answers is answered 503 `uncertain`, and the next write to the vault is carried out", async () => {
  await call("POST", items, { body: LOGIN });
  const d1 = { silent: true };
  const before = () => (d1.silent ? neverAnswer() : undefined);
  await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const began = Date.now();
  const first = call("POST", items, { body: LOGIN });
  const state = { answered: false };
  void first.then(() => (state.answered = true));
  // The timers of a coordinator have to fire in its own context.
  const coordinator = env.COORDINATOR.getByName(vault);
  for (let second = 0; second < 60 && !state.answered; second++) {
    await runInDurableObject(coordinator, async () => void (await vi.advanceTimersByTimeAsync(1_000)));
  }
  expect((await first).headers.get("Item-Vault-Error")).toBe("uncertain");
  // The deadline of the commit, and that of the read after it.
  expect(Date.now() - began).toBeGreaterThanOrEqual(20_000);
  expect(Date.now() - began).toBeLessThan(25_000);
  vi.useRealTimers();
  d1.silent = false;
  expect((await call("POST", items, { body: LOGIN })).status).toBe(200);
});

/** Two releases at the same time: a deployment replaces Workers and coordinators one after the other. */

describe("an operation of another release", () => {
  it("is refused with a 503 and Retry-After when its format is newer, and nothing happens", async () => {
    const bindings = coordinators((real, operation) =>
      real({ ...operation, format: OPERATION_FORMAT + 1, change: { kind: "not-known-yet" } } as unknown as Operation),
    );
    const reply = await call("POST", items, { body: LOGIN, env: bindings });
    expect(reply.body).toEqual({ status: 503, message: "A newer release of the service is being deployed: try again" });
    expect([reply.headers.get("Item-Vault-Error"), reply.headers.get("Retry-After")]).toEqual(["version_skew", "1"]);
    expect((await call("GET", items)).body).toEqual([]);
  });
});

const withStorage = <T>(use: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(env.COORDINATOR.getByName(vault), (_, { storage }) => use(storage.sql));

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
