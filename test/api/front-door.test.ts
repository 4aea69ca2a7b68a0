import { describe, expect, it } from "vitest";
import {
  admin,
  type Client,
  client,
  freshVault,
  LOGIN,
  makeToken,
  makeVault,
  type Reply,
  send,
  shareVault,
} from "../support/service.ts";

/**
 * What every response has, and the paths and queries that are served (contract 1.1 to 1.7, 1.10, 3.7, 4.1 to 4.4 and 13.1). A 507 without
 * Retry-After is in quotas.test.ts.
 */

const sharedVault = shareVault();

interface Fixture {
  readonly call: Client;
  readonly vault: string;
  readonly items: string;
  /** The path of an Item. */
  readonly item: string;
}

async function makeFixture(): Promise<Fixture> {
  const { call, vault, items } = await sharedVault();
  return { call, vault, items, item: `${items}/${(await call("POST", items, { body: LOGIN })).body.id}` };
}

const CANARY = "canary-7f3a";
const MISSING = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

/** Requests with each status, and the kinds of the errors. */
const RESPONSES: readonly (readonly [number, string | null, string, (fixture: Fixture) => Promise<Reply>])[] = [
  [200, null, "heartbeat", () => send("GET", "/heartbeat")],
  [200, null, "health", () => send("GET", "/health")],
  [200, null, "a list", ({ call, items }) => call("GET", items)],
  [200, null, "an Item", ({ call, item }) => call("GET", item)],
  [200, null, "a created Item", ({ call, items }) => call("POST", items, { body: LOGIN })],
  [200, null, "the vaults", ({ call }) => call("GET", "/v1/vaults")],
  [200, null, "HEAD", ({ call, item }) => call("HEAD", item)],
  [200, null, "an admin route", () => admin("GET", "/v1/admin/tokens")],
  [204, null, "a deleted Item", ({ call, item }) => call("DELETE", item)],
  [304, null, "an Item that is the same", ({ call, item }) => call("GET", item, { headers: { "If-None-Match": "*" } })],
  [400, "vault_id", "a bad vault id", ({ call }) => call("GET", "/v1/vaults/x/items")],
  [400, "item_id", "a bad Item id", ({ call, items }) => call("GET", `${items}/x`)],
  [400, "invalid", "a bad body", ({ call, items }) => call("POST", items, { body: "{" })],
  [400, "category", "an Item without a category", ({ call, items }) => call("POST", items, { body: {} })],
  [400, "filter", "an unsupported filter", ({ call, items }) => call("GET", `${items}?filter=x`)],
  [401, "unauthorized", "no token", () => send("GET", "/v1/vaults")],
  [401, "unauthorized", "a bad vault id without a token", () => send("GET", "/v1/vaults/x/items")],
  [401, "unauthorized", "an admin route without a token", () => send("GET", "/v1/admin/vaults")],
  [403, "out_of_scope", "a foreign vault", async ({ call }) => call("GET", `/v1/vaults/${await makeVault()}`)],
  [404, "vault_not_found", "the list of a foreign vault", ({ call }) => call("GET", `/v1/vaults/${MISSING}/items`)],
  [404, "item_not_found", "a missing Item", ({ call, items }) => call("GET", `${items}/${MISSING}`)],
  [404, "file_not_found", "a missing File", ({ call, item }) => call("GET", `${item}/files/${MISSING}`)],
  [404, "token_not_found", "a missing token", () => admin("DELETE", `/v1/admin/tokens/${MISSING}`)],
  [404, "route_not_found", "a path that is not served", () => send("GET", "/nothing/here")],
  [405, "method_not_allowed", "a method that is not served", ({ call, items }) => call("PUT", items)],
  [
    409,
    "idempotency",
    "a used Idempotency-Key",
    async ({ call, items }) => {
      const post = (title: string) => call("POST", items, { body: { ...LOGIN, title }, headers: { "Idempotency-Key": "once" } });
      await post("one");
      return post("two");
    },
  ],
  [412, "precondition", "another version", ({ call, item }) => call("DELETE", item, { headers: { "If-Match": '"9"' } })],
  [413, "body_too_large", "a body too large", ({ call, items }) => call("POST", items, { body: " ".repeat(2 ** 20 + 1) })],
  [
    415,
    "encoding",
    "an encoded body",
    ({ call, items }) => call("POST", items, { body: "x", headers: { "Content-Encoding": "gzip" } }),
  ],
  [503, "misconfigured", "invalid root keys", ({ call, items }) => call("GET", items, { env: { ROOT_KEYS: "{}" } })],
];

