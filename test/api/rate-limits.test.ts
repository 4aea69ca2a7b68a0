import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { admin, type Client, client, freshVault, makeToken, send } from "../support/service.ts";

/** Rate limits by the platform's binding; here each is the real one, counting to its limit of wrangler.toml. */

/** A limiter that is full, for this key, or for all. */
const full = (keys: string[] = []): RateLimit => ({
  async limit({ key }) {
    keys.push(key);
    return { success: false };
  },
});

/** The key that a failed authentication from this address is counted under. */
async function keyOf(address: string): Promise<string> {
  const keys: string[] = [];
  await send("GET", "/v1/vaults", { headers: { "CF-Connecting-IP": address }, env: { FAILURE_RATE: full(keys) } });
  return keys.join();
}

/** So many requests are one for the limiter. */
const BUNDLE = 50;

/** Asks so often that for the last one the isolate asks the platform. Out: the statuses. */
async function askBundle(call: Client, TOKEN_RATE: RateLimit): Promise<number[]> {
  const statuses: number[] = [];
  for (let asked = 0; asked < BUNDLE; asked++) statuses.push((await call("GET", "/v1/vaults", { env: { TOKEN_RATE } })).status);
  return statuses;
}

describe("a token that asks too often", () => {
  it("gets 429 with Retry-After and the body of errors, on every route, and nothing happens", async () => {
    const { vault, items, call } = await freshVault();
    expect((await askBundle(call, full())).at(-1)).toBe(429);
    for (const [method, path] of [
      ["GET", "/v1/vaults"],
      ["GET", `/v1/vaults/${vault}`],
      ["GET", items],
      ["POST", items],
      ["GET", "/v1/activity"],
    ] as const) {
      const { status, body, headers } = await call(method, path, { env: { TOKEN_RATE: full() } });
      expect([status, body]).toEqual([429, { status: 429, message: "Too many requests: try again later" }]);
      expect(headers.get("Retry-After")).toBe("10");
    }
    expect((await call("GET", `/v1/vaults/${vault}`)).body.contentVersion).toBe(0);
  });

  it("is let in again as soon as the platform says so", async () => {
    const { call } = await freshVault();
    await askBundle(call, full());
    expect(await askBundle(call, env.TOKEN_RATE)).toEqual(Array.from({ length: BUNDLE }, () => 200));
  });

  it("is told apart by its id from others, and the platform asked for every fiftieth request", async () => {
    const { id, token } = await makeToken({});
    const keys: string[] = [];
    const counting: RateLimit = {
      async limit({ key }) {
        keys.push(key);
        return { success: true };
      },
    };
    for (let bundles = 0; bundles < 3; bundles++) await askBundle(client(token), counting);
    expect(keys).toEqual([id, id, id]);
  });

  it("is let through up to the limit of wrangler.toml: 40 bundles of 50 in 10 seconds", async () => {
    const key = crypto.randomUUID();
    const counted: boolean[] = [];
    for (let asked = 0; asked < 40; asked++) counted.push((await env.TOKEN_RATE.limit({ key })).success);
    expect(counted).not.toContain(false);
  });
});

describe("a limiter that does not answer", () => {
  it("limits nobody", async () => {
    const broken: RateLimit = { limit: () => Promise.reject(new Error("no answer")) };
    const bindings = { TOKEN_RATE: broken, FAILURE_RATE: broken };
    const { items, call } = await freshVault();
    expect(await askBundle(call, broken)).toEqual(Array.from({ length: BUNDLE }, () => 200));
    expect((await send("GET", items, { headers: { "CF-Connecting-IP": "192.0.2.9" }, env: bindings })).status).toBe(401);
  });
});

describe("failed authentications from one address", () => {
  it.each([
    ["a token", "/v1/vaults", "Bearer nonsense"],
    ["no token", "/v1/vaults", ""],
    ["an admin token", "/v1/admin/vaults", "Bearer nonsense"],
  ])("are 429 when there are too many: %s", async (_, path, Authorization) => {
    const headers = { "CF-Connecting-IP": "192.0.2.1", Authorization };
    const { status, body } = await send("GET", path, { headers, env: { FAILURE_RATE: full() } });
    expect([status, body.message]).toEqual([429, "Too many requests: try again later"]);
  });

  it("are 401 up to the limit, and 429 then; other addresses and good tokens from the same one go on", async () => {
    const { items, call } = await freshVault();
    const ask = async (address: string) => (await send("GET", items, { headers: { "CF-Connecting-IP": address } })).status;
    const statuses: number[] = [];
    for (let asked = 0; asked < 120; asked++) statuses.push(await ask("192.0.2.2"));
    expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 401));
    expect(statuses).toContain(429);
    expect(await ask("192.0.2.3")).toBe(401);
    expect((await call("GET", items, { headers: { "CF-Connecting-IP": "192.0.2.2" } })).status).toBe(200);
  });

  it("are not counted for those who are let in", async () => {
    const { items, call } = await freshVault();
    const headers = { "CF-Connecting-IP": "192.0.2.4" };
    const bindings = { FAILURE_RATE: full() };
    expect((await call("GET", items, { headers, env: bindings })).status).toBe(200);
    expect((await admin("GET", "/v1/admin/vaults", { headers, env: bindings })).status).toBe(200);
  });

  it("are not counted where there is no address", async () => {
    expect((await send("GET", "/v1/vaults", { env: { FAILURE_RATE: full() } })).status).toBe(401);
  });

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::1", "2001:db8:1:2"],
    ["2001:DB8:0001:0002:ffff::", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
  ])("count for the network of an IPv6 address, its /64: %s", async (address, network) => {
    expect(await keyOf(address)).toBe(network);
  });
});
