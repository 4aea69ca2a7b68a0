import { afterEach, describe, expect, it, vi } from "vitest";
import { tagAt } from "../support/etags.ts";
import { client, freshVault, LOGIN, makeToken, makeVault, type Reply, shareVault } from "../support/service.ts";

/** Items are created, read, replaced and deleted (contract 1.2, 2.1 to 2.21). What a body may not have is in bad-types.test.ts. */

const sharedVault = shareVault();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const CATEGORIES = [
  ..."LOGIN PASSWORD API_CREDENTIAL SERVER DATABASE CREDIT_CARD MEMBERSHIP PASSPORT SOFTWARE_LICENSE".split(" "),
  ..."OUTDOOR_LICENSE SECURE_NOTE WIRELESS_ROUTER BANK_ACCOUNT DRIVER_LICENSE IDENTITY REWARD_PROGRAM DOCUMENT".split(" "),
  ..."EMAIL_ACCOUNT SOCIAL_SECURITY_NUMBER MEDICAL_RECORD SSH_KEY CUSTOM".split(" "),
];

const FULL = {
  title: " Bank \u{1F3E6} e\u0301 ",
  category: "BANK_ACCOUNT",
  favorite: true,
  tags: ["z", "a", "10", "2", "a"],
  urls: [{ href: "" }, { href: "https://b.test", label: "B", primary: true }, { href: "a", label: "", primary: false }],
  sections: [
    { id: "s2", label: "Second" },
    { id: "s1", label: "First" },
  ],
  fields: [
    { id: "b", type: "EMAIL", label: "B", value: "secret", section: { id: "s1", label: "First" } },
    { id: "a", type: "URL", label: "", value: "2" },
  ],
};
/** What an Item has that the request has not. */
const EMPTY = { title: "", favorite: false, tags: [], urls: [], sections: [], fields: [] };

/** A fresh vault with one Item. `put` replaces the Item and names the vault, as PUT needs it, unless the body overrides that. */
async function makeItem(body: object = FULL) {
  const fresh = await freshVault();
  const { vault, items, call } = fresh;
  const { body: item } = await call("POST", items, { body });
  const path = `${items}/${item.id}`;
  return { ...fresh, item, path, put: (next: object) => call("PUT", path, { body: { vault: { id: vault }, ...next } }) };
}

const tagOf = ({ headers }: Reply) => headers.get("ETag");
const summaryOf = ({ sections: _sections, fields: _fields, files: _files, ...summary }: Record<string, unknown>) => summary;
const rename = (value: string) => ({ body: [{ op: "replace", path: "/title", value }] });

describe("An Item", () => {
  it.each([
    ["nothing but a category; absent lists are empty", { category: "LOGIN" }],
    ["all attributes, in the order of the request (contract 2.3, 2.13)", FULL],
  ])("is answered by POST, GET and PATCH as it is, with its ETag, and gone after DELETE: with %s", async (_, attributes) => {
    const { vault, items, call } = await freshVault();
    const posted = await call("POST", items, { body: attributes });
    const { id, createdAt } = posted.body;
    const path = `${items}/${id}`;
    expect([posted.status, posted.headers.get("Content-Type"), tagOf(posted)]).toEqual([200, "application/json", tagAt(1)]);
    expect(posted.body).toEqual({
      ...EMPTY,
      ...attributes,
      id: expect.stringMatching(UUID),
      vault: { id: vault, name: "Test" },
      version: 1,
      createdAt: expect.stringMatching(TIME),
      updatedAt: createdAt,
      lastEditedBy: expect.stringMatching(UUID),
      files: [],
    });
    const read = await call("GET", path);
    expect([read.body, tagOf(read)]).toEqual([posted.body, tagOf(posted)]);
    const patched = await call("PATCH", path, rename("New"));
    expect([patched.status, tagOf(patched)]).toEqual([200, tagAt(2)]);
    expect(patched.body).toEqual({ ...posted.body, title: "New", version: 2, updatedAt: patched.body.updatedAt });
    expect((await call("GET", path)).body).toEqual(patched.body);
    const deleted = await call("DELETE", path);
    expect([deleted.status, deleted.text, deleted.headers.get("Content-Type")]).toEqual([204, "", null]);
    expect([(await call("GET", path)).status, (await call("GET", items)).body]).toEqual([404, []]);
  });

  it.each(CATEGORIES)("may have the category %s in any case, and has it in upper case (contract 2.9)", async (category) => {
    const { items, call } = await sharedVault();
    const fields = [{ purpose: "PASSWORD" }];
    for (const spelling of [category, category.toLowerCase(), category[0]! + category.slice(1).toLowerCase()])
      expect((await call("POST", items, { body: { category: spelling, fields } })).body).toMatchObject({ category });
  });

  it("may be created with the vault's name as vault.id, as some clients send it, which is ignored", async () => {
    const { vault, items, call } = await sharedVault();
    const { status, body } = await call("POST", items, { body: { ...LOGIN, vault: { id: "staging" } } });
    expect([status, body.vault]).toEqual([200, { id: vault, name: "Test" }]);
  });
});

const NO_PASSWORD = { category: "password", fields: [{ id: "password", label: "password", type: "CONCEALED", value: "x" }] };
const lacks = (name: string) => `The item doesn't have a ${name} field.`;