const typeOf = ({ headers }: Reply) => headers.get("Content-Type")?.split(";")[0];

describe("Every response", () => {
  it.each(RESPONSES)(
    "has the common headers, and that of an error its kind and the form of all errors: %i %s, %s",
    async (status, kind, _, sendRequest) => {
      const reply = await sendRequest(await makeFixture());
      const { headers, body } = reply;
      expect([reply.status, headers.get("Item-Vault-Error")]).toEqual([status, kind]);
      expect(headers.get("1Password-Connect-Version")).toBe("1.8.1");
      expect(headers.get("Cache-Control")).toBe("no-store");
      expect(headers.get("WWW-Authenticate")).toBe(status === 401 ? "Bearer" : null);
      const error = ["application/json", { status, message: expect.stringMatching(/./) }];
      expect(kind && [typeOf(reply), body]).toEqual(kind && error);
    },
  );
});

describe("A query parameter that no operation has", () => {
  it("is ignored, and the answer is JSON", async () => {
    const { call, vault, items } = await sharedVault();
    for (const path of ["/v1/vaults", `/v1/vaults/${vault}`, items]) {
      const reply = await call("GET", `${path}?unknown=1&Limit=x&filters`, { undocumented: "unknown parameters are ignored" });
      expect([reply.status, typeOf(reply), reply.body]).toEqual([200, "application/json", (await call("GET", path)).body]);
    }
  });
});

describe("A path", () => {
  it.each(["/v1/vaults/", "//v1/vaults", "/v1//vaults", "/v1///vaults//", "/v1/vaults/?", "//v1//vaults//?x=y"])(
    "with additional slashes is served like the path without them: %s",
    async (path) => {
      const { call } = await sharedVault();
      const reply = await call("GET", path, { undocumented: "other parameters are ignored" });
      expect([reply.status, reply.headers.get("Location")]).toEqual([200, null]);
      expect(reply.body).toEqual((await call("GET", "/v1/vaults")).body);
    },
  );

  it("with additional slashes is served for writes and for ids in the path", async () => {
    const { vault, call } = await sharedVault();
    const { status, body: item } = await call("POST", `//v1//vaults//${vault}//items/`, { body: LOGIN });
    expect(status).toBe(200);
    expect((await call("GET", `/v1/vaults/${vault}/items//${item.id}/`)).body).toEqual(item);
    expect((await call("DELETE", `/v1//vaults/${vault}/items/${item.id}//`)).status).toBe(204);
  });

  it.each([
    ["heartbeat", /^\.$/],
    ["health", /^{"name":"Item Vault",/],
  ])("/v1/%s is another name of the path without /v1, with any slashes and method", async (name, text) => {
    const paths = [`/${name}`, `/${name}/`, `//${name}`, `/v1/${name}`, `/v1/${name}/`, `//v1//${name}`];
    for (const path of [...paths, `/v1/%68${name.slice(1)}`])
      expect([path, await send("GET", path)]).toMatchObject([path, { status: 200, text: expect.stringMatching(text) }]);
  });

  it.each([
    ..."/ /v1 /v1/ /vaults /vaults/{v} /vaults/{v}/items /v2/vaults /v2/heartbeat /V1/vaults /v1/metrics /v1/healths".split(" "),
    ..."/v1/health/x /heartbeat/v1 /v1/v1/health /v1/vaults/{v}/x /v1/vaults/{v}/items/x/z /v1/admin /v1/nothing".split(" "),
  ])("that is not served is a 404 for every method, with and without a token: %s", async (path) => {
    const { vault, call } = await sharedVault();
    for (const as of [call, send])
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"])
        expect((await as(method, path.replace("{v}", vault))).body).toEqual({ status: 404, message: "Not found" });
  });

  it.each([
    ["/heartbeat", "GET, HEAD"],
    ["/v1/heartbeat", "GET, HEAD"],
    ["/health", "GET, HEAD"],
    ["/v1/health", "GET, HEAD"],
    ["/v1/vaults", "GET, HEAD"],
    ["/v1/vaults/{v}", "GET, HEAD"],
    ["/v1/vaults/{v}/items", "GET, HEAD, POST"],
    ["/v1/vaults/{v}/items/{v}", "GET, HEAD, PUT, PATCH, DELETE"],
    ["/v1/admin/vaults", "GET, HEAD, POST"],
    ["/v1/admin/vaults/{v}", "PATCH, DELETE"],
    ["/v1/admin/tokens", "GET, HEAD, POST"],
    ["/v1/admin/tokens/{v}", "GET, HEAD, DELETE"],
  ])(
    "with a method that it does not serve is a 405 without a token, which names the served methods: %s",
    async (path, allowed) => {
      const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) => !allowed.includes(method));
      for (const method of methods) {
        const { body, headers } = await send(method, path.replaceAll("{v}", MISSING));
        expect([method, body, headers.get("Allow")]).toEqual([method, { status: 405, message: expect.any(String) }, allowed]);
      }
    },
  );
});

