import { describe, expect, it } from "vitest";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { LOGIN, type Reply, shareVault } from "../support/service.ts";

/** The fields of an Item (contract 2.4, 2.7, 2.9, 2.12 and 2.13). */

const sharedVault = shareVault();

const BASE32 = /^[a-z2-7]{26}$/;

/** Creates an Item of these fields. */
async function create(...fields: unknown[]): Promise<Reply> {
  const { items, call } = await sharedVault();
  return call("POST", items, { body: { ...LOGIN, fields } });
}

/** Creates an Item with this field and returns the field of the response. */
const createField = async (field: unknown): Promise<any> => (await create(field)).body.fields[0];

describe("The type of a field", () => {
  it.each(FIELD_TYPE_NAMES)("can be %s in any case and is returned in upper case", async (type) => {
    const { body } = await create({ type }, { type: type.toLowerCase() }, { type: type[0] + type.slice(1).toLowerCase() });
    expect(body.fields.map((field: { type: string }) => field.type)).toEqual([type, type, type]);
  });

  it.each(["TOTP", "totp", "Totp"])("can be %s, another name of OTP", async (type) => {
    expect((await createField({ type })).type).toBe("OTP");
  });

  it.each([undefined, null, ""])("is STRING when the request has %j", async (type) => {
    expect((await createField({ type })).type).toBe("STRING");
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
  ])("%s, in any case, gives a field its id and label when they are absent", async (purpose, defaultName, type) => {
    for (const spelling of [purpose, purpose.toLowerCase()]) {
      for (const id of [undefined, null, ""]) {
        expect(await createField({ id, purpose: spelling })).toEqual({
          id: defaultName,
          type,
          purpose,
          label: defaultName,
          value: "",
        });
      }
    }
  });

  it.each(["USERNAME", "PASSWORD", "NOTES"])("%s does not change an id and a label of the request", async (purpose) => {
    expect(await createField({ id: "x", label: "X", purpose })).toMatchObject({ id: "x", label: "X", purpose });
  });

  it.each(["STRING", "DATE", "OTP"])("PASSWORD makes the type %s CONCEALED", async (type) => {
    expect(await createField({ purpose: "PASSWORD", type, value: "x" })).toMatchObject({ type: "CONCEALED", value: "x" });
  });

  it.each([undefined, null, ""])("is absent when the request has %j", async (purpose) => {
    expect(await createField({ id: "x", purpose })).toEqual({ id: "x", type: "STRING", label: "", value: "" });
  });

  it.each(["TOTP", "PASSWORD ", "\u017f", 1])("cannot be %j", async (purpose) => {
    const { status, body } = await create({}, { purpose });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[1].purpose");
  });

  it.each(["USERNAME", "PASSWORD", "NOTES"])("%s is a 400 on a second field", async (purpose) => {
    const { status, body } = await create({ id: "a", purpose }, { id: "b", purpose: purpose.toLowerCase() });
    expect(status).toBe(400);
    expect(body.message).toBe(`fields[1].purpose: another field has the purpose ${purpose}`);
  });

  it("is what the 400 names for two fields of one purpose without ids", async () => {
    const { status, body } = await create({ purpose: "PASSWORD" }, { purpose: "PASSWORD" });
    expect([status, body.message]).toEqual([400, "fields[1].purpose: another field has the purpose PASSWORD"]);
  });

  it("may be each of the three once, beside fields without a purpose", async () => {
    const { status, body } = await create({ purpose: "NOTES" }, {}, { purpose: "USERNAME" }, {}, { purpose: "PASSWORD" });
    expect(status).toBe(200);
    const purposes = body.fields.map((field: { purpose?: string }) => field.purpose);
    expect(purposes).toEqual(["NOTES", undefined, "USERNAME", undefined, "PASSWORD"]);
  });
});

describe("The id of a field", () => {
  it.each([undefined, null, ""])("is generated as 26 characters of lower-case base32 when the request has %j", async (id) => {
    const { body } = await create({ id }, { id });
    const ids = body.fields.map((field: { id: string }) => field.id);
    expect(ids).toEqual([expect.stringMatching(BASE32), expect.stringMatching(BASE32)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("is returned byte for byte, with its label, in the order of the request", async () => {
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
    const { items, call } = await sharedVault();
    const { body: item } = await call("POST", items, { body: { ...LOGIN, fields } });
    const expected = fields.map(({ id, label, value }) => ({ id, label, value, type: "STRING" }));
    expect(item.fields).toEqual(expected);
    expect((await call("GET", `${items}/${item.id}`)).body.fields).toEqual(expected);
  });

  it.each(["x", "__proto__", "constructor"])("is a 400 when two fields have it: %s", async (id) => {
    const { status, body } = await create({ id }, { id: "other" }, { id });
    expect(status).toBe(400);
    expect(body.message).toContain("fields[2].id");
  });

  it("is a 400 when it equals the id that a purpose gives to another field", async () => {
    expect((await create({ purpose: "PASSWORD" }, { id: "password" })).status).toBe(400);
  });

  it.each([{ id: 5 }, { label: 5 }, { value: 5 }, { value: {} }, { section: "s" }, { generate: "yes" }, "x"])(
    "is a 400 when it, or another attribute, has the wrong type: %j",
    async (field) => {
      const { status, body } = await create(field);
      expect(status).toBe(400);
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/^fields\[0\]/) });
    },
  );
});
