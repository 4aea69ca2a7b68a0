import { afterEach, describe, expect, it, vi } from "vitest";
import { tagAt } from "../support/etags.ts";
import { client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";

const FULL = {
  title: "Full",
  category: "LOGIN",
  favorite: true,
  tags: ["t"],
  urls: [{ href: "u" }],
  sections: [{ id: "s", label: "S" }],
  fields: [{ id: "f", type: "EMAIL", label: "F", value: "v", section: { id: "s", label: "S" } }],
};

/** A fresh vault with one Item. `put` replaces the Item and names the vault, as PUT needs it, unless the body overrides that. */
async function makeItem(body: object = FULL) {
  const fresh = await freshVault();
  const { vault, items, call } = fresh;
  const { body: item } = await call("POST", items, { body });
  const path = `${items}/${item.id}`;
  return { ...fresh, item, path, put: (next: object) => call("PUT", path, { body: { vault: { id: vault }, ...next } }) };
}

/** What PUT needs, and what it replaces (contract 2.20, 2.21). */
describe("PUT /v1/vaults/{v}/items/{i}", () => {
  it("answers 200 with the whole new Item, which GET returns too", async () => {
    const { path, item, call, put } = await makeItem();
    const next = { ...FULL, title: "Next", category: "server", tags: [], fields: [{ ...FULL.fields[0], value: "w" }] };
    const { status, headers, body } = await put(next);
    expect(status).toBe(200);
    expect(headers.get("ETag")).toEqual(tagAt(2));
    expect(body).toEqual({ ...item, ...next, category: "SERVER", version: 2, updatedAt: body.updatedAt });
    expect((await call("GET", path)).body).toEqual(body);
  });

  it.each(["uuid", "connect"] as const)(
    "keeps every type and value of an SSH_KEY Item when it sends back what GET answered: %s (1Password/connect#107)",
    async (dialect) => {
      const { vault, items, call } = await freshVault(dialect);
      const fields = [
        ["notesPlain", "STRING", "NOTES", ""],
        ["public_key", "STRING", undefined, "ssh-ed25519 AAAAC3Nza ada@example"],
        ["fingerprint", "STRING", undefined, "SHA256:h8SXUtOpl5UzEhV3nEjWNDQmxdZHrk7bgHCkpqsSsxs"],
        ["private_key", "SSHKEY", undefined, "-----BEGIN PRIVATE KEY-----\nMFMC\n-----END PRIVATE KEY-----\n"],
        ["key_type", "STRING", undefined, "ed25519"],
      ].map(([id, type, purpose, value]) => ({ id, type, purpose, label: id, value }));
      const { body: created } = await call("POST", items, { body: { title: "key", category: "SSH_KEY", fields } });
      const path = `${items}/${created.id}`;
      const { body: got } = await call("GET", path);
      expect([got.category, got.fields]).toEqual(["SSH_KEY", fields]);
      const { status } = await call("PUT", path, { body: { ...got, title: "renamed", vault: { id: vault } } });
      const { updatedAt, ...after } = (await call("GET", path)).body;
      expect([status, after]).toEqual([200, { ...got, title: "renamed", version: 2, updatedAt: undefined }]);
      expect(updatedAt >= got.updatedAt).toBe(true);
    },
  );

  it("resets the attributes that the body does not contain", async () => {
    const { item, put } = await makeItem();
    const { body } = await put({ category: "LOGIN" });
    const empty = { title: "", favorite: false, tags: [], urls: [], sections: [], fields: [] };
    expect(body).toEqual({ ...item, ...empty, version: 2, updatedAt: body.updatedAt });
  });

  it.each([undefined, null, {}, { id: "" }, { id: null }])("is a 400 without a vault id: %j", async (vault) => {
    const { path, call, item, put } = await makeItem();
    const { status, body } = await put({ ...FULL, vault });
    expect(status).toBe(400);
    expect(body).toEqual({ status: 400, message: "The item doesn't have a vault field." });
    expect((await call("GET", path)).body).toEqual(item);
  });

  it.each([undefined, null])("is a 400 without a category: %j", async (category) => {
    const { path, call, item, put } = await makeItem();
    const { body } = await put({ ...FULL, category });
    expect(body).toEqual({ status: 400, message: "The item doesn't have a category field." });
    expect((await call("GET", path)).body).toEqual(item);
  });

  it.each(["LOGINS", "__proto__", 5])("refuses the category %j", async (category) => {
    const { put } = await makeItem();
    expect((await put({ ...FULL, category })).body).toEqual({ status: 400, message: "Invalid item category" });
  });

  it("refuses a PASSWORD Item without a field of purpose PASSWORD", async () => {
    const { put } = await makeItem();
    const { body } = await put({ ...FULL, category: "PASSWORD" });
    expect(body).toEqual({ status: 400, message: "The item doesn't have a password field." });
  });

  it("refuses a body that names another vault, even if the token may write that vault", async () => {
    const { vault, path } = await makeItem();
    const other = await makeVault();
    const { token } = await makeToken({ [vault]: "rw", [other]: "rw" });
    const { status, body } = await client(token)("PUT", path, { body: { ...LOGIN, vault: { id: other } } });
    expect(status).toBe(400);
    expect(body.message).toContain("vault");
  });

  it("ignores the read-only attributes", async () => {
    const { item, put } = await makeItem(LOGIN);
    const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
    const times = { createdAt: "0001-01-01T00:00:00Z", updatedAt: "2099-01-01T00:00:00Z" };
    const readOnly = { id, version: 99, ...times, lastEditedBy: id, state: "DELETED", files: [{ id: "f" }] };
    const { body } = await put({ ...LOGIN, ...readOnly });
    expect(body).toEqual({ ...item, version: 2, updatedAt: body.updatedAt });
    expect(Date.parse(body.updatedAt)).toBeLessThan(Date.parse(times.updatedAt));
  });

  it("ignores the entropy and the totp of a field", async () => {
    const { item, put } = await makeItem({ ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] });
    const { body } = await put({ ...LOGIN, fields: [{ ...item.fields[0], entropy: 1, totp: "123456" }] });
    expect(body.fields).toEqual(item.fields);
  });

  it("accepts an Item as GET returned it and changes only version and updatedAt", async () => {
    const { item, put } = await makeItem();
    const { body } = await put(item);
    expect(body).toEqual({ ...item, version: 2, updatedAt: body.updatedAt });
  });

  it("is a 404 that creates nothing when the Item does not exist", async () => {
    const { vault, items, call } = await freshVault();
    const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
    const { status, body } = await call("PUT", `${items}/${id}`, { body: { ...LOGIN, id, vault: { id: vault } } });
    expect(status).toBe(404);
    expect(body).toEqual({ status: 404, message: `item ${id} not found` });
    expect((await call("GET", items)).body).toEqual([]);
  });
});

