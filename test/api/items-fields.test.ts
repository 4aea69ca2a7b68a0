import { describe, expect, it } from "vitest";
import { freshVault, LOGIN, type Reply } from "../support/service.ts";

const TYPES = [
  ..."STRING EMAIL CONCEALED URL OTP DATE MONTH_YEAR MENU SSHKEY ADDRESS PHONE GENDER REFERENCE".split(" "),
  ..."FILE CREDIT_CARD_NUMBER CREDIT_CARD_TYPE".split(" "),
];
const BASE32 = /^[a-z2-7]{26}$/;

/** Creates an Item of these fields. */
async function create(...fields: unknown[]): Promise<Reply> {
  const { items, call } = await freshVault();
  return call("POST", items, { body: { ...LOGIN, fields } });
}

/** The one field of a new Item, as it comes back. */
const given = async (field: unknown): Promise<any> => (await create(field)).body.fields[0];

describe("The type of a field", () => {
  it.each(TYPES)("can be %s, in any case, and comes back in upper case", async (type) => {
    const { body } = await create({ type }, { type: type.toLowerCase() }, { type: type[0] + type.slice(1).toLowerCase() });
    expect(body.fields.map((field: { type: string }) => field.type)).toEqual([type, type, type]);
  });

  it.each(["TOTP", "totp", "Totp"])("can be written %s for OTP", async (type) => {
    expect((await given({ type })).type).toBe("OTP");
  });

  it.each([undefined, null, ""])("is STRING when it is %j", async (type) => {
    expect((await given({ type })).type).toBe("STRING");
  });

  it.each(["PASSWORD", "STRING ", "\u017fTRING", "__proto__", "constructor", 5, {}])("cannot be %j", async (type) => {
    const { status, body } = await create({}, { type });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1].type");
  });
});

describe("The purpose of a field", () => {
  it.each([
    ["USERNAME", "username", "STRING"],
    ["PASSWORD", "password", "CONCEALED"],
    ["NOTES", "notesPlain", "STRING"],
  ])("%s, in any case, names a field that has no name", async (purpose, name, type) => {
    for (const written of [purpose, purpose.toLowerCase()]) {
      for (const id of [undefined, null, ""]) {
        expect(await given({ id, purpose: written })).toEqual({ id: name, type, purpose, label: name, value: "" });
      }
    }
  });

  it.each(["USERNAME", "PASSWORD", "NOTES"])("%s leaves a given id and label as they are", async (purpose) => {
    expect(await given({ id: "x", label: "X", purpose })).toMatchObject({ id: "x", label: "X", purpose });
  });

  it.each(["STRING", "DATE", "OTP"])("PASSWORD makes the type %s CONCEALED", async (type) => {
    expect(await given({ purpose: "PASSWORD", type, value: "x" })).toMatchObject({ type: "CONCEALED", value: "x" });
  });

  it.each([undefined, null, ""])("is empty when it is %j", async (purpose) => {
    expect(await given({ id: "x", purpose })).toEqual({ id: "x", type: "STRING", purpose: "", label: "", value: "" });
  });

  it.each(["TOTP", "PASSWORD ", "\u017f", 1])("cannot be %j", async (purpose) => {
    const { status, body } = await create({}, { purpose });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1].purpose");
  });

  it.each(["USERNAME", "PASSWORD", "NOTES"])("%s can be that of one field only", async (purpose) => {
    const { status, body } = await create({ id: "a", purpose }, { id: "b", purpose: purpose.toLowerCase() });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1]");
  });

  it("each can be there once, beside many fields that have none", async () => {
    const { status, body } = await create({ purpose: "NOTES" }, {}, { purpose: "USERNAME" }, {}, { purpose: "PASSWORD" });
    expect(status).toBe(200);
    const purposes = body.fields.map((field: { purpose: string }) => field.purpose);
    expect(purposes).toEqual(["NOTES", "", "USERNAME", "", "PASSWORD"]);
  });
});

describe("The id of a field", () => {
  it.each([undefined, null, ""])("is 26 characters of lower-case base32 when it is %j", async (id) => {
    const { body } = await create({ id }, { id });
    const ids = body.fields.map((field: { id: string }) => field.id);
    expect(ids).toEqual([expect.stringMatching(BASE32), expect.stringMatching(BASE32)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("comes back byte for byte, with its label, in the given order", async () => {
    const names = [
      "10",
      "2",
      "__proto__",
      "constructor",
      "toString",
      "a/b~c",
      "~1",
      "\u{1F511}",
      " spaces  ",
      "\u00e9",
      "e\u0301",
    ];
    const fields = [...names, "A", "a", "\u0000", '"\\', "1"].map((name) => ({ id: name, label: `${name} `, value: name }));
    const { items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields } });
    const whole = fields.map(({ id, label, value }) => ({ id, label, value, type: "STRING", purpose: "" }));
    expect(item.fields).toEqual(whole);
    expect((await call("GET", `${items}/${item.id}`)).body.fields).toEqual(whole);
  });

  it.each(["x", "__proto__", "constructor"])("cannot be that of two fields: %s", async (id) => {
    const { status, body } = await create({ id }, { id: "other" }, { id });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[2].id");
  });

  it("cannot be that of a field whose purpose named it", async () => {
    expect((await create({ purpose: "PASSWORD" }, { id: "password" })).status).toBe(400);
  });

  it.each([{ id: 5 }, { label: 5 }, { value: 5 }, { value: {} }, { section: "s" }, { generate: "yes" }, "x"])(
    "and the others have their types: %j is a 400",
    async (field) => {
      const { status, body } = await create(field);
      expect(status).toBe(400);
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/^fields\[0\]/) });
    },
  );
});
