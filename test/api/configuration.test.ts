import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { wrapDatabase } from "../support/bindings.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, send } from "../support/service.ts";

/** A service that is set up wrongly: data routes say 503 and /health says why (contract 2.4 and 2.5). */

const base64 = (text: string) => btoa(text);
const SECRET = "fedcba9876543210fedcba9876543210";
const RIGHT = JSON.parse(env.ROOT_KEYS).keys.k1 as string;
const keys = (active: string, table: unknown) => JSON.stringify({ active, keys: table });

const WRONG: readonly (readonly [string, string])[] = [
  ["missing", ""],
  ["not JSON", SECRET],
  ["JSON null", "null"],
  ["without keys", JSON.stringify({ active: "k1" })],
  ["without an active key", JSON.stringify({ keys: { k1: RIGHT } })],
  ["with an active key that it lacks", keys("k2", { k1: RIGHT })],
  ["with an inherited name as its active key", keys("constructor", { k1: RIGHT })],
  ["with a key that is no base64", keys("k1", { k1: "*".repeat(44) })],
  ["with a key of 31 bytes", keys("k1", { k1: base64(SECRET.slice(1)) })],
  ["with a key of 33 bytes", keys("k1", { k1: base64(`${SECRET}x`) })],
  ["with a key that is no text", keys("k1", { k1: 7 })],
  ["with a key id of 33 characters", keys("k".repeat(33), { ["k".repeat(33)]: base64(SECRET) })],
  ["with other bytes under the same id", keys("k1", { k1: base64(SECRET) })],
  ["with another key alone", keys("k2", { k2: base64(SECRET) })],
];

const dependency = async (service: string, bindings: Partial<Env> = {}) => {
  const { status, body } = await send("GET", "/health", { env: bindings });
  expect(status).toBe(200);
  return body.dependencies.find((entry: { service: string }) => entry.service === service);
};

describe("ROOT_KEYS", () => {
  it.each(WRONG)("%s: data routes answer 503 with Retry-After, and the vault is untouched", async (_, ROOT_KEYS) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    for (const [method, path, body] of [
      ["GET", "/v1/vaults", undefined],
      ["GET", `/v1/vaults/${vault}`, undefined],
      ["GET", items, undefined],
      ["POST", items, LOGIN],
      ["GET", `${items}/${id}`, undefined],
      ["PUT", `${items}/${id}`, { ...LOGIN, vault: { id: vault } }],
      ["PATCH", `${items}/${id}`, []],
      ["DELETE", `${items}/${id}`, undefined],
    ] as const) {
      const reply = await call(method, path, { body, env: { ROOT_KEYS } });
      expect(reply.body).toEqual({ status: 503, message: expect.stringContaining("/health") });
      expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    }
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ contentVersion: 1, items: 1 });
  });

  it.each(WRONG)("%s: /health says so, without key material", async (_, ROOT_KEYS) => {
    await makeVault();
    const { text } = await send("GET", "/health", { env: { ROOT_KEYS } });
    expect(await dependency("keys", { ROOT_KEYS })).toEqual({
      service: "keys",
      status: "ERROR",
      message: expect.stringMatching(/root.?key/i),
    });
    for (const secret of [SECRET, SECRET.slice(1), base64(SECRET), RIGHT, "*".repeat(44)]) expect(text).not.toContain(secret);
  });

  it.each(WRONG)("%s: nothing is made that no key may ever open", async (_, ROOT_KEYS) => {
    await makeVault();
    const before = (await admin("GET", "/v1/admin/tokens")).body.length;
    for (const [path, body] of [
      ["/v1/admin/vaults", { name: "Lost" }],
      ["/v1/admin/tokens", { name: "lost", vaults: {} }],
    ] as const) {
      expect((await admin("POST", path, { body, env: { ROOT_KEYS } })).status).toBe(503);
    }
    expect((await admin("GET", "/v1/admin/tokens")).body).toHaveLength(before);
  });

  it("with a new active key beside the old one: everything goes on", async () => {
    const { items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const ROOT_KEYS = keys("k2", { k1: RIGHT, k2: base64(SECRET) });
    expect((await call("GET", `${items}/${id}`, { env: { ROOT_KEYS } })).body).toMatchObject(LOGIN);
    expect(await dependency("keys", { ROOT_KEYS })).toMatchObject({ status: "ACTIVE" });
  });
});

const notBefore = (text: string) => ({ TOKENS_NOT_BEFORE: text as "" });
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("TOKENS_NOT_BEFORE", () => {
  it("refuses every token that is older, with the 401 of all token faults", async () => {
    const { items, call } = await freshVault();
    const { body } = await call("GET", items, { env: notBefore(inMinutes(1)) });
    expect(body).toEqual({ status: 401, message: "Invalid token signature" });
  });

  it("lets in what is younger", async () => {
    const { items, call } = await freshVault();
    expect((await call("GET", items, { env: notBefore(inMinutes(-1)) })).status).toBe(200);
  });

  it("is not RFC 3339, as in 2026-13-45: no token is let in, and the answer is 503", async () => {
    for (const text of ["soon", "2026-13-45", "1764547200", " "]) {
      const { items, call } = await freshVault();
      expect((await call("GET", items, { env: notBefore(text) })).status).toBe(503);
    }
  });

  // What JavaScript takes for a date in 2001 would refuse no token at all.
  it.each(["yesterday 1", "restore 2", "12", "2026-02-30T00:00:00Z", "June 2026"])(
    'is not RFC 3339, though Date.parse reads it: "%s" is a 503 too',
    async (text) => {
      const { items, call } = await freshVault();
      expect((await call("GET", items, { env: notBefore(text) })).status).toBe(503);
    },
  );
});

