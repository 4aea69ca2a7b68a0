import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { FAILURE_KINDS } from "../../src/model/failure.ts";
import { readLog } from "../support/activity.ts";
import { renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { contract } from "../support/contract.ts";
import { freshVault, LOGIN, type Reply, send, shareVault } from "../support/service.ts";

/**
 * The errors of a service that fails (contract 4.1, 4.4, 4.9), the list of kinds (4.2) and `Request-Id` (contract 1.8, 3.6). The form of all
 * errors is in front-door.test.ts.
 */

const sharedVault = shareVault();

const CANARY = "canary-7f3a";

/** Expects an error of this status without the text of the exception. */
function expectError(reply: Reply, status: number): void {
  expect(reply.body).toEqual({ status, message: expect.any(String) });
  expect(reply.text + JSON.stringify([...reply.headers])).not.toContain(CANARY);
}

it("the kinds of errors are exactly those of the list in contract 4.3", () => {
  const documented = [...contract.matchAll(/^\| `([a-z_]+)` +\| +([45]\d\d) \|/gm)].map(([, kind]) => kind);
  expect(new Set(documented)).toEqual(new Set(FAILURE_KINDS));
  expect(documented).toHaveLength(FAILURE_KINDS.length);
});

it("an unexpected exception is a 500 that does not contain its message", async () => {
  const { call } = await sharedVault();
  const DB = {
    prepare: () => {
      throw new Error(CANARY);
    },
  } as unknown as D1Database;
  expectError(await call("GET", "/v1/vaults", { env: { DB } }), 500);
});

describe("a D1 that does not answer", () => {
  const failing = wrapDatabase(env.DB, {
    before() {
      throw new Error(`D1_ERROR: ${CANARY}`);
    },
  });

  it.each([
    ["GET", "/v1/vaults"],
    ["GET", "/v1/vaults/{v}"],
    ["GET", "/v1/vaults/{v}/items"],
    ["GET", "/v1/vaults/{v}/items/{i}"],
    ["POST", "/v1/vaults/{v}/items"],
  ])("makes a request a 503 with Retry-After: %s %s", async (method, path) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await renewCoordinator(vault, { DB: failing });
    const bindings = method === "GET" ? { DB: failing } : {};
    const body = method === "GET" ? undefined : LOGIN;
    const reply = await call(method, path.replace("{v}", vault).replace("{i}", id), { body, env: bindings });
    expectError(reply, 503);
    expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  });
});

it.each(["POST", "PUT", "PATCH"])(
  "a body whose stream fails before its end is a 400, and nothing is stored: %s",
  async (method) => {
    const { items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: { title: "Whole", category: "LOGIN" } });
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"title": "Ha'));
        controller.error(new Error("the client went away"));
      },
    });
    const { body } = await call(method, method === "POST" ? items : `${items}/${item.id}`, { body: broken });
    expect(body).toEqual({ status: 400, message: "the body ended early, or is not what its headers say" });
    expect((await call("GET", items)).body).toMatchObject([{ title: "Whole", version: 1 }]);
  },
);

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("Request-Id", () => {
  it.each(["/heartbeat", "/health", "/metrics", "/v1/vaults", "/v1/nothing", "/v1/admin/vaults"])(
    "is a UUIDv7 that differs in every response: %s",
    async (path) => {
      const ids = [await send("GET", path), await send("GET", path)].map(({ headers }) => headers.get("Request-Id"));
      for (const id of ids) expect(id).toMatch(UUID_V7);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  it("is the requestId of the entry of a write and of a read in the activity log", async () => {
    const { items, vault, call } = await freshVault();
    const write = await call("POST", items, { body: LOGIN });
    const read = await call("GET", `${items}/${write.body.id}`);
    const { body: log } = await readLog(call, 3);
    expect(log.map(({ requestId, action }: Record<string, string>) => [requestId, action])).toEqual([
      [read.headers.get("Request-Id"), "READ"],
      [write.headers.get("Request-Id"), "CREATE"],
      [expect.any(String), "CREATE"],
    ]);
    expect(log[2].resource).toMatchObject({ type: "VAULT", vault: { id: vault } });
  });
});
