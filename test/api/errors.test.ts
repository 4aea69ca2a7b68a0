import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { admin, client, freshVault, shareVault, LOGIN, makeToken, type Reply, send } from "../support/service.ts";

/** The form of every error response (contract 4.1 to 4.4). */

const sharedVault = shareVault();

const CANARY = "canary-7f3a";

/** The parts of a response that are the same for all errors. */
const summaryOf = ({ status, body, headers }: Reply) => ({
  status,
  body,
  type: headers.get("Content-Type"),
  version: headers.get("1Password-Connect-Version"),
  cache: headers.get("Cache-Control"),
});
/** The expected summary: a body with exactly `status`, the HTTP status, and `message`. */
const error = (status: number, message: unknown = expect.any(String)) => ({
  status,
  body: { status, message },
  type: expect.stringMatching(/^application\/json\b/),
  version: "1.8.1",
  cache: "no-store",
});

describe("a path that is not served", () => {
  it.each(["/", "/v1", "/v2/vaults", "/vaults", "/v1/vaults/x/y", "/v1/vaults/x/items/y/z", "/v1/admin", "/v2/heartbeat"])(
    "is a 404 in the form of all errors, without a token: %s",
    async (path) => expect(summaryOf(await send("GET", path))).toStrictEqual(error(404)),
  );

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])("is a 404 with a token: %s", async (method) => {
    const { call } = await sharedVault();
    expect(summaryOf(await call(method, "/v1/nothing"))).toStrictEqual(error(404));
  });
});

describe("a method that a path does not serve", () => {
  const vault = crypto.randomUUID();
  const item = crypto.randomUUID();
  it.each([
    ["/heartbeat", "GET, HEAD"],
    ["/health", "GET, HEAD"],
    ["/v1/vaults", "GET, HEAD"],
    [`/v1/vaults/${vault}`, "GET, HEAD"],
    [`/v1/vaults/${vault}/items`, "GET, HEAD, POST"],
    [`/v1/vaults/${vault}/items/${item}`, "GET, HEAD, PUT, PATCH, DELETE"],
    ["/v1/admin/vaults", "GET, HEAD, POST"],
    [`/v1/admin/vaults/${vault}`, "PATCH, DELETE"],
    ["/v1/admin/tokens", "GET, HEAD, POST"],
    [`/v1/admin/tokens/${item}`, "GET, HEAD, DELETE"],
  ])("is a 405 that names the served methods: %s", async (path, allowed) => {
    const refused = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) => !allowed.includes(method));
    for (const method of refused) {
      const reply = await send(method, path);
      expect(summaryOf(reply)).toStrictEqual(error(405));
      expect(reply.headers.get("Allow")?.split(", ").toSorted()).toEqual(allowed.split(", ").toSorted());
    }
  });
});

describe("an unexpected exception", () => {
  it("is a 500 that does not contain the message of the exception", async () => {
    const { call } = await sharedVault();
    const DB = {
      prepare: () => {
        throw new Error(CANARY);
      },
    } as unknown as D1Database;
    const reply = await call("GET", "/v1/vaults", { env: { DB } });
    expect(summaryOf(reply)).toStrictEqual(error(500));
    expect(reply.text + JSON.stringify([...reply.headers])).not.toContain(CANARY);
  });
});

/** `Retry-After` (contract 4.9). A 507 without the header is in quotas.test.ts. */
describe("a D1 that does not answer", () => {
  const failing = wrapDatabase(env.DB, {
    before() {
      throw new Error(`D1_ERROR: ${CANARY}`);
    },
  });

  it.each([
    ["GET Vaults", () => "/v1/vaults"],
    ["GET Vault", (vault: string) => `/v1/vaults/${vault}`],
    ["GET Items", (vault: string) => `/v1/vaults/${vault}/items`],
    ["GET Item", (vault: string, item: string) => `/v1/vaults/${vault}/items/${item}`],
  ] as const)("makes reads answer 503 with Retry-After: %s", async (_, path) => {
    const { vault, items, call } = await freshVault();
    const item = (await call("POST", items, { body: LOGIN })).body.id;
    const reply = await call("GET", path(vault, item), { env: { DB: failing } });
    expect(summaryOf(reply)).toStrictEqual(error(503));
    expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    expect(reply.text).not.toContain(CANARY);
  });

  it("makes writes answer 503 with Retry-After", async () => {
    const { vault, items, call } = await freshVault();
    await renewCoordinator(vault, { DB: failing });
    const reply = await call("POST", items, { body: LOGIN });
    expect(summaryOf(reply)).toStrictEqual(error(503));
    expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    expect(reply.text).not.toContain(CANARY);
  });
});