describe("/health", () => {
  it("reports a service that is well, without a token", async () => {
    await makeVault();
    const { body } = await send("GET", "/health");
    expect(body).toMatchObject({ name: expect.any(String), version: expect.any(String) });
    const statuses = body.dependencies.map(({ service, status }: Record<string, string>) => [service, status]);
    const services = ["d1", "schema", "r2", "keys", "coordinator", "queue", "rate limits", "settings"];
    expect(statuses).toEqual(services.map((service) => [service, "ACTIVE"]));
  });

  it.each([
    ["DB", "d1"],
    ["FILES", "r2"],
    ["ROOT_KEYS", "keys"],
    ["COORDINATOR", "coordinator"],
    ["ACTIVITY", "queue"],
    ["TOKEN_RATE", "rate limits"],
    ["FAILURE_RATE", "rate limits"],
  ])("names the binding or secret %s when it is missing", async (name, service) => {
    const bindings = { [name]: undefined } as Partial<Env>;
    expect(await dependency(service, bindings)).toEqual({ service, status: "ERROR", message: `${name} is missing` });
  });

  it("reports a D1 that does not answer", async () => {
    const DB = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    expect(await dependency("d1", { DB })).toMatchObject({ status: "ERROR" });
    expect(await dependency("keys", { DB })).toMatchObject({ status: "ERROR" });
    expect(await dependency("r2", { DB })).toMatchObject({ status: "ACTIVE" });
  });

  it.each([
    [{ TOKENS_NOT_BEFORE: "soon" }, "TOKENS_NOT_BEFORE is not a time"],
    [{ ACTIVITY_RETENTION_DAYS: "ninety" }, "ACTIVITY_RETENTION_DAYS is not a number, or less than 1"],
    [{ FILE_RETENTION_DAYS: -1 }, "FILE_RETENTION_DAYS is not a number, or less than 0"],
    [{ ACTIVITY_RETENTION_DAYS: 0 }, "ACTIVITY_RETENTION_DAYS is not a number, or less than 1"],
  ])("reports a variable that is malformed: %j", async (bindings, message) => {
    const found = await dependency("settings", bindings as unknown as Partial<Env>);
    expect(found).toEqual({ service: "settings", status: "ERROR", message });
  });

  it("reports a D1 without tables", async () => {
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => sql.replace("d1_migrations", "no_such_table").replace("'vaults'", "'no_such_table'"),
    });
    expect(await dependency("schema", { DB })).toMatchObject({ status: "ERROR", message: expect.stringContaining("migrations") });
    expect(await dependency("r2", { DB })).toMatchObject({ status: "ACTIVE" });
  });

  it("reports an R2 that does not answer, without its error's words", async () => {
    const FILES = new Proxy(env.FILES, {
      get: (bucket, name) => (name === "head" ? () => Promise.reject(new Error("canary-7f3a")) : Reflect.get(bucket, name)),
    });
    const { text } = await send("GET", "/health", { env: { FILES } });
    expect(text).not.toContain("canary-7f3a");
    expect(await dependency("r2", { FILES })).toMatchObject({ status: "ERROR", message: expect.any(String) });
    expect(await dependency("d1", { FILES })).toMatchObject({ status: "ACTIVE" });
  });
});

describe("/heartbeat", () => {
  it("is the text . without a token, whatever is broken", async () => {
    const reply = await send("GET", "/heartbeat", { env: { ROOT_KEYS: "", DB: undefined as unknown as D1Database } });
    expect([reply.status, reply.text]).toEqual([200, "."]);
    expect(reply.headers.get("Content-Type")).toMatch(/^text\/plain\b/);
  });
});

describe("an empty database", () => {
  it("takes any well-formed ROOT_KEYS: there is nothing yet that they must open", async () => {
    const DB = wrapDatabase(env.DB, { rewrite: (sql) => sql.replace("FROM root_keys", "FROM root_keys WHERE false") });
    const ROOT_KEYS = keys("k9", { k9: base64(SECRET) });
    expect(await dependency("keys", { DB, ROOT_KEYS })).toMatchObject({ status: "ACTIVE" });
  });
});

describe("a missing ADMIN_TOKEN", () => {
  it("leaves no admin routes behind", async () => {
    const { token } = await makeToken({});
    for (const call of [admin, client(token), client("")]) {
      expect((await call("GET", "/v1/admin/vaults", { env: { ADMIN_TOKEN: "" } })).body).toEqual(
        (await send("GET", "/v1/nothing")).body,
      );
    }
  });
});
