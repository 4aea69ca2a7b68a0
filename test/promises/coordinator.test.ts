import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { fail } from "../../src/model/result.ts";
import { rebindCoordinator, renewCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { admin, type Client, freshVault, LOGIN, makeToken, client } from "../support/service.ts";

let call: Client;
let vault: string;
let items: string;

beforeEach(async () => {
  ({ vault, items, call } = await freshVault());
});

type Write = (operation: Operation) => Promise<unknown>;

/** A namespace whose stubs do with each operation what is told; `attempt` counts from 1. */
function coordinators(write: (real: Write, operation: Operation, attempt: number) => Promise<unknown>): Partial<Env> {
  let attempt = 0;
  const getByName = (name: string) => {
    const stub = env.COORDINATOR.getByName(name);
    return { write: (operation: Operation) => write((o) => stub.write(o), operation, ++attempt) };
  };
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
}

/** A coordinator that is reset after its first commit, and the Item is written to again before it is asked again. */
const overtaken = (path: string, body: unknown) =>
  coordinators(async (real, operation, attempt) => {
    if (attempt > 1) return real(operation);
    await real(operation);
    await call("PATCH", path, { body });
    throw reset;
  });

const reset = new Error("Durable Object reset because its code was updated.");
const versions = async (id: string) =>
  (await env.DB.prepare("SELECT version FROM items WHERE id = ?").bind(id).first<number>("version")) ?? 0;

describe("a coordinator that was reset", () => {
  it("before the commit: the caller asks a new one, and the write takes effect", async () => {
    const bindings = coordinators((real, operation, attempt) => (attempt === 1 ? Promise.reject(reset) : real(operation)));
    expect((await call("POST", items, { body: LOGIN, env: bindings })).status).toBe(200);
    expect((await call("GET", items)).body).toHaveLength(1);
  });

  it.each(["busy", "unavailable"] as const)(
    "and whose successor is %s: 503 without Retry-After, for the first may have written",
    async (kind) => {
      const bindings = coordinators(async (real, operation, attempt) => {
        if (attempt > 1) return fail(kind);
        await real(operation);
        throw reset;
      });
      const reply = await call("POST", items, { body: LOGIN, env: bindings });
      expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, null]);
      expect((await call("GET", items)).body).toHaveLength(1);
    },
  );

  it.each(["POST", "PATCH", "PUT", "DELETE"])(
    "after the commit: the caller asks a new one, which answers with what happened, once: %s",
    async (method) => {
      const { body: item } = await call("POST", items, { body: LOGIN });
      const bindings = coordinators(async (real, operation, attempt) => {
        const answer = await real(operation);
        if (attempt > 1) return answer;
        await evictDurableObject(env.COORDINATOR.getByName(vault));
        throw reset;
      });
      const bodies: Record<string, unknown> = {
        POST: LOGIN,
        PUT: { ...LOGIN, vault: { id: vault } },
        PATCH: [{ op: "add", path: "/tags/-", value: "once" }],
      };
      const path = method === "POST" ? items : `${items}/${item.id}`;
      const reply = await call(method, path, { body: bodies[method], env: bindings });
      expect(reply.status).toBe(method === "DELETE" ? 204 : 200);
      const left = (await call("GET", items)).body;
      expect(left).toHaveLength({ POST: 2, DELETE: 0 }[method] ?? 1);
      const expected = { POST: [1, 1], PUT: [2, 2], PATCH: [2, 2], DELETE: [undefined, 0] }[method];
      expect([reply.body?.version, await versions(item.id)]).toEqual(expected);
      expect(reply.body?.tags).toEqual(method === "PATCH" ? ["once"] : method === "DELETE" ? undefined : []);
    },
  );

  it("after the commit, and overtaken by another write: 409 says so, for the first answer is gone and the write is not to be sent again", async () => {
    const { body: item } = await call("POST", items, { body: LOGIN });
    const path = `${items}/${item.id}`;
    const body = [{ op: "add", path: "/tags/-", value: "x" }];
    const bindings = overtaken(path, body);
    expect((await call("PATCH", path, { body, env: bindings })).status).toBe(409);
    expect((await call("GET", path)).body).toMatchObject({ version: 3, tags: ["x", "x"] });
  });

  it("after the commit, and overtaken: with an Idempotency-Key the first answer is there", async () => {
    const { body: item } = await call("POST", items, { body: LOGIN });
    const path = `${items}/${item.id}`;
    const body = [{ op: "add", path: "/tags/-", value: "x" }];
    const bindings = overtaken(path, body);
    const reply = await call("PATCH", path, { body, headers: { "Idempotency-Key": "k" }, env: bindings });
    expect(reply.body).toMatchObject({ version: 2, tags: ["x"] });
  });

  it("again and again: 503, without Retry-After because the write may have taken effect; one that is overloaded is asked only once", async () => {
    let asked = 0;
    const always = (error: Error) => coordinators(() => (asked++, Promise.reject(error)));
    const reply = await call("POST", items, { body: LOGIN, env: always(reset) });
    expect([reply.status, reply.headers.get("Retry-After"), asked]).toEqual([503, null, 3]);
    asked = 0;
    await call("POST", items, { body: LOGIN, env: always(Object.assign(new Error("overloaded"), { overloaded: true })) });
    expect(asked).toBe(1);
  });
});