describe("A write to an Item", () => {
  afterEach(() => vi.useRealTimers());

  it("sets version to 1 at creation and raises it by 1 for each PUT and PATCH, but not for a refused write (contract 2.18)", async () => {
    const { item, path, call, put } = await makeItem();
    const patch = [{ op: "replace", path: "/title", value: "Patched" }];
    const versions = [item.version];
    for (const reply of [await put(LOGIN), await call("PATCH", path, { body: patch }), await put({ category: "x" })]) {
      versions.push(reply.body.version);
    }
    expect(versions).toEqual([1, 2, 3, undefined]);
    expect((await put(LOGIN)).body.version).toBe(4);
    expect((await call("GET", path)).headers.get("ETag")).toEqual(tagAt(4));
  });

  it("sets lastEditedBy to the id of its token", async () => {
    const { vault, item, items, path, call } = await makeItem();
    const other = await makeToken({ [vault]: "rw" });
    expect(item.lastEditedBy).not.toBe(other.id);
    const patch = [{ op: "replace", path: "/title", value: "Patched" }];
    expect((await client(other.token)("PATCH", path, { body: patch })).body.lastEditedBy).toBe(other.id);
    expect((await call("GET", items)).body[0].lastEditedBy).toBe(other.id);
    const { body } = await call("PUT", path, { body: { ...LOGIN, vault: { id: vault } } });
    expect(body.lastEditedBy).toBe(item.lastEditedBy);
  });

  it("sets updatedAt to the current time and does not change createdAt", async () => {
    const now = Date.now();
    vi.useFakeTimers({ now, toFake: ["Date"] });
    const { item, put } = await makeItem();
    vi.setSystemTime(now + 5000);
    const { body } = await put(FULL);
    expect([item.createdAt, item.updatedAt, body.createdAt].map(Date.parse)).toEqual([now, now, now]);
    expect(Date.parse(body.updatedAt)).toBe(now + 5000);
  });

  it("does not set updatedAt back when the clock goes back (contract 2.1)", async () => {
    const now = Date.now();
    vi.useFakeTimers({ now, toFake: ["Date"] });
    const { vault, item, path, call, put } = await makeItem();
    vi.setSystemTime(now - 5000);
    const other = await call("POST", `/v1/vaults/${vault}/items`, { body: LOGIN });
    expect(Date.parse(other.body.updatedAt)).toBe(now - 5000);
    const patch = [{ op: "replace", path: "/title", value: "Patched" }];
    expect((await put(FULL)).body.updatedAt).toBe(item.updatedAt);
    expect((await call("PATCH", path, { body: patch })).body.updatedAt).toBe(item.updatedAt);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.updatedAt).toBe(item.updatedAt);
  });
});
