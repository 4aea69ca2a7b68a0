import { describe, expect, it } from "vitest";
import { tagAt } from "../support/etags.ts";
import { LOGIN, makeVault, shareVault } from "../support/service.ts";

const sharedVault = shareVault();
/** The requests to it are refused, so it has no Item. */
const emptyVault = shareVault();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const CATEGORIES = [
  ..."LOGIN PASSWORD API_CREDENTIAL SERVER DATABASE CREDIT_CARD MEMBERSHIP PASSPORT SOFTWARE_LICENSE".split(" "),
  ..."OUTDOOR_LICENSE SECURE_NOTE WIRELESS_ROUTER BANK_ACCOUNT DRIVER_LICENSE IDENTITY REWARD_PROGRAM DOCUMENT".split(" "),
  ..."EMAIL_ACCOUNT SOCIAL_SECURITY_NUMBER MEDICAL_RECORD SSH_KEY CUSTOM".split(" "),
];

describe("POST /v1/vaults/{v}/items", () => {
  it("answers 200 with the whole Item; absent lists are empty", async () => {
    const { vault, items, call } = await sharedVault();
    const { status, headers, body } = await call("POST", items, { body: LOGIN });
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      title: "Login",
      vault: { id: vault, name: "Test" },
      category: "LOGIN",
      urls: [],
      favorite: false,
      tags: [],
      version: 1,
      createdAt: expect.stringMatching(TIME),
      updatedAt: body.createdAt,
      lastEditedBy: expect.stringMatching(UUID),
      sections: [],
      fields: [],
      files: [],
    });
  });

  it("returns an ETag with the version", async () => {
    const { items, call } = await sharedVault();
    expect((await call("POST", items, { body: LOGIN })).headers.get("ETag")).toEqual(tagAt(1));
  });

  it("returns all attributes of the request, lists in the order of the request (contract 2.3, 2.13)", async () => {
    const { items, call } = await sharedVault();
    const attributes = {
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
        { id: "b", type: "STRING", label: "B", value: "1", section: { id: "s1" } },
        { id: "a", type: "URL", label: "", value: "2" },
      ],
    };
    const { body: item } = await call("POST", items, { body: attributes });
    expect(item).toMatchObject(attributes);
    expect((await call("GET", `${items}/${item.id}`)).body).toEqual(item);
  });

  it.each(CATEGORIES)("accepts the category %s in any case and returns it in upper case (contract 2.9)", async (category) => {
    const { items, call } = await sharedVault();
    const fields = [{ purpose: "PASSWORD" }];
    for (const spelling of [category, category.toLowerCase(), category[0]! + category.slice(1).toLowerCase()]) {
      expect((await call("POST", items, { body: { category: spelling, fields } })).body).toMatchObject({ category });
    }
  });

  it.each([undefined, null, "", "LOGINS", "LOGIN ", "SSH-KEY", "\u017fSH_KEY", "__proto__", 5, true, ["LOGIN"], {}])(
    "refuses the category %j",
    async (category) => {
      const { items, call } = await sharedVault();
      const { status, body } = await call("POST", items, { body: { title: "x", category } });
      expect(status).toBe(400);
      expect(body).toEqual({ status: 400, message: "Invalid item category" });
    },
  );

  it("refuses a PASSWORD Item without a field of purpose PASSWORD, whatever its fields are named, and stores nothing (contract 2.21)", async () => {
    const { items, call } = await emptyVault();
    const body = { category: "password", fields: [{ id: "password", label: "password", type: "CONCEALED", value: "x" }] };
    expect((await call("POST", items, { body })).body).toEqual({
      status: 400,
      message: "The item doesn't have a password field.",
    });
    expect((await call("GET", items)).body).toEqual([]);
  });
});

describe("The body of a new Item", () => {
  it.each([
    ["an array", []],
    ["null", "null"],
    ["a string", '"x"'],
    ["a number", "5"],
    ["not JSON", "{title:"],
    ["absent", undefined],
    ["an Item with a url without href", { ...LOGIN, urls: [{ label: "x" }] }],
    ["an Item with tags that are not strings", { ...LOGIN, tags: [1] }],
    ["an Item with fields that are not an array", { ...LOGIN, fields: {} }],
    ["an Item with a title that is not a string", { ...LOGIN, title: 5 }],
    ["an Item with a favorite that is not a boolean", { ...LOGIN, favorite: "yes" }],
    ["an Item with a vault that is not an object", { ...LOGIN, vault: "x" }],
  ])("is a 400 that stores nothing when it is %s", async (_, body) => {
    const { items, call } = await emptyVault();
    const reply = await call("POST", items, { body });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ status: 400, message: expect.stringMatching(/./) });
    expect((await call("GET", items)).body).toEqual([]);
  });

  it("may contain the vault's name as vault.id, as some clients send it, which is ignored", async () => {
    const { vault, items, call } = await sharedVault();
    const { status, body } = await call("POST", items, { body: { ...LOGIN, vault: { id: "staging" } } });
    expect([status, body.vault]).toEqual([200, { id: vault, name: "Test" }]);
  });

  it("is a 400 when it names another vault than the path", async () => {
    const { items, call } = await sharedVault();
    const { status, body } = await call("POST", items, { body: { ...LOGIN, vault: { id: await makeVault() } } });
    expect(status).toBe(400);
    expect(body.message).toContain("vault");
  });
});
