import { describe, expect, it } from "vitest";
import { document } from "../../src/api/openapi/document.ts";
import { sendRaw } from "./support/requests.ts";
import { freshVault, makeItems } from "./support/vault.ts";

/** What static files answer, and that they leave the API as it is (contract 19.10 to 19.14). */

async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const { body, ...reply } = await sendRaw({ method, path, headers });
  return { ...reply, body: body.toString() };
}

const fresh = await freshVault();

const FILES = [
  ["/openapi.json", "application/json"],
  ["/docs/", "text/html; charset=utf-8"],
  ["/docs/items/", "text/html; charset=utf-8"],
  ["/docs/reference.js", "text/javascript; charset=utf-8"],
  ["/docs/search.json", "application/json"],
  ["/docs/style.css", "text/css; charset=utf-8"],
] as const;

/** The policy of a file: that of the console below /docs/ (contract 19.13). */
const policyOf = (path: string) => ({
  ...POLICY,
  "content-security-policy": path.includes("docs")
    ? expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self'; .*; require-trusted-types-for 'script'; trusted-types 'none'$/,
      )
    : "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
});

const POLICY = {
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

describe("a static file", () => {
  it.each(FILES)("is served without a token, under the policy: %s", async (path, type) => {
    const { status, headers, body } = await send("GET", path);
    expect(status).toBe(200);
    expect(body).not.toBe("");
    expect(headers).toMatchObject({
      ...policyOf(path),
      "content-type": type,
      "cache-control": "public, max-age=0, must-revalidate",
    });
    expect(headers).not.toHaveProperty("request-id");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  it.each(FILES)("is answered to HEAD without a body, and to its entity tag with 304: %s", async (path) => {
    const whole = await send("GET", path);
    const head = await send("HEAD", path);
    expect([head.status, head.body, head.headers["etag"]]).toEqual([200, "", whole.headers["etag"]]);
    const unchanged = await send("GET", path, { "If-None-Match": whole.headers["etag"]! });
    expect([unchanged.status, unchanged.body]).toEqual([304, ""]);
    expect(unchanged.headers).toMatchObject(policyOf(path));
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("answers 405 without a body to %s", async (method) => {
    for (const [path] of FILES) expect(await send(method, path)).toMatchObject({ status: 405, body: "" });
  });

  it.each([
    ["/docs", "/docs/"],
    ["/docs?x=1", "/docs/?x=1"],
    ["/docs.html", "/docs/"],
    ["/docs/index", "/docs/"],
    ["/docs/index.html", "/docs/"],
    ["//docs/", "/docs/"],
    ["//openapi.json", "/openapi.json"],
    ["/openapi%2Ejson", "/openapi.json"],
  ])("is redirected to from another spelling of its path: %s", async (path, location) => {
    const { status, headers } = await send("GET", path);
    expect([status, headers["location"]]).toEqual([307, location]);
    expect(headers).toMatchObject(POLICY);
  });

  it("may be asked for with a token, which changes nothing", async () => {
    const reply = await send("GET", "/openapi.json", { Authorization: `Bearer ${fresh.token}` });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([200, JSON.parse(JSON.stringify(document))]);
  });
});

const NOT_FOUND = { status: 404, body: '{"status":404,"message":"Not found"}' };

describe("beside static files, the Worker answers", () => {
  it.each(["/", "/docs/x", "/docs/style", "/openapi", "/openapi.json/", "/OpenAPI.json", "/_headers", "/nothing", "/v1", "/%"])(
    "every other path, with a 404 in JSON: %s",
    async (path) => {
      const { headers, ...reply } = await send("GET", path);
      expect(reply).toEqual(NOT_FOUND);
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "item-vault-error": "route_not_found",
        "1password-connect-version": "1.8.1",
        "cache-control": "no-store",
      });
    },
  );

  /** What Firefox and Chrome send when an address is opened. */
  const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Mode": "navigate" };

  it.each(["GET", "HEAD"])(
    "a browser that opens the root of the host with %s, with a redirect to the console",
    async (method) => {
      const { status, headers, body } = await send(method, "/", BROWSER);
      expect([status, headers["location"], body]).toEqual([302, "/console/", ""]);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      expect((await send("GET", "/console/", BROWSER)).status).toBe(200);
    },
  );

  it("a browser that asks for the icon of the host, with a redirect to the icon of the console", async () => {
    const { status, headers } = await send("GET", "/favicon.ico", { Accept: "image/*" });
    expect([status, headers["location"]]).toEqual([302, "/console/icon.svg"]);
    expect((await send("GET", "/console/icon.svg")).status).toBe(200);
  });

  it.each([
    ["GET", "*/*"],
    ["GET", "application/json"],
    ["POST", "text/html"],
    ["DELETE", "text/html"],
  ])("the root of the host to %s with Accept: %s, with a 404 in JSON", async (method, Accept) => {
    expect(await send(method, "/", { Accept })).toMatchObject(NOT_FOUND);
  });

  it.each(["/v1/vaults", "//v1/vaults", "/v1/vaults/", "//v1//vaults//", "/docs/../v1/vaults"])(
    "every spelling of a path of the API, without a redirect: %s",
    async (path) => {
      const reply = await send("GET", path, { Authorization: `Bearer ${fresh.token}` });
      expect(reply.status).toBe(200);
      expect(JSON.parse(reply.body)).toMatchObject([{ id: fresh.vault }]);
      expect(reply.headers).not.toHaveProperty("content-security-policy");
    },
  );

  it.each(["/heartbeat", "//heartbeat", "/heartbeat/", "/health", "/health/"])("the state of the service: %s", async (path) => {
    const reply = await send("GET", path);
    expect([reply.status, reply.headers["cache-control"]]).toEqual([200, "no-store"]);
  });

  it("HEAD of the API with the headers of GET", async () => {
    const [item] = await makeItems(fresh, "One");
    const path = `/v1/vaults/${fresh.vault}/items/${item}`;
    const headers = { Authorization: `Bearer ${fresh.token}` };
    const [get, head] = [await send("GET", path, headers), await send("HEAD", path, headers)];
    expect([head.status, head.body, head.headers["etag"]]).toEqual([200, "", get.headers["etag"]]);
  });

  it("a method that a path of the API does not serve, with the methods in Allow", async () => {
    const reply = await send("POST", "/heartbeat");
    expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });
});
