import { describe, expect, it } from "vitest";
import { admin, type Client, client, freshVault, LOGIN, makeToken, makeVault, send, shareVault } from "../support/service.ts";

/**
 * The order of checks (contract 4.5, 4.11): token, form of the vault's id, scope, vault, Item, body. Each request here has two
 * faults that are adjacent in this order, and the answer is that of the first one.
 */

const itemsPath = (vault: string) => `/v1/vaults/${vault}/items`;
const itemPath = (vault: string, item: string) => `${itemsPath(vault)}/${item}`;

const WITH_VAULT = [
  ["GET Vault", "GET", (vault: string) => `/v1/vaults/${vault}`],
  ["GET Items", "GET", itemsPath],
  ["POST Item", "POST", itemsPath],
  ["GET Item", "GET", itemPath],
  ["PUT Item", "PUT", itemPath],
  ["PATCH Item", "PATCH", itemPath],
  ["DELETE Item", "DELETE", itemPath],
] as const;
const WITH_ITEM = [["GET"], ["PUT"], ["PATCH"], ["DELETE"]] as const;
const WITH_BODY = [["PUT"], ["PATCH"]] as const;

const MALFORMED = "not-an-id";
const missing = () => crypto.randomUUID();
/** A body that every endpoint refuses, for the methods whose body is read. */
const bodyOf = (method: string) => (method === "GET" || method === "DELETE" ? undefined : "{");

const sharedVault = shareVault();

async function makeDeletedVault() {
  const { vault, call, token } = await freshVault();
  await admin("DELETE", `/v1/admin/vaults/${vault}`);
  return { vault, call, token };
}

let deleted: ReturnType<typeof makeDeletedVault> | undefined;

/** A vault that is in the token's scope and was deleted: the same for all tests, because it answers each request 404. */
const deletedVault = () => (deleted ??= makeDeletedVault());

async function freshItem(): Promise<{ vault: string; item: string; call: Client }> {
  const { vault, items, call } = await sharedVault();
  return { vault, item: (await call("POST", items, { body: LOGIN })).body.id, call };
}

const unauthorized = { status: 401, message: "Invalid token signature" };
const invalidVaultId = { status: 400, message: "Invalid Vault UUID" };
const invalidItemId = { status: 400, message: "Invalid Item UUID" };
const vaultNotFound = (vault: string) => ({ status: 404, message: `vault ${vault} not found` });
const itemNotFound = (item: string) => ({ status: 404, message: `item ${item} not found` });

describe("token before the form of the vault's id", () => {
  it.each(WITH_VAULT)("%s", async (_, method, path) => {
    expect((await send(method, path(MALFORMED, missing()), { body: bodyOf(method) })).body).toEqual(unauthorized);
  });
});

describe("form of the vault's id before scope", () => {
  it.each(WITH_VAULT)("%s", async (_, method, path) => {
    const { token } = await makeToken({});
    expect((await client(token)(method, path(MALFORMED, missing()), { body: bodyOf(method) })).body).toEqual(invalidVaultId);
  });
});

// GET Items is left out, because it answers both faults with the same 404.
describe("scope before the vault", () => {
  it.each(WITH_VAULT.filter(([name]) => name !== "GET Items"))("%s", async (_, method, path) => {
    const vault = await makeVault();
    const { token } = await makeToken({ [vault]: method === "GET" ? "w" : "r" });
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    const { body } = await client(token)(method, path(vault, missing()), { body: bodyOf(method) });
    const lacking = method === "GET" ? (path(vault, "").endsWith(vault) ? "list" : "read") : "write to";
    expect(body).toEqual({ status: 403, message: `the token may not ${lacking} vault ${vault}` });
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
    expect((await call(method, itemPath(vault, MALFORMED), { body: bodyOf(method) })).body).toEqual(vaultNotFound(vault));
  });
});

describe("the vault before the Item", () => {
  it.each(WITH_ITEM)("%s", async (method) => {
    const { vault, call } = await deletedVault();
    expect((await call(method, itemPath(vault, missing()), { body: bodyOf(method) })).body).toEqual(vaultNotFound(vault));
  });
});

