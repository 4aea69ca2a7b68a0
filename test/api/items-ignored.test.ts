import { describe, expect, it } from "vitest";
import { freshVault, LOGIN, shareVault } from "../support/service.ts";

/** Attributes that are ignored: read-only, unknown and absent ones (contract 2.16, 2.17 and 2.19). */

const sharedVault = shareVault();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("A new Item", () => {
  it("ignores the read-only attributes", async () => {
    const { items, call } = await sharedVault();
    const readOnly = {
      id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
      version: 99,
      createdAt: "2001-01-01T00:00:00Z",
      updatedAt: "2001-01-01T00:00:00Z",
      lastEditedBy: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
      state: "ARCHIVED",
      files: [{ id: "f", name: "f.txt", size: 1 }],
    };
    const { body } = await call("POST", items, { body: { ...LOGIN, ...readOnly } });
    const expected = (await call("POST", items, { body: LOGIN })).body;
    const { id, createdAt } = body;
    expect(body).toEqual({ ...expected, id, createdAt, updatedAt: createdAt });
    expect(id).not.toBe(readOnly.id);
    expect(Date.parse(createdAt)).toBeGreaterThan(Date.parse("2020-01-01"));
  });

  it("ignores the read-only attributes of a field", async () => {
    const { items, call } = await sharedVault();
    const field = { id: "p", purpose: "PASSWORD", type: "CONCEALED", label: "", value: "aaaa" };
    const { entropy } = (await call("POST", items, { body: { ...LOGIN, fields: [field] } })).body.fields[0];
    const withReadOnly = { ...field, entropy: 12345, totp: "123456" };
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: [withReadOnly] } });
    expect(body.fields).toEqual([{ ...field, entropy }]);
  });

  it("accepts read-only attributes of any type", async () => {
    const { items, call } = await sharedVault();
    const wrongTypes = { id: 5, version: "x", createdAt: {}, updatedAt: [], lastEditedBy: false, state: 1, files: "none" };
    const { status, body } = await call("POST", items, {
      body: { ...LOGIN, ...wrongTypes, fields: [{ entropy: "x", totp: {} }] },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ version: 1, files: [] });
  });

  it("drops unknown attributes, at every level", async () => {
    const { items, call } = await sharedVault();
    const unknown = { colour: "red", constructor: 1 };
    const body = {
      ...LOGIN,
      ...unknown,
      urls: [{ href: "u", ...unknown }],
      sections: [{ id: "s", label: "S", ...unknown }],
      fields: [{ id: "f", section: { id: "s", ...unknown }, ...unknown }],
    };
    const { status, body: item } = await call("POST", items, { body });
    expect(status).toBe(200);
    expect(Object.keys(item)).not.toContain("colour");
    expect(Object.keys(item)).not.toContain("constructor");
    expect(item).toMatchObject({ urls: [{ href: "u" }], sections: [{ id: "s", label: "S" }] });
    expect(item.urls).toEqual([{ href: "u" }]);
    expect(item.sections).toEqual([{ id: "s", label: "S" }]);
    expect(item.fields).toEqual([{ id: "f", section: { id: "s", label: "S" }, type: "STRING", label: "", value: "" }]);
  });
});

describe("A new Item with an attribute that counts as absent", () => {
  it.each(["id", "title", "urls", "favorite", "tags", "version", "state", "createdAt", "sections", "fields", "files", "vault"])(
    "is accepted: %s null",
    async (name) => {
      const { items, call } = await sharedVault();
      const { body } = await call("POST", items, { body: { title: "", category: "LOGIN", [name]: null } });
      expect(body).toMatchObject({ title: "", favorite: false, urls: [], tags: [], sections: [], fields: [], files: [] });
      expect(body.version).toBe(1);
    },
  );

  it.each([{ id: "" }, { vault: { id: "" } }, { vault: {} }, { vault: { id: null } }, { createdAt: "0001-01-01T00:00:00Z" }])(
    "is accepted: %j",
    async (absent) => {
      const { items, vault, call } = await sharedVault();
      const { status, body } = await call("POST", items, { body: { ...LOGIN, ...absent } });
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: expect.stringMatching(UUID), vault: { id: vault } });
      expect(Date.parse(body.createdAt)).toBeGreaterThan(Date.parse("2020-01-01"));
    },
  );
});

