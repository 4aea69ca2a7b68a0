import { describe, expect, it } from "vitest";
import { freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/** Attributes that are ignored: read-only, unknown and absent ones (contract 2.16, 2.17 and 2.19). */

const sharedVault = shareVault();

const ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const RECENT = Date.parse("2020-01-01");

describe("A new Item", () => {
  it("ignores the read-only attributes", async () => {
    const { items, call } = await sharedVault();
    const times = { createdAt: "2001-01-01T00:00:00Z", updatedAt: "2001-01-01T00:00:00Z" };
    const readOnly = {
      id: ID,
      version: 99,
      ...times,
      lastEditedBy: ID,
      state: "ARCHIVED",
      files: [{ id: "f", name: "f", size: 1 }],
    };
    const { body } = await call("POST", items, { body: { ...LOGIN, ...readOnly } });
    const { body: expected } = await call("POST", items, { body: LOGIN });
    const { id, createdAt } = body;
    expect(body).toEqual({ ...expected, id, createdAt, updatedAt: createdAt });
    expect([id === ID, Date.parse(createdAt) > RECENT]).toEqual([false, true]);
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
    const reply = await call("POST", items, { body: { ...LOGIN, ...wrongTypes, fields: [{ entropy: "x", totp: {} }] } });
    expect(reply).toMatchObject({ status: 200, body: { version: 1, files: [] } });
  });

  it("drops unknown attributes, at every level", async () => {
    const { items, call } = await sharedVault();
    const unknown = { colour: "red", constructor: 1 };
    const { body: item } = await call("POST", items, {
      body: {
        ...LOGIN,
        ...unknown,
        urls: [{ href: "u", ...unknown }],
        sections: [{ id: "s", label: "S", ...unknown }],
        fields: [{ id: "f", section: { id: "s", ...unknown }, ...unknown }],
      },
    });
    expect(Object.keys(item).filter((name) => Object.hasOwn(unknown, name))).toEqual([]);
    expect([item.urls, item.sections, item.fields]).toEqual([
      [{ href: "u" }],
      [{ id: "s", label: "S" }],
      [{ id: "f", section: { id: "s", label: "S" }, type: "STRING", label: "", value: "" }],
    ]);
  });

  it.each([
    ..."id title urls favorite tags version state createdAt sections fields files vault"
      .split(" ")
      .map((name) => ({ [name]: null })),
    { id: "" },
    { vault: { id: "" } },
    { vault: {} },
    { vault: { id: null } },
    { createdAt: "0001-01-01T00:00:00Z" },
  ])("is accepted with an attribute that counts as absent: %j", async (absent) => {
    const { items, vault, call } = await sharedVault();
    const { status, body } = await call("POST", items, { body: { title: "", category: "LOGIN", ...absent } });
    const empty = { title: "", favorite: false, urls: [], tags: [], sections: [], fields: [], files: [] };
    expect([status, body]).toMatchObject([200, { ...empty, version: 1, vault: { id: vault } }]);
    expect([body.id.length, Date.parse(body.createdAt) > RECENT]).toEqual([36, true]);
  });
});

const ignoredOf = ({ status, headers }: Reply) => [status, headers.get("Item-Vault-Ignored")];

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
    const put = await call("PUT", `${items}/${posted.body.id}`, { body: { ...MISSPELLED, vault: { uuid: "u", id: vault } } });
    expect([posted, put].map(ignoredOf)).toEqual([
      [200, NAMES],
      [200, NAMES],
    ]);
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
    const names = "[0].from, [1].value.lable, [2].value.titel, [3].value.titel, [3].value.fields[0].lable";
    expect(ignoredOf(await call("PATCH", `${items}/${item.id}`, { body }))).toEqual([200, names]);
  });

  it("is absent when a client sends back what it has read, and in an answer without a body of the request", async () => {
    const { items, call } = await sharedVault();
    const fields = [
      { purpose: "PASSWORD", value: "x" },
      { type: "OTP", value: "JBSWY3DPEHPK3PXP", section: { id: "s" } },
    ];
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields, urls: [{ href: "h", primary: true }] } });
    const path = `${items}/${item.id}`;
    const { body: read } = await call("GET", path);
    for (const [method, target, body] of [
      ["PUT", path, read],
      ["PATCH", path, [{ op: "replace", path: "/", value: read }]],
      ["PATCH", path, []],
      ["POST", `${path}/archive`, undefined],
    ] as const)
      expect([method, ...ignoredOf(await call(method, target, { body }))]).toEqual([method, 200, null]);
  });

  it("is absent in the dialect connect", async () => {
    const { items, call } = await freshVault("connect");
    expect(ignoredOf(await call("POST", items, { body: MISSPELLED }))).toEqual([200, null]);
  });

  it("has visible ASCII of at most 1,000 bytes, whatever the names are", async () => {
    const { items, call } = await sharedVault();
    const names = ["\u00e4\r\nSet-Cookie: x", "\ud800", "a,b", '"', "😀", "__proto__"];
    const all = [...names, ...Array.from({ length: 900 }, (_, i) => `n${i}`)].map((name) => [name, 1]);
    const body = JSON.stringify(Object.fromEntries(all)).replace("{", '{"category":"LOGIN",');
    const { status, headers } = await call("POST", items, { body });
    const header = headers.get("Item-Vault-Ignored")!;
    const first = "%C3%A4%0D%0ASet-Cookie:%20x, %EF%BF%BD, a%2Cb, %22, %F0%9F%98%80, __proto__, n0";
    expect([status, header.length <= 1000, header.slice(0, first.length)]).toEqual([200, true, first]);
    expect(headers.get("Set-Cookie")).toBeNull();
  });
});