describe("the vault before the body, the filter and the headers", () => {
  it("POST with malformed JSON", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("POST", itemsPath(vault), { body: "{" })).body).toEqual(vaultNotFound(vault));
  });

  it("POST with a body that is too large", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("POST", itemsPath(vault), { body: " ".repeat(2 ** 20 + 1) })).body).toEqual(vaultNotFound(vault));
  });

  it("POST with a Content-Encoding", async () => {
    const { vault, call } = await deletedVault();
    const headers = { "Content-Encoding": "gzip" };
    expect((await call("POST", itemsPath(vault), { body: LOGIN, headers })).body).toEqual(vaultNotFound(vault));
  });

  it("POST with a bad Idempotency-Key", async () => {
    const { vault, call } = await deletedVault();
    const headers = { "Idempotency-Key": "k".repeat(256) };
    expect((await call("POST", itemsPath(vault), { body: LOGIN, headers })).body).toEqual(vaultNotFound(vault));
  });

  it("GET with an unsupported filter", async () => {
    const { vault, call } = await deletedVault();
    expect((await call("GET", `${itemsPath(vault)}?filter=nonsense`)).body).toEqual(vaultNotFound(vault));
  });
});

describe("the form of the Item's id before the body and If-Match", () => {
  it.each(WITH_BODY)("%s with malformed JSON", async (method) => {
    const { vault, call } = await sharedVault();
    expect((await call(method, itemPath(vault, MALFORMED), { body: "{" })).body).toEqual(invalidItemId);
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with a bad If-Match", async (method) => {
    const { vault, call } = await sharedVault();
    const headers = { "If-Match": "nonsense" };
    expect((await call(method, itemPath(vault, MALFORMED), { headers })).body).toEqual(invalidItemId);
  });
});

describe("the Item before the body and If-Match", () => {
  it.each(WITH_BODY)("%s with malformed JSON", async (method) => {
    const { vault, call } = await sharedVault();
    const item = missing();
    expect((await call(method, itemPath(vault, item), { body: "{" })).body).toEqual(itemNotFound(item));
  });

  it.each(WITH_BODY)("%s with a Content-Encoding", async (method) => {
    const { vault, call } = await sharedVault();
    const item = missing();
    const headers = { "Content-Encoding": "gzip" };
    expect((await call(method, itemPath(vault, item), { body: [], headers })).body).toEqual(itemNotFound(item));
  });

  it.each(WITH_BODY)("%s with well-formed JSON that is neither an Item nor a PATCH", async (method) => {
    const { vault, call } = await sharedVault();
    const item = missing();
    expect((await call(method, itemPath(vault, item), { body: "7" })).body).toEqual(itemNotFound(item));
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with a bad If-Match", async (method) => {
    const { vault, call } = await sharedVault();
    const item = missing();
    expect((await call(method, itemPath(vault, item), { headers: { "If-Match": "nonsense" } })).body).toEqual(itemNotFound(item));
  });

  it.each([...WITH_BODY, ["DELETE"]] as const)("%s with the If-Match of another version", async (method) => {
    const { vault, call } = await sharedVault();
    const item = missing();
    const body = method === "PUT" ? { ...LOGIN, vault: { id: vault } } : method === "PATCH" ? [] : undefined;
    expect((await call(method, itemPath(vault, item), { body, headers: { "If-Match": '"9"' } })).body).toEqual(
      itemNotFound(item),
    );
  });
});

const WITHOUT_PASSWORD = { category: "PASSWORD" };

/** A vault at its quota with one Item. Its requests return the status and the kind of the failure. */
async function fullVault() {
  const { vault, items, call } = await freshVault();
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { quota: { items: 1, bytes: 0 } } });
  const ask = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const reply = await call(method, path, { body, headers });
    return [reply.status, reply.headers.get("Item-Vault-Error")];
  };
  const named = (body: object) => ({ ...body, vault: { id: vault } });
  return {
    id,
    post: (body: unknown, headers = {}) => ask("POST", items, body, headers),
    put: (body: unknown, tag: string) => ask("PUT", itemPath(vault, id), body, { "If-Match": tag }),
    named,
  };
}

