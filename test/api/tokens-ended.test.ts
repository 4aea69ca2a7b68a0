import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { countingDatabase } from "../support/bindings.ts";
import { admin, client, makeToken, makeVault } from "../support/service.ts";

/** Tokens that are in use, and tokens that have ended (contract 8.10, 8.11, 13.15, 13.17). */

const HOUR = 3_600_000;

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => vi.useRealTimers());

const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const show = (id: string) => admin("GET", `/v1/admin/tokens/${id}`);
const listedIds = async (): Promise<string[]> =>
  (await admin("GET", "/v1/admin/tokens")).body.map((token: { id: string }) => token.id);
const rowsOf = async (table: "tokens" | "ended_tokens", id: string) =>
  (await env.DB.prepare(`SELECT sealed FROM ${table} WHERE id = ?1`).bind(id).all<{ sealed: string }>()).results;

async function issue(attributes: object = {}) {
  const vault = await makeVault();
  const body = { name: "Reporting", vaults: { [vault]: "r" }, ...attributes };
  const { token, ...issued } = (await admin("POST", "/v1/admin/tokens", { body })).body;
  return { token: token as string, issued: issued as { id: string; expiresAt: string }, vault };
}

describe("GET /v1/admin/tokens/{t}", () => {
  it("returns a token that is in use as it was issued, in both forms of the id", async () => {
    const { issued, vault } = await issue({ dialect: "connect" });
    for (const id of [issued.id, writeId(issued.id, "connect")]) {
      const { status, body } = await show(id);
      expect([status, body]).toEqual([200, { ...issued, vaults: { [vault]: "r" } }]);
    }
  });

  it("returns a token that was revoked, with the time", async () => {
    const { issued } = await issue();
    pass(1_234);
    const endedAt = new Date().toISOString();
    await admin("DELETE", `/v1/admin/tokens/${issued.id}`);
    pass(1_000);
    await admin("DELETE", `/v1/admin/tokens/${issued.id}`);
    expect((await show(issued.id)).body).toEqual({ ...issued, endedAt });
  });

  it("returns a token that has expired, which ended then: before and after the clean-up, and after it was revoked too", async () => {
    const { issued } = await issue({ expiresIn: 60 });
    pass(HOUR);
    expect((await show(issued.id)).body).toEqual({ ...issued, endedAt: issued.expiresAt });
    await cleanUp(env, Date.now());
    expect((await show(issued.id)).body).toEqual({ ...issued, endedAt: issued.expiresAt });
    const other = await issue({ expiresIn: 60 });
    pass(HOUR);
    await admin("DELETE", `/v1/admin/tokens/${other.issued.id}`);
    expect((await show(other.issued.id)).body).toEqual({ ...other.issued, endedAt: other.issued.expiresAt });
  });

  it("is a 404 for a token that was never issued, and a 400 for a text without the form of an id", async () => {
    const id = crypto.randomUUID();
    expect((await show(id)).body).toEqual({ status: 404, message: `token ${id} not found` });
    expect((await show("x")).status).toBe(400);
  });
});

describe("a token that was revoked", () => {
  it("leaves the allow-list, and its row stays among the ended tokens, sealed as it was", async () => {
    const { issued } = await issue();
    const before = await rowsOf("tokens", issued.id);
    await admin("DELETE", `/v1/admin/tokens/${issued.id}`);
    expect([await rowsOf("tokens", issued.id), await rowsOf("ended_tokens", issued.id)]).toEqual([[], before]);
    expect(await listedIds()).not.toContain(issued.id);
  });
});

describe("the hourly clean-up", () => {
  it("moves the tokens that have expired, and no others, to the ended tokens", async () => {
    const [short, long] = [await issue({ expiresIn: 60 }), await issue()];
    pass(61_000);
    expect(await listedIds()).toEqual(expect.arrayContaining([short.issued.id, long.issued.id]));
    await cleanUp(env, Date.now());
    const ids = await listedIds();
    expect([ids.includes(short.issued.id), ids.includes(long.issued.id)]).toEqual([false, true]);
    expect(await rowsOf("ended_tokens", short.issued.id)).toHaveLength(1);
    expect((await client(long.token)("GET", "/v1/vaults")).status).toBe(200);
    expect((await client(short.token)("GET", "/v1/vaults")).status).toBe(401);
  });

  it("moves 2,500 expired tokens in slices of 1,000, and reads each row of the allow-list a few times", async () => {
    const ids = JSON.stringify(Array.from({ length: 2_500 }, () => crypto.randomUUID()));
    const insert =
      "INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by) SELECT value, 'k1', '', 0, 1, '', 'k1' FROM json_each(?1)";
    await env.DB.prepare(insert).bind(ids).run();
    const { issued } = await issue();
    const { count, db } = countingDatabase();
    await cleanUp({ ...env, DB: db }, Date.now());
    expect(await listedIds()).toContain(issued.id);
    const left = "SELECT count(*) AS rows FROM tokens WHERE expires_at <= 1";
    expect(await env.DB.prepare(left).first("rows")).toBe(0);
    // Two of them are those of the triggers that count the uses of root keys.
    expect(count.rowsRead).toBeLessThan(9 * 2_500);
  });
});

describe("GET /v1/token", () => {
  it("returns the token of the request, as it was issued", async () => {
    const { token, issued } = await issue();
    const { status, body } = await client(token)("GET", "/v1/token");
    expect([status, body]).toEqual([200, issued]);
  });

  it("writes the ids in the dialect of the token", async () => {
    const { token, issued, vault } = await issue({ dialect: "connect" });
    const expected = { ...issued, id: writeId(issued.id, "connect"), vaults: { [writeId(vault, "connect")]: "r" } };
    expect((await client(token)("GET", "/v1/token")).body).toEqual(expected);
  });

  it("takes one D1 call, is not logged, and is a 401 after the revocation", async () => {
    const { token, issued } = await issue();
    const { count, db } = countingDatabase();
    await client(token)("GET", "/v1/token", { env: { DB: db } });
    expect(count.calls).toBe(1);
    await admin("DELETE", `/v1/admin/tokens/${issued.id}`);
    expect((await client(token)("GET", "/v1/token")).status).toBe(401);
  });

  it("is a 401 for the admin token", async () => {
    expect((await admin("GET", "/v1/token")).status).toBe(401);
  });
});

describe("Token-Expires", () => {
  it("is the time of expiry in every answer to a request with a token, also in errors other than a 401", async () => {
    const { token, issued, vault } = await issue();
    const call = client(token);
    for (const [method, path, status] of [
      ["GET", "/v1/vaults", 200],
      ["HEAD", `/v1/vaults/${vault}/items`, 200],
      ["GET", `/v1/vaults/${vault}/items/x`, 400],
      ["POST", `/v1/vaults/${vault}/items`, 403],
      ["GET", `/v1/vaults/${crypto.randomUUID()}/items`, 404],
    ] as const) {
      const reply = await call(method, path);
      expect([reply.status, reply.headers.get("Token-Expires")]).toEqual([status, issued.expiresAt]);
    }
  });

  it("is absent without a token, for the admin, and from a 401", async () => {
    const { id, token } = await makeToken({});
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const replies = [await admin("GET", "/v1/admin/vaults"), await client(token)("GET", "/v1/vaults")];
    expect(replies.map(({ status, headers }) => [status, headers.get("Token-Expires")])).toEqual([
      [200, null],
      [401, null],
    ]);
  });
});
