import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/api/operation.ts";
import { OPERATIONS } from "../../src/api/operations.ts";
import { countingDatabase } from "../support/bindings.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, send } from "../support/service.ts";

/** Rate limits (contract 12.1, 12.4 and 28.1). The bindings are those of wrangler.toml, unless a test replaces one. */

/** A limiter that refuses every request and adds the key of each request to `keys`. */
const refusing = (keys: string[] = []): RateLimit => ({
  async limit({ key }) {
    keys.push(key);
    return { success: false };
  },
});

/** The key under which a failed authentication from this address is counted. */
async function keyOf(address: string): Promise<string> {
  const keys: string[] = [];
  await send("GET", "/v1/vaults", { headers: { "CF-Connecting-IP": address }, env: { FAILURE_RATE: refusing(keys) } });
  return keys.join();
}

/** The service calls the limiter once for this number of requests of a token. */
const BUNDLE = 50;

/** Sends as many requests as lead to one call of the limiter, at the last of them. Returns their statuses. */
async function sendBundle(call: Client, TOKEN_RATE: RateLimit): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < BUNDLE; count++) statuses.push((await call("GET", "/v1/vaults", { env: { TOKEN_RATE } })).status);
  return statuses;
}

describe("a token that exceeds its rate limit", () => {
  it("gets 429 with Retry-After, and changes nothing (order-of-checks.test.ts has every operation)", async () => {
    const { vault, items, call } = await freshVault();
    expect((await sendBundle(call, refusing())).at(-1)).toBe(429);
    const { body, headers } = await call("POST", items, { body: LOGIN, env: { TOKEN_RATE: refusing() } });
    expect([body, headers.get("Retry-After")]).toEqual([{ status: 429, message: "Too many requests: try again later" }, "10"]);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.contentVersion).toBe(0);
  });

  it("is accepted again when the limiter accepts it", async () => {
    const { call } = await freshVault();
    await sendBundle(call, refusing());
    expect(await sendBundle(call, env.TOKEN_RATE)).toEqual(Array.from({ length: BUNDLE }, () => 200));
  });

  it("is counted by its id, with one call of the limiter for 50 requests", async () => {
    const { id, token } = await makeToken({});
    const keys: string[] = [];
    const counting: RateLimit = {
      async limit({ key }) {
        keys.push(key);
        return { success: true };
      },
    };
    for (let count = 0; count < 3; count++) await sendBundle(client(token), counting);
    expect(keys).toEqual([id, id, id]);
  });

  it("is accepted up to the limit of wrangler.toml: 40 calls of the limiter in 10 seconds", async () => {
    const key = crypto.randomUUID();
    const accepted: boolean[] = [];
    for (let count = 0; count < 40; count++) accepted.push((await env.TOKEN_RATE.limit({ key })).success);
    expect(accepted).not.toContain(false);
  });
});

describe("a limiter that does not answer", () => {
  it("refuses no request", async () => {
    const failing: RateLimit = { limit: () => Promise.reject(new Error("no answer")) };
    const bindings = { TOKEN_RATE: failing, FAILURE_RATE: failing };
    const { items, call } = await freshVault();
    expect(await sendBundle(call, failing)).toEqual(Array.from({ length: BUNDLE }, () => 200));
    expect((await send("GET", items, { headers: { "CF-Connecting-IP": "192.0.2.9" }, env: bindings })).status).toBe(401);
  });
});

describe("failed authentications from one address", () => {
  it.each([
    ["a malformed token", "/v1/vaults", "Bearer nonsense"],
    ["no token", "/v1/vaults", ""],
    ["a wrong admin token", "/v1/admin/vaults", "Bearer nonsense"],
  ])("are 429 beyond the limit: %s", async (_, path, Authorization) => {
    const headers = { "CF-Connecting-IP": "192.0.2.1", Authorization };
    const { body } = await send("GET", path, { headers, env: { FAILURE_RATE: refusing() } });
    expect(body).toEqual({ status: 429, message: "Too many requests: try again later" });
  });

  it("are 401 up to the limit and then 429, while other addresses and valid tokens are not affected", async () => {
    const { items, call } = await freshVault();
    const statusFrom = async (address: string) => (await send("GET", items, { headers: { "CF-Connecting-IP": address } })).status;
    const statuses: number[] = [];
    for (let count = 0; count < 120; count++) statuses.push(await statusFrom("192.0.2.2"));
    expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 401));
    expect(statuses).toContain(429);
    expect(await statusFrom("192.0.2.3")).toBe(401);
    expect((await call("GET", items, { headers: { "CF-Connecting-IP": "192.0.2.2" } })).status).toBe(200);
  });

  it("do not include successful ones", async () => {
    const { items, call } = await freshVault();
    const headers = { "CF-Connecting-IP": "192.0.2.4" };
    const bindings = { FAILURE_RATE: refusing() };
    expect((await call("GET", items, { headers, env: bindings })).status).toBe(200);
    expect((await admin("GET", "/v1/admin/vaults", { headers, env: bindings })).status).toBe(200);
  });

  it("are not counted for a request without an address", async () => {
    expect((await send("GET", "/v1/vaults", { env: { FAILURE_RATE: refusing() } })).status).toBe(401);
  });

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::1", "2001:db8:1:2"],
    ["2001:DB8:0001:0002:ffff::", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
  ])("are counted for an IPv4 address and for the /64 of an IPv6 address: %s", async (address, network) => {
    expect(await keyOf(address)).toBe(network);
  });
});

const from = (site: string) => ({ "CF-Connecting-IP": "203.0.113.7", "Sec-Fetch-Site": site });

describe("a page of another origin, in the browser of somebody behind an address,", () => {
  const OPEN = Object.values<Operation>(OPERATIONS).filter((row) => row.method === "POST" && !("action" in row));

  it.each(OPEN.flatMap(({ path }) => ["cross-site", "same-site"].map((site) => [path, site] as const)))(
    "uses up nothing of its limits by POST %s, %s",
    async (path, site) => {
      const keys: string[] = [];
      const limiter = refusing(keys);
      const { db: DB, count } = countingDatabase();
      const limits = { FAILURE_RATE: limiter, TOKEN_RATE: limiter, SESSION_RATE: limiter, DENIAL_RATE: limiter };
      const { status, headers } = await send("POST", path, {
        headers: from(site),
        body: "grant_type=x",
        env: { DB, ...limits },
      });
      expect([status, headers.get("Item-Vault-Error"), keys, count.calls]).toEqual([403, "cross_site", [], 0]);
    },
  );

  it.each(["same-origin", "none"])("is another one than a page of this origin or a person: %s", async (site) => {
    for (const path of ["/v1/token-exchange", "/v1/login/token"])
      expect((await send("POST", path, { headers: from(site), body: "x" })).status).toBe(400);
  });
});
