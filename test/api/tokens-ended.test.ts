import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { DAY, HOUR } from "../../src/model/time.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { countingDatabase } from "../support/bindings.ts";
import { admin, client, makeToken, makeVault, send } from "../support/service.ts";

/** Tokens that are in use, that have ended (contract 8.10, 8.11, 13.15, 13.17), and that end soon (contract 13.3, 13.4). */

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

interface Dependency {
  readonly service: string;
  readonly status: string;
  readonly message: string;
  readonly count?: number;
}

const reported = async (): Promise<Dependency> =>
  (await admin("GET", "/v1/admin/health", { env: {} })).body.dependencies.find(({ service }: Dependency) => service === "tokens");

const scraped = async (): Promise<string | undefined> =>
  /^item_vault_tokens_ending (\d+)$/m.exec((await client(env.METRICS_TOKEN)("GET", "/metrics")).text)?.[1];

/** The rows that a report reads. */
async function countRows(): Promise<number> {
  const { db, count } = countingDatabase();
  await send("GET", "/health", { env: { DB: db } });
  return count.rowsRead;
}

describe("a token that ends soon", () => {
  it.each([
    [40, 25, 0],
    [40, 27, 1],
    [31, 20, 1],
    [30, 20, 0],
    [1, 0, 0],
    [40, 41, 0],
  ])("that was issued for %i days is reported %i days later %i times, by its number alone", async (lifetime, passed, count) => {
    const name = `Named ${crypto.randomUUID()}`;
    const { id } = await makeToken({ [await makeVault()]: "r" }, { name, expiresIn: (lifetime * DAY) / 1000 });
    pass(passed * DAY);
    const { status, message, count: found } = await reported();
    expect([status, found]).toEqual(count === 0 ? ["ACTIVE", undefined] : ["WARNING", count]);
    expect(message).not.toContain(name);
    expect(message).not.toContain(id);
    expect(await scraped()).toBe(String(count));
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await reported()).status).toBe("ACTIVE");
  });

  it("of the admin routes, and one that another token has issued, are reported too", async () => {
    const expiresIn = (40 * DAY) / 1000;
    const vault = await makeVault();
    const parent = await makeToken({ [vault]: "r" }, { delegate: true, expiresIn });
    await client(parent.token)("POST", "/v1/tokens", {
      body: { name: "child", vaults: { [vault]: "r" }, expiresIn: expiresIn - 60 },
    });
    await admin("POST", "/v1/admin/tokens", { body: { name: "backups", backupsOnly: true, expiresIn } });
    pass(27 * DAY);
    expect(await reported()).toMatchObject({ status: "WARNING", count: 3 });
    expect(await scraped()).toBe("3");
  });
});

it("other tokens cost /health no rows, which needs no token itself", async () => {
  const vault = await makeVault();
  const before = await countRows();
  for (let index = 0; index < 5; index++) await makeToken({ [vault]: "r" }, { expiresIn: DAY / 1000 });
  await makeToken({ [vault]: "r" }, { expiresIn: (90 * DAY) / 1000 });
  expect(await countRows()).toBe(before);
});