describe("the header Item-Vault-Ignored", () => {
  const MISSPELLED = {
    ...LOGIN,
    titel: "x",
    fields: [
      { label: "a", lable: "b", section: { id: "s", name: "n" } },
      { generate: false, recipe: { size: 3 } },
    ],
    urls: [{ href: "h", link: "l" }],
    sections: [{ id: "s", titel: "t" }],
    vault: { uuid: "u" },
  };
  const NAMES =
    "titel, fields[0].lable, fields[0].section.name, fields[1].recipe.size, urls[0].link, sections[0].titel, vault.uuid";

  it("names each attribute of a POST and of a PUT that was ignored, at every level", async () => {
    const { items, call, vault } = await sharedVault();
    const posted = await call("POST", items, { body: MISSPELLED });
    expect([posted.status, posted.headers.get("Item-Vault-Ignored")]).toEqual([200, NAMES]);
    const body = { ...MISSPELLED, vault: { uuid: "u", id: vault } };
    const put = await call("PUT", `${items}/${posted.body.id}`, { body });
    expect([put.status, put.headers.get("Item-Vault-Ignored")]).toEqual([200, NAMES]);
  });

  it("names those of a PATCH by the index of the operation", async () => {
    const { items, call } = await sharedVault();
    const { body: item } = await call("POST", items, { body: LOGIN });
    const body = [
      { op: "replace", path: "/title", value: "T", from: "x" },
      { op: "add", path: "/fields", value: { id: "f", lable: "x" } },
      { op: "add", path: "/fields/f/section", value: { id: "s", titel: "x" } },
      { op: "replace", path: "/", value: { titel: "x", fields: [{ lable: "x" }] } },
    ];
    const { status, headers } = await call("PATCH", `${items}/${item.id}`, { body });
    expect([status, headers.get("Item-Vault-Ignored")]).toEqual([
      200,
      "[0].from, [1].value.lable, [2].value.titel, [3].value.titel, [3].value.fields[0].lable",
    ]);
  });

  it("is absent when a client sends back what it has read, and in an answer without a body of the request", async () => {
    const { items, call } = await sharedVault();
    const fields = [
      { purpose: "PASSWORD", value: "x" },
      { type: "OTP", value: "JBSWY3DPEHPK3PXP", section: { id: "s" } },
    ];
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields, urls: [{ href: "h", primary: true }] } });
    const { body: read } = await call("GET", `${items}/${item.id}`);
    for (const [method, path, body] of [
      ["PUT", `${items}/${item.id}`, read],
      ["PATCH", `${items}/${item.id}`, [{ op: "replace", path: "/", value: read }]],
      ["PATCH", `${items}/${item.id}`, []],
      ["POST", `${items}/${item.id}/archive`, undefined],
    ] as const) {
      const { status, headers } = await call(method, path, { body });
      expect([method, path, status, headers.get("Item-Vault-Ignored")]).toEqual([method, path, 200, null]);
    }
  });

  it("is absent in the dialect connect", async () => {
    const { items, call } = await freshVault("connect");
    const { status, headers } = await call("POST", items, { body: MISSPELLED });
    expect([status, headers.get("Item-Vault-Ignored")]).toEqual([200, null]);
  });

  it("has visible ASCII of at most 1,000 bytes, whatever the names are", async () => {
    const { items, call } = await sharedVault();
    const names = [
      "\u00e4\r\nSet-Cookie: x",
      "\ud800",
      "a,b",
      '"',
      "😀",
      "__proto__",
      ...Array.from({ length: 900 }, (_, i) => `n${i}`),
    ];
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1]))).replace("{", '{"category":"LOGIN",');
    const { status, headers } = await call("POST", items, { body });
    const header = headers.get("Item-Vault-Ignored")!;
    expect([
      status,
      header.length <= 1000,
      header.startsWith("%C3%A4%0D%0ASet-Cookie:%20x, %EF%BF%BD, a%2Cb, %22, %F0%9F%98%80, __proto__, n0"),
    ]).toEqual([200, true, true]);
    expect(headers.get("Set-Cookie")).toBeNull();
  });
});
