import { describe, expect, it } from "vitest";
import { admin, type Client, LOGIN, makeVault, type Reply, send, shareVault } from "../support/service.ts";

/** The headers that every response has, and the paths and queries that are served (contract 1.1 to 1.7, 1.10 and 13.1). */

const sharedVault = shareVault();

interface Fixture {
  readonly call: Client;
  readonly vault: string;
  readonly items: string;
  /** The path of an Item. */
  readonly item: string;
}

const RESPONSES: readonly (readonly [status: number, name: string, sendRequest: (fixture: Fixture) => Promise<Reply>])[] = [
  [200, "heartbeat", () => send("GET", "/heartbeat")],
  [200, "health", () => send("GET", "/health")],
  [200, "a list", ({ call, items }) => call("GET", items)],
  [200, "an Item", ({ call, item }) => call("GET", item)],
  [200, "a created Item", ({ call, items }) => call("POST", items, { body: LOGIN })],
  [200, "the vaults", ({ call }) => call("GET", "/v1/vaults")],
  [200, "HEAD", ({ call, item }) => call("HEAD", item)],
  [200, "an admin route", () => admin("GET", "/v1/admin/tokens")],
  [204, "a deleted Item", ({ call, item }) => call("DELETE", item)],
  [304, "an Item that matches If-None-Match", ({ call, item }) => call("GET", item, { headers: { "If-None-Match": "*" } })],
  [400, "a bad id", ({ call, items }) => call("GET", `${items}/x`)],
  [400, "a bad body", ({ call, items }) => call("POST", items, { body: "{" })],
  [401, "no token", () => send("GET", "/v1/vaults")],
  [401, "an admin route without a token", () => send("GET", "/v1/admin/vaults")],
  [403, "a vault that is not in the token", async ({ call }) => call("GET", `/v1/vaults/${await makeVault()}`)],
  [404, "an Item that does not exist", ({ call, items, vault }) => call("GET", `${items}/${vault}`)],
  [404, "a path that is not served", () => send("GET", "/nothing/here")],
  [405, "a method that is not served", ({ call, items }) => call("PUT", items)],
  [412, "a failed precondition", ({ call, item }) => call("DELETE", item, { headers: { "If-Match": '"9"' } })],
  [413, "a body too large", ({ call, items }) => call("POST", items, { body: " ".repeat(1024 * 1024 + 1) })],
  [415, "an encoded body", ({ call, items }) => call("POST", items, { body: "x", headers: { "Content-Encoding": "gzip" } })],
  [503, "invalid root keys", ({ call, items }) => call("GET", items, { env: { ROOT_KEYS: "{}" } })],
];

describe("Every response", () => {
  it.each(RESPONSES)(
    "has the headers 1Password-Connect-Version and Cache-Control: no-store: %i, %s",
    async (status, _, sendRequest) => {
      const { call, vault, items } = await sharedVault();
      const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
      const reply = await sendRequest({ call, vault, items, item });
      expect(reply.status).toBe(status);
      expect(reply.headers.get("1Password-Connect-Version")).toBe("1.8.1");
      expect(reply.headers.get("Cache-Control")).toBe("no-store");
    },
  );

  it.each(RESPONSES.filter(([status]) => status >= 400))(
    "with an error status has the body of an error: %i, %s",
    async (status, _, sendRequest) => {
      const { call, vault, items } = await sharedVault();
      const item = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
      const reply = await sendRequest({ call, vault, items, item });
      expect(reply.headers.get("Content-Type")).toMatch(/^application\/json/);
      expect(reply.body).toEqual({ status, message: expect.stringMatching(/./) });
    },
  );
});

describe("A query parameter that no operation has", () => {
  it("is ignored, and the answer is JSON", async () => {
    const { call, vault, items } = await sharedVault();
    for (const path of ["/v1/vaults", `/v1/vaults/${vault}`, items]) {
      const reply = await call("GET", `${path}?unknown=1&Limit=x&filters`, { undocumented: "unknown parameters are ignored" });
      expect([reply.status, reply.body]).toEqual([200, (await call("GET", path)).body]);
      expect(reply.headers.get("Content-Type")).toMatch(/^application\/json/);
    }
  });
});

describe("A path", () => {
  it.each(["/v1/vaults/", "//v1/vaults", "/v1//vaults", "/v1///vaults//", "/v1/vaults/?", "//v1//vaults//?x=y"])(
    "with additional slashes is served like the path without them: %s",
    async (path) => {
      const { call } = await sharedVault();
      const reply = await call("GET", path, { undocumented: "other parameters are ignored" });
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual((await call("GET", "/v1/vaults")).body);
      expect(reply.headers.get("Location")).toBeNull();
    },
  );

  it("with additional slashes is served for writes and for ids in the path", async () => {
    const { vault, call } = await sharedVault();
    const { status, body: item } = await call("POST", `//v1//vaults//${vault}//items/`, { body: LOGIN });
    expect(status).toBe(200);
    expect((await call("GET", `/v1/vaults/${vault}/items//${item.id}/`)).body).toEqual(item);
    expect((await call("DELETE", `/v1//vaults/${vault}/items/${item.id}//`)).status).toBe(204);
  });

  it.each(["/heartbeat/", "//heartbeat"])("with additional slashes is served at the root: %s", async (path) => {
    expect((await send("GET", path)).text).toBe((await send("GET", "/heartbeat")).text);
    expect((await send("GET", path)).status).toBe(200);
  });

  it.each([
    ["heartbeat", /^\.$/],
    ["health", /^{"name":"Item Vault",/],
  ])("/v1/%s is another name of the path without /v1, with any slashes and method", async (name, text) => {
    for (const path of [`/${name}`, `/v1/${name}`, `/v1/${name}/`, `//v1//${name}`, `/v1/%68${name.slice(1)}`])
      expect([path, await send("GET", path)]).toMatchObject([path, { status: 200, text: expect.stringMatching(text) }]);
    const posted = await send("POST", `/v1/${name}`);
    expect([posted.status, posted.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  });

  it.each([
    "/",
    "/v1",
    "/v1/",
    "/vaults",
    "/vaults/{v}",
    "/vaults/{v}/items",
    "/v2/vaults",
    "/V1/vaults",
    "/v1/metrics",
    "/v1/healths",
    "/v1/health/x",
    "/heartbeat/v1",
    "/v1/v1/health",
    "/v1/vaults/{v}/x",
  ])("that is not served is a 404 with the body of an error: %s", async (path) => {
    const { vault, call } = await sharedVault();
    const { status, body } = await call("GET", path.replace("{v}", vault));
    expect(status).toBe(404);
    expect(body).toEqual({ status: 404, message: expect.stringMatching(/./) });
  });

  it.each([
    ["PUT", "/v1/vaults", "GET, HEAD"],
    ["POST", "/v1/vaults/{v}", "GET, HEAD"],
    ["DELETE", "/v1/vaults/{v}/items", "GET, HEAD, POST"],
    ["POST", "/v1/vaults/{v}/items/{v}", "GET, HEAD, PUT, PATCH, DELETE"],
    ["POST", "/heartbeat", "GET, HEAD"],
  ])("with a method that it does not serve is a 405 that names the served methods: %s %s", async (method, path, allowed) => {
    const { vault, call } = await sharedVault();
    const { status, headers } = await call(method, path.replaceAll("{v}", vault));
    expect(status).toBe(405);
    expect(headers.get("Allow")).toBe(allowed);
  });
});