/** Bodies that POST or PUT refuses, with the message. A PUT names its vault, unless the body does. */
const REFUSED: readonly (readonly [method: string, rule: string, body: object, message: string])[] = [
  ...[undefined, null, ""].map(
    (category) => ["POST", `the category ${category}`, { category }, "Invalid item category"] as const,
  ),
  ...[undefined, null].map((category) => ["PUT", `the category ${category}`, { ...FULL, category }, lacks("category")] as const),
  ...[undefined, null, {}, { id: "" }, { id: null }].map(
    (vault) => ["PUT", `the vault ${JSON.stringify(vault)}`, { ...FULL, vault }, lacks("vault")] as const,
  ),
  ["POST", "no field of purpose PASSWORD, whatever its fields are named (contract 2.21)", NO_PASSWORD, lacks("password")],
  ["PUT", "no field of purpose PASSWORD (contract 2.21)", { ...FULL, category: "PASSWORD" }, lacks("password")],
];

describe("A body that is refused", () => {
  it.each(REFUSED)("by %s for %s is a 400 that changes nothing", async (method, _, body, message) => {
    const { items, path, call, item, put } = await makeItem();
    const { body: refusal } = method === "PUT" ? await put(body) : await call("POST", items, { body });
    expect(refusal).toEqual({ status: 400, message });
    expect((await call("GET", items)).body).toEqual([summaryOf(item)]);
    expect((await call("GET", path)).body).toEqual(item);
  });

  it.each(["POST", "PUT"])("by %s names another vault than the path, even if the token may write that vault", async (method) => {
    const { vault, items, path } = await makeItem();
    const other = await makeVault();
    const call = client((await makeToken({ [vault]: "rw", [other]: "rw" })).token);
    const body = { ...LOGIN, vault: { id: other } };
    const message = expect.stringContaining("vault");
    expect((await call(method, method === "PUT" ? path : items, { body })).body).toEqual({ status: 400, message });
  });
});

describe("GET /v1/vaults/{v}/items", () => {
  it("returns the latest version of each Item of the vault as a summary, and no deleted Item (contract 2.1)", async () => {
    const [{ vault, items, call }, other] = [await freshVault(), await freshVault()];
    await other.call("POST", other.items, { body: LOGIN });
    const made: any[] = [];
    for (const attributes of [FULL, LOGIN, LOGIN]) made.push((await call("POST", items, { body: attributes })).body);
    const { body: replaced } = await call("PUT", `${items}/${made[1].id}`, { body: { ...FULL, vault: { id: vault } } });
    await call("DELETE", `${items}/${made[2].id}`);
    const { status, text, body } = await call("GET", items);
    expect([status, body.length, text.includes("secret")]).toEqual([200, 2, false]);
    expect(body).toEqual(expect.arrayContaining([made[0], replaced].map(summaryOf)));
    expect(Object.keys(body[0]).toSorted()).toEqual(
      "category createdAt favorite id lastEditedBy tags title updatedAt urls vault version".split(" "),
    );
  });

  it("returns the Items in the order of their ids (contract 11.1)", async () => {
    const { items, call } = await freshVault();
    const ids: string[] = [];
    for (let made = 0; made < 6; made++) ids.push((await call("POST", items, { body: LOGIN })).body.id);
    expect((await call("GET", items)).body.map(({ id }: { id: string }) => id)).toEqual(ids.toSorted());
  });
});

/** What PUT replaces (contract 2.20). */
describe("PUT /v1/vaults/{v}/items/{i}", () => {
  it.each([
    ["all attributes", FULL, { ...FULL, title: "Next", category: "server", tags: [] }, { category: "SERVER" }],
    ["those that the body does not contain", FULL, { category: "LOGIN" }, EMPTY],
  ])("replaces %s, and GET returns the Item too", async (_, before, next, changed) => {
    const { path, item, call, put } = await makeItem(before);
    const reply = await put(next);
    expect([reply.status, tagOf(reply)]).toEqual([200, tagAt(2)]);
    expect(reply.body).toEqual({ ...item, ...next, ...changed, version: 2, updatedAt: reply.body.updatedAt });
    expect((await call("GET", path)).body).toEqual(reply.body);
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

  it("ignores the read-only attributes", async () => {
    const { item, put } = await makeItem({ ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] });
    const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
    const times = { createdAt: "0001-01-01T00:00:00Z", updatedAt: "2099-01-01T00:00:00Z" };
    const readOnly = { id, version: 99, ...times, lastEditedBy: id, state: "DELETED", files: [{ id: "f" }] };
    const fields = [{ ...item.fields[0], entropy: 1, totp: "123456" }];
    const { body } = await put({ ...LOGIN, ...readOnly, fields });
    expect(body).toEqual({ ...item, version: 2, updatedAt: body.updatedAt });
    expect(Date.parse(body.updatedAt)).toBeLessThan(Date.parse(times.updatedAt));
  });

  it("accepts an Item as GET returned it and changes only version and updatedAt", async () => {
    const { item, put } = await makeItem();
    const { body } = await put(item);
    expect(body).toEqual({ ...item, version: 2, updatedAt: body.updatedAt });
  });
});

describe("A write to an Item", () => {
  afterEach(() => vi.useRealTimers());

  it("sets version to 1 at creation and raises it by 1 for each PUT and PATCH, but not for a refused write (contract 2.18)", async () => {
    const { item, path, call, put } = await makeItem();
    const versions = [item.version];
    for (const reply of [await put(LOGIN), await call("PATCH", path, rename("Patched")), await put({ category: "x" })]) {
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
    expect((await client(other.token)("PATCH", path, rename("Patched"))).body.lastEditedBy).toBe(other.id);
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
    expect((await put(FULL)).body.updatedAt).toBe(item.updatedAt);
    expect((await call("PATCH", path, rename("Patched"))).body.updatedAt).toBe(item.updatedAt);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.updatedAt).toBe(item.updatedAt);
  });
});
