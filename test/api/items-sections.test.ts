import { describe, expect, it } from "vitest";
import { LOGIN, shareVault } from "../support/service.ts";

/** The sections of an Item, and of its fields (contract 2.13 to 2.15 and 2.22). */

const sharedVault = shareVault();

/** Creates an Item with these sections and fields. Returns the response of GET, or that of POST if it failed. */
async function create(sections: unknown, fields: unknown[] = []) {
  const { items, call } = await sharedVault();
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
    expect(body.fields.map((field: { section: { id: string } }) => field.section.id)).toEqual(named);
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
    expect(body.fields).toEqual([{ id: "f", type: "STRING", label: "", value: "" }]);
  });

  it("has the label of the section in answers, where the section has one of at most 1 KiB", async () => {
    const [longest, tooLong] = ["é".repeat(512), "x".repeat(1025)];
    const sections = Object.entries({ a: "A", b: "", c: longest, d: tooLong }).map(([id, label]) => ({ id, label }));
    const { body } = await create(
      sections,
      sections.map(({ id }) => ({ section: { id } })),
    );
    expect(body.fields.map(({ section }: any) => section)).toEqual([
      { id: "a", label: "A" },
      { id: "b" },
      { id: "c", label: longest },
      { id: "d" },
    ]);
    expect(body.sections).toEqual(sections);
  });

  it("changes nothing in a PUT of what GET answered, and renames no section", async () => {
    const { items, call } = await sharedVault();
    const sections = [{ id: "a", label: "A" }, { id: "b" }];
    const fields = [
      { id: "f", section: { id: "a" } },
      { section: { id: "b" } },
      { section: { id: "c", label: "C" } },
      { id: "g" },
    ];
    const { body: created } = await call("POST", items, { body: { ...LOGIN, sections, fields } });
    const path = `${items}/${created.id}`;
    const got = (await call("GET", path)).body;
    expect(got).toEqual(created);
    const { body: put } = await call("PUT", path, { body: got });
    expect([put.sections, put.fields]).toEqual([got.sections, got.fields]);
    const renamed = await call("PUT", path, {
      body: { ...got, sections: [{ id: "a", label: "New" }, ...got.sections.slice(1)] },
    });
    expect(renamed.body.sections[0]).toEqual({ id: "a", label: "New" });
    expect(renamed.body.fields[0].section).toEqual({ id: "a", label: "New" });
    const patch = [{ op: "replace", path: "/fields/f/section", value: { id: "a", label: "Other" } }];
    const patched = (await call("PATCH", path, { body: patch })).body;
    expect(patched.fields[0].section).toEqual({ id: "a", label: "New" });
    expect(patched.sections).toEqual(renamed.body.sections);
  });

  it("is declared with its label by a PUT without the list of sections", async () => {
    const { vault, items, call } = await sharedVault();
    const { body: created } = await call("POST", items, { body: { ...LOGIN, fields: [{ section: { id: "a", label: "A" } }] } });
    const body = { ...created, vault: { id: vault }, sections: undefined };
    expect((await call("PUT", `${items}/${created.id}`, { body })).body.sections).toEqual([{ id: "a", label: "A" }]);
  });
});