describe("a write that waits", () => {
  it("is told to come back when 256 wait already; every other takes effect", async () => {
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before: () => sleep(20) }) });
    const replies = await Promise.all(Array.from({ length: 400 }, () => call("POST", items, { body: LOGIN })));
    const served = replies.filter((reply) => reply.status === 200);
    const refused = replies.filter((reply) => reply.status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map((reply) => `${reply.status} ${reply.headers.get("Retry-After")} ${reply.body.message}`))).toEqual(
      new Set(["503 1 Too many writes are waiting: try again"]),
    );
    expect((await call("GET", items)).body).toHaveLength(served.length);
  });

  it("sees what those before it did: its token revoked, its vault deleted", async () => {
    const { id, token } = await makeToken({ [vault]: "rw" });
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before: () => sleep(5) }) });
    const first = call("POST", items, { body: LOGIN });
    const second = client(token)("POST", items, { body: LOGIN });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(401);
    const replies = await Promise.all([admin("DELETE", `/v1/admin/vaults/${vault}`), call("POST", items, { body: LOGIN })]);
    expect(replies.map((reply) => reply.status)).toEqual([204, 404]);
  });
});

describe("D1 that does not come back", () => {
  const down = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });

  it("before any commit: 503 with Retry-After, and nothing happened", async () => {
    await renewCoordinator(vault, { DB: down });
    const reply = await call("POST", items, { body: LOGIN });
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, "1"]);
    await rebindCoordinator(vault, { DB: env.DB });
    expect((await call("GET", items)).body).toEqual([]);
  });

  it("for a coordinator that began with its commit: 503 without Retry-After, for it may have happened; the next one is told to come back", async () => {
    await call("POST", items, { body: LOGIN });
    await rebindCoordinator(vault, { DB: down });
    const [first, next] = [await call("POST", items, { body: LOGIN }), await call("POST", items, { body: LOGIN })];
    expect([first.status, first.headers.get("Retry-After")]).toEqual([503, null]);
    expect([next.status, next.headers.get("Retry-After")]).toEqual([503, "1"]);
  });

  it("or that always loses its answers: the write is acknowledged, once", async () => {
    let writes = 0;
    const lossy = wrapDatabase(env.DB, {
      after: (results) => {
        if (results.some((result) => result.meta.rows_written > 0)) throw new Error(`D1_ERROR: lost ${++writes}`);
      },
    });
    await rebindCoordinator(vault, { DB: lossy });
    expect((await call("POST", items, { body: LOGIN })).status).toBe(200);
    expect(writes).toBe(1);
    expect((await call("GET", items)).body).toHaveLength(1);
  });
});