/** Ids in messages (contract 3.7). */
describe("An id of the request", () => {
  it.each([
    ["lower case", MISSING],
    ["upper case", "3FA85F64-5717-4562-B3FC-2C963F66AFA6"],
    ["mixed case", "3fA85F64-5717-4562-b3fc-2C963F66AFA6"],
    ["26 characters", "h6uf6zcxc5cwfm74fsld6zvpuy"],
    ["26 characters outside of base32", "00000000000000000000000189"],
  ])("is repeated in the message as the request wrote it: %s", async (_, id) => {
    const { items, call } = await freshVault("connect");
    expect((await call("GET", `${items}/${id}`)).body).toEqual({ status: 404, message: `item ${id} not found` });
    expect((await call("GET", `/v1/vaults/${id}`)).body).toEqual({ status: 403, message: `vault ${id} is not in scope` });
    expect((await call("GET", `/v1/vaults/${id}/items`)).body).toEqual({ status: 404, message: `vault ${id} not found` });
  });

  it("is cut to 64 characters in the message", async () => {
    const { call, item } = await makeFixture();
    for (const length of [64, 65]) {
      const body = [{ op: "replace", path: `/fields/${"f".repeat(length)}`, value: {} }];
      const message = `The item doesn't have a ${"f".repeat(64)} field.`;
      expect((await call("PATCH", item, { body })).body).toEqual({ status: 400, message });
    }
  });

  it("is not repeated in the message when it is malformed", async () => {
    const { items, call } = await sharedVault();
    const id = CANARY.repeat(500);
    expect((await call("GET", `${items}/${id}`)).body).toEqual({ status: 400, message: "Invalid Item UUID" });
    expect((await call("GET", `/v1/vaults/${id}`)).body).toEqual({ status: 400, message: "Invalid Vault UUID" });
  });
});

/** All headers but Request-Id, which differs in each response. */
const headersOf = ({ headers }: Reply) => [...headers].filter(([name]) => name !== "request-id");

describe("HEAD", () => {
  it("has the status and the headers of GET and no body", async () => {
    const { vault, items, item, call } = await makeFixture();
    for (const path of [item, items, `/v1/vaults/${vault}`, "/v1/vaults", "/v1/nothing", `${items}/x`, "/heartbeat"]) {
      const [get, head] = [await call("GET", path), await call("HEAD", path)];
      expect([head.status, head.text, headersOf(head)]).toEqual([get.status, "", headersOf(get)]);
    }
  });

  it("needs the permission that GET needs", async () => {
    const { vault, items } = await sharedVault();
    const writer = client((await makeToken({ [vault]: "w" })).token);
    expect((await writer("HEAD", items)).status).toBe(404);
    expect((await writer("HEAD", `/v1/vaults/${vault}`)).status).toBe(403);
    expect((await admin("HEAD", "/v1/admin/vaults")).status).toBe(200);
  });
});