describe("an error response", () => {
  const missing = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
  it.each([
    ["a malformed vault id", "GET", () => "/v1/vaults/x/items", {}, 400],
    ["malformed JSON", "POST", (items: string) => items, { body: "{" }, 400],
    ["an unsupported filter", "GET", (items: string) => `${items}?filter=x`, {}, 400],
    ["a vault out of scope", "GET", () => `/v1/vaults/${missing}`, {}, 403],
    ["a missing Item", "GET", (items: string) => `${items}/${missing}`, {}, 404],
    ["a body over the limit", "POST", (items: string) => items, { body: " ".repeat(2 ** 20 + 1) }, 413],
    ["a Content-Encoding", "POST", (items: string) => items, { body: LOGIN, headers: { "Content-Encoding": "gzip" } }, 415],
  ] as const)("has the form of all errors: %s", async (_, method, path, request, status) => {
    const { items, call } = await sharedVault();
    expect(summaryOf(await call(method, path(items), request))).toStrictEqual(error(status));
  });

  it("has the form of all errors: 412 for an If-Match of another version", async () => {
    const { items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    expect(summaryOf(await call("DELETE", `${items}/${id}`, { headers: { "If-Match": '"2"' } }))).toStrictEqual(error(412));
  });

  it("has the form of all errors: 409 for an Idempotency-Key of another request", async () => {
    const { items, call } = await sharedVault();
    const headers = { "Idempotency-Key": "once" };
    await call("POST", items, { body: LOGIN, headers });
    expect(summaryOf(await call("POST", items, { body: { ...LOGIN, title: "Two" }, headers }))).toStrictEqual(error(409));
  });

  it("has `WWW-Authenticate: Bearer` when it is a 401", async () => {
    for (const path of ["/v1/vaults", "/v1/vaults/x/items", "/v1/admin/vaults"]) {
      const reply = await send("GET", path);
      expect(summaryOf(reply)).toStrictEqual(error(401, "Invalid token signature"));
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    }
  });
});

/** Ids in messages (contract 3.7). */
describe("an id of the request", () => {
  it.each([
    ["lower case", "3fa85f64-5717-4562-b3fc-2c963f66afa6"],
    ["upper case", "3FA85F64-5717-4562-B3FC-2C963F66AFA6"],
    ["mixed case", "3fA85F64-5717-4562-b3fc-2C963F66AFA6"],
    ["26 characters", "h6uf6zcxc5cwfm74fsld6zvpuy"],
    ["26 characters outside of base32", "00000000000000000000000189"],
  ])("is repeated in the message as the request wrote it: %s", async (_, id) => {
    const { items, call } = await freshVault("connect");
    expect(summaryOf(await call("GET", `${items}/${id}`))).toStrictEqual(error(404, `item ${id} not found`));
    expect(summaryOf(await call("GET", `/v1/vaults/${id}`))).toStrictEqual(error(403, `vault ${id} is not in scope`));
    expect(summaryOf(await call("GET", `/v1/vaults/${id}/items`))).toStrictEqual(error(404, `vault ${id} not found`));
  });

  it("is cut to 64 characters in the message", async () => {
    const { items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const name = (field: string) =>
      call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: `/fields/${field}`, value: {} }] });
    expect(summaryOf(await name("f".repeat(64)))).toStrictEqual(error(400, `The item doesn't have a ${"f".repeat(64)} field.`));
    expect(summaryOf(await name("f".repeat(65)))).toStrictEqual(error(400, `The item doesn't have a ${"f".repeat(64)} field.`));
  });

  it("is not repeated in the message when it is malformed", async () => {
    const { items, call } = await sharedVault();
    expect(summaryOf(await call("GET", `${items}/${CANARY.repeat(500)}`))).toStrictEqual(error(400, "Invalid Item UUID"));
    expect(summaryOf(await call("GET", `/v1/vaults/${CANARY.repeat(500)}`))).toStrictEqual(error(400, "Invalid Vault UUID"));
  });
});

/** All headers but Request-Id, which differs in each response. */
const headersOf = ({ headers }: Reply) => [...headers].filter(([name]) => name !== "request-id");

describe("HEAD", () => {
  it("has the status and the headers of GET and no body", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    for (const path of [
      `${items}/${id}`,
      items,
      `/v1/vaults/${vault}`,
      "/v1/vaults",
      "/v1/nothing",
      `${items}/x`,
      "/heartbeat",
    ]) {
      const [get, head] = [await call("GET", path), await call("HEAD", path)];
      expect(head.status).toBe(get.status);
      expect(head.text).toBe("");
      expect(headersOf(head)).toEqual(headersOf(get));
    }
  });

  it("needs the permission that GET needs", async () => {
    const { vault, items } = await freshVault();
    const writer = client((await makeToken({ [vault]: "w" })).token);
    expect((await writer("HEAD", items)).status).toBe(404);
    expect((await writer("HEAD", `/v1/vaults/${vault}`)).status).toBe(403);
    expect((await admin("HEAD", "/v1/admin/vaults")).status).toBe(200);
  });
});
