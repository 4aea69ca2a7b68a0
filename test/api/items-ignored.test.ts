import { describe, expect, it } from "vitest";
import { LOGIN, shareVault } from "../support/service.ts";

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
