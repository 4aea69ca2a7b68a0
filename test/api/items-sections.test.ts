import { describe, expect, it } from "vitest";
import { freshVault, LOGIN } from "../support/service.ts";

/** Creates an Item with these sections and fields. Returns the response of GET, or that of POST if it failed. */
async function create(sections: unknown, fields: unknown[] = []) {
  const { items, call } = await freshVault();
  const reply = await call("POST", items, { body: { ...LOGIN, sections, fields } });
  return reply.status === 200 ? call("GET", `${items}/${reply.body.id}`) : reply;
}

describe("The sections of an Item", () => {
  it("are returned byte for byte, in the order of the request", async () => {
    const names = ["10", "2", "__proto__", "constructor", "a/b~c", "\u{1F5C2}\uFE0F", " spaces ", "\u00e9", "e\u0301", "1"];
    const sections = names.map((name) => ({ id: name, label: `${name} ` }));
    expect((await create(sections)).body.sections).toEqual(sections);
  });

  it.each([undefined, null, ""])(
    "get a generated id of 26 characters of lower-case base32 when the request has %j",
    async (id) => {
      const { body } = await create([{ id, label: "A" }, { id }]);
      expect(body.sections).toEqual([
        { id: expect.stringMatching(/^[a-z2-7]{26}$/), label: "A" },
        { id: expect.stringMatching(/^[a-z2-7]{26}$/), label: "" },
      ]);
      expect(body.sections[0].id).not.toBe(body.sections[1].id);
    },
  );

  it.each(["x", "__proto__", "constructor"])("are a 400 when two have the same id: %s", async (id) => {
    const { status, body } = await create([{ id }, { id: "other" }, { id }]);
    expect(status).toBe(400);
    expect(body.message).toContain("sections[2].id");
  });

  it("include each undeclared section that a field names once, after the declared ones", async () => {
    const named = ["b", "__proto__", "a", "b", "constructor"];
    const fields = named.map((id) => ({ section: { id } }));
    const { body } = await create([{ id: "a", label: "A" }], fields);
    expect(body.sections).toEqual([
      { id: "a", label: "A" },
      { id: "b", label: "" },
      { id: "__proto__", label: "" },
      { id: "constructor", label: "" },
    ]);
    expect(body.fields.map((field: { section: unknown }) => field.section)).toEqual(named.map((id) => ({ id })));
  });

  it("may share an id with a field", async () => {
    const { status, body } = await create([{ id: "x", label: "X" }], [{ id: "x", section: { id: "x" } }]);
    expect(status).toBe(200);
    expect(body.fields[0]).toMatchObject({ id: "x", section: { id: "x" } });
  });
});

describe("The section of a field", () => {
  it.each([undefined, null, {}, { id: "" }, { id: null }])("is absent when the request has %j", async (section) => {
    const { body } = await create(undefined, [{ id: "f", section }]);
    expect(body.sections).toEqual([]);
    expect(body.fields).toEqual([{ id: "f", type: "STRING", purpose: "", label: "", value: "" }]);
  });
});