describe("the body, then If-Match or Item-Id, then the rules of the Item as a whole, then the quota", () => {
  it("of a PUT", async () => {
    const { put, named } = await fullVault();
    expect(await put("{", '"9"')).toEqual([400, "invalid"]);
    expect(await put(named(WITHOUT_PASSWORD), '"9"')).toEqual([412, "precondition"]);
    expect(await put(named(WITHOUT_PASSWORD), "*")).toEqual([400, "missing_field"]);
    expect(await put(named({ ...LOGIN, title: "x".repeat(500) }), "*")).toEqual([507, "quota"]);
  });

  it("of a POST", async () => {
    const { id, post } = await fullVault();
    expect(await post("{", { "Item-Id": id })).toEqual([400, "invalid"]);
    expect(await post(WITHOUT_PASSWORD, { "Item-Id": id })).toEqual([409, "item_exists"]);
    expect(await post(WITHOUT_PASSWORD)).toEqual([400, "missing_field"]);
    expect(await post(LOGIN)).toEqual([507, "quota"]);
  });
});

describe("a used Idempotency-Key before the Item", () => {
  it.each([
    ["PUT", (vault: string, title: string) => ({ ...LOGIN, title, vault: { id: vault } })],
    ["PATCH", (_: string, value: string) => [{ op: "replace", path: "/title", value }]],
  ] as const)("%s", async (method, bodyOfTitle) => {
    const { vault, item, call } = await freshItem();
    const write = (title: string) =>
      call(method, itemPath(vault, item), { body: bodyOfTitle(vault, title), headers: { "Idempotency-Key": item } });
    const first = await write("one");
    await call("DELETE", itemPath(vault, item));
    expect(await write("one")).toMatchObject({ status: 200, text: first.text });
    expect((await write("two")).headers.get("Item-Vault-Error")).toBe("idempotency");
  });
});

describe("a request with one fault", () => {
  it.each(WITH_BODY)("%s of malformed JSON to an existing Item is the 400 of the body", async (method) => {
    const { vault, item, call } = await freshItem();
    const { body } = await call(method, itemPath(vault, item), { body: "{" });
    expect(body).toEqual({ status: 400, message: "the body is not valid JSON" });
  });

  it.each(WITH_ITEM)("%s of a malformed Item id in an existing vault is the 400 of the id", async (method) => {
    const { vault, call } = await sharedVault();
    expect((await call(method, itemPath(vault, MALFORMED), { body: bodyOf(method) })).body).toEqual(invalidItemId);
  });
});

/** The requests with a version in their path, and what is adjacent to it in the order. */
const WITH_VERSION = [
  ["GET", ""],
  ["POST", "/restore"],
  ["DELETE", ""],
] as const;

async function freshKeeper(): Promise<{ vault: string; item: string; call: Client }> {
  const { vault, item } = await freshItem();
  return { vault, item, call: client((await makeToken({ [vault]: "rwd" })).token) };
}

const versionPath = (vault: string, item: string, version: string, rest: string) =>
  `${itemPath(vault, item)}/versions/${version}${rest}`;
const badHeaders = { "If-Match": "nonsense", "Idempotency-Key": "k".repeat(256) };

describe("the Item, the form of the version, the version, and then the headers", () => {
  it.each(WITH_VERSION)("%s …/versions/{n}%s", async (method, rest) => {
    const { vault, item, call } = await freshKeeper();
    const ask = async (...[of, version]: [string, string]) =>
      (await call(method, versionPath(vault, of, version, rest), { headers: badHeaders })).body.message;
    const other = missing();
    expect(await ask(MALFORMED, "x")).toBe("Invalid Item UUID");
    expect(await ask(other, "x")).toBe(`item ${other} not found`);
    expect(await ask(item, "x")).toBe("version: is not an integer from 1 on");
    expect(await ask(item, "9")).toBe(`version 9 of item ${item} not found`);
  });

  it("a revoked token comes before a malformed version", async () => {
    const { vault, item } = await freshItem();
    const { id, token } = await makeToken({ [vault]: "rwd" });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    for (const [method, rest] of WITH_VERSION)
      expect((await client(token)(method, versionPath(vault, item, "x", rest))).body).toEqual(unauthorized);
  });

  it("a deleted Item that does not exist comes before a bad Idempotency-Key, also when the Item exists", async () => {
    const { vault, item, call } = await freshKeeper();
    for (const [method, rest] of [
      ["POST", "/restore"],
      ["DELETE", ""],
    ] as const) {
      const path = `/v1/vaults/${vault}/deleted-items/${item}${rest}`;
      expect((await call(method, path, { headers: badHeaders })).body).toEqual(itemNotFound(item));
    }
  });
});
