import { describe, expect, it } from "vitest";
import { admin, type Client, client, freshVault, LOGIN, makeToken, makeVault, send } from "../support/service.ts";

/**
 * The order of checks (contract 1.4): token, form of the vault's id, scope, vault, item, body. Each request here is
 * wrong in two ways that stand side by side in this order: the first is what is answered.
 */

const list = (vault: string) => `/v1/vaults/${vault}/items`;
const one = (vault: string, item: string) => `${list(vault)}/${item}`;

const WITH_VAULT = [
  ["GET Vault", "GET", (vault: string) => `/v1/vaults/${vault}`],
  ["GET Items", "GET", list],
  ["POST Item", "POST", list],
  ["GET Item", "GET", one],
  ["PUT Item", "PUT", one],
  ["PATCH Item", "PATCH", one],
  ["DELETE Item", "DELETE", one],
] as const;
const WITH_ITEM = [["GET"], ["PUT"], ["PATCH"], ["DELETE"]] as const;
const WITH_BODY = [["PUT"], ["PATCH"]] as const;

const MALFORMED = "not-an-id";
const missing = () => crypto.randomUUID();
/** No endpoint has use for this body. GET cannot carry one. */
const bodyOf = (method: string) => (method === "GET" || method === "DELETE" ? undefined : "{");

/** A vault that is in the token's scope and was deleted. */
async function deletedVault() {
  const { vault, call, token } = await freshVault();
  await admin("DELETE", `/v1/admin/vaults/${vault}`);
  return { vault, call, token };
}

async function freshItem(): Promise<{ vault: string; item: string; call: Client }> {
  const { vault, items, call } = await freshVault();
  return { vault, item: (await call("POST", items, { body: LOGIN })).body.id, call };
}

const unauthorized = { status: 401, message: "Invalid token signature" };
const vaultForm = { status: 400, message: "Invalid Vault UUID" };
const itemForm = { status: 400, message: "Invalid Item UUID" };
const noVault = (vault: string) => ({ status: 404, message: `vault ${vault} not found` });
const noItem = (item: string) => ({ status: 404, message: `item ${item} not found` });

describe("token before the form of the vault's id", () => {
  it.each(WITH_VAULT)("%s", async (_, method, path) => {
    expect((await send(method, path(MALFORMED, missing()), { body: bodyOf(method) })).body).toEqual(unauthorized);
  });
});

describe("form of the vault's id before scope", () => {
  it.each(WITH_VAULT)("%s", async (_, method, path) => {
    const { token } = await makeToken({});
    expect((await client(token)(method, path(MALFORMED, missing()), { body: bodyOf(method) })).body).toEqual(vaultForm);
  });
});

// GET Items is left out: both of its answers are the same 404.
describe("scope before the vault", () => {
  it.each(WITH_VAULT.filter(([name]) => name !== "GET Items"))("%s", async (_, method, path) => {
    const vault = await makeVault();
    const { token } = await makeToken({ [vault]: method === "GET" ? "w" : "r" });
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    const { body } = await client(token)(method, path(vault, missing()), { body: bodyOf(method) });
    expect(body).toEqual({ status: 403, message: `vault ${vault} is not in scope` });
  });
});

describe("a revoked token before the vault, the Item and the body", () => {
  it.each(WITH_VAULT)("%s", async (_, method, path) => {
    const vault = await makeVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await client(token)(method, path(vault, missing()), { body: bodyOf(method) })).body).toEqual(unauthorized);
  });
});

describe("the vault before the form of the Item's id", () => {
  it.each(WITH_ITEM)("%s", async (method) => {
    const { vault, call } = await deletedVault();
    expect((await call(method, one(vault, MALFORMED), { body: bodyOf(method) })).body).toEqual(noVault(vault));
  });
});

describe("the vault before the Item", () => {
  it.each(WITH_ITEM)("%s", async (method) => {
    const { vault, call } = await deletedVault();
    expect((await call(method, one(vault, missing()), { body: bodyOf(method) })).body).toEqual(noVault(vault));
  });
});

describe("the vault before the body, the filter and the headers", () => {
  it("POST with malformed JSON", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("POST", list(vault), { body: "{" })).body).toEqual(noVault(vault));
  });

  it("POST with a body that is too large", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("POST", list(vault), { body: " ".repeat(2 ** 20 + 1) })).body).toEqual(noVault(vault));
  });

  it("POST with a Content-Encoding", async () => {
    const { vault, call } = await deletedVault();
    const headers = { "Content-Encoding": "gzip" };
    expect((await call("POST", list(vault), { body: LOGIN, headers })).body).toEqual(noVault(vault));
  });

  it("POST with a bad Idempotency-Key", async () => {
    const { vault, call } = await deletedVault();
    const headers = { "Idempotency-Key": "k".repeat(256) };
    expect((await call("POST", list(vault), { body: LOGIN, headers })).body).toEqual(noVault(vault));
  });

  it("GET with an unsupported filter", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("GET", `${list(vault)}?filter=nonsense`)).body).toEqual(noVault(vault));
  });
});

describe("the form of the Item's id before the body and If-Match", () => {
  it.each(WITH_BODY)("%s with malformed JSON", async (method) => {
    const { vault, call } = await freshVault();
    expect((await call(method, one(vault, MALFORMED), { body: "{" })).body).toEqual(itemForm);
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with a bad If-Match", async (method) => {
    const { vault, call } = await freshVault();
    const headers = { "If-Match": "nonsense" };
    expect((await call(method, one(vault, MALFORMED), { headers })).body).toEqual(itemForm);
  });
});

describe("the Item before the body and If-Match", () => {
  it.each(WITH_BODY)("%s with malformed JSON", async (method) => {
    const { vault, call } = await freshVault();
    const item = missing();
    expect((await call(method, one(vault, item), { body: "{" })).body).toEqual(noItem(item));
  });

  it.each(WITH_BODY)("%s with a Content-Encoding", async (method) => {
    const { vault, call } = await freshVault();
    const item = missing();
    const headers = { "Content-Encoding": "gzip" };
    expect((await call(method, one(vault, item), { body: [], headers })).body).toEqual(noItem(item));
  });

  it.each(WITH_BODY)("%s with well-formed JSON that is no Item and no patch", async (method) => {
    const { vault, call } = await freshVault();
    const item = missing();
    expect((await call(method, one(vault, item), { body: "7" })).body).toEqual(noItem(item));
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with a bad If-Match", async (method) => {
    const { vault, call } = await freshVault();
    const item = missing();
    expect((await call(method, one(vault, item), { headers: { "If-Match": "nonsense" } })).body).toEqual(noItem(item));
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with the If-Match of another version", async (method) => {
    const { vault, call } = await freshVault();
    const item = missing();
    const body = method === "PUT" ? { ...LOGIN, vault: { id: vault } } : method === "PATCH" ? [] : undefined;
    expect((await call(method, one(vault, item), { body, headers: { "If-Match": '"9"' } })).body).toEqual(noItem(item));
  });
});

describe("what is left when all else holds", () => {
  it.each(WITH_BODY)("%s of malformed JSON to an Item that is there is the body's 400", async (method) => {
    const { vault, item, call } = await freshItem();
    const { body } = await call(method, one(vault, item), { body: "{" });
    expect(body).toEqual({ status: 400, message: "the body is not valid JSON" });
  });

  it.each(WITH_ITEM)("%s of a malformed id in a vault that is there is the id's 400", async (method) => {
    const { vault, call } = await freshVault();
    expect((await call(method, one(vault, MALFORMED), { body: bodyOf(method) })).body).toEqual(itemForm);
  });
});
