import { describe, expect, it } from "vitest";
import { LOGIN, shareVault } from "../support/service.ts";

/** Every path of contract 6.3 with each operation that succeeds on it. */

const sharedVault = shareVault();

const ONE = { href: "https://one.test", label: "one", primary: true };
const TWO = { href: "https://two.test" };
const USER = { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "ann" };
const F1 = { id: "f1", section: { id: "s1" }, type: "EMAIL", label: "One", value: "1" };
const F2 = { id: "f2", type: "STRING", label: "Two", value: "2" };
const S1 = { id: "s1", label: "First" };
const S2 = { id: "s2", label: "Second" };
const S3 = { id: "s3", label: "3" };
const NO_PURPOSE = { ...USER, purpose: undefined };
const FREE = { ...F1, section: undefined };
const RESET = { ...F2, label: "", value: "x" };
const fieldsWith = (first: object, second: object = F2) => ({ fields: [USER, first, second] });
const ITEM = {
  title: "Old",
  category: "LOGIN",
  favorite: true,
  tags: ["a", "b"],
  urls: [ONE, TWO],
  sections: [S1, S2],
  fields: [USER, F1, F2],
};

type Op = readonly [op: "add" | "replace" | "remove", path: string, value?: unknown];

/** Creates the Item and patches it. Returns the Item before, the reply, and the Item that GET returns afterwards. */
async function patchItem(...operations: Op[]) {
  const { items, call } = await sharedVault();
  const { body: before } = await call("POST", items, { body: ITEM });
  const path = `${items}/${before.id}`;
  const body = operations.map(([op, to, value]) => ({ op, path: to, value }));
  const reply = await call("PATCH", path, { body });
  const after = withoutLabels((await call("GET", path)).body);
  return { before: withoutLabels(before), reply: { ...reply, body: withoutLabels(reply.body) }, after };
}

/** The Item without the labels that its fields' sections have in answers: they are those of its sections (contract 2.22). */
const withoutLabels = (item: any) => ({
  ...item,
  fields: item.fields.map(({ section, ...field }: any) => ({ ...field, section: section && { id: section.id } })),
});

const NEW = { id: "new", label: "New", value: "n" };
const NEW_FIELD = { ...NEW, type: "STRING" };
const OPERATIONS: [rule: string, operation: Op, changes: object][] = [
  ["add sets the title", ["add", "/title", "New"], { title: "New" }],
  ["replace sets the title", ["replace", "/title", "New"], { title: "New" }],
  ["remove empties the title", ["remove", "/title"], { title: "" }],
  ["add sets the category, in any case", ["add", "/category", "server"], { category: "SERVER" }],
  ["replace sets the category", ["replace", "/category", "DATABASE"], { category: "DATABASE" }],
  ["add sets favorite", ["add", "/favorite", false], { favorite: false }],
  ["replace sets favorite", ["replace", "/favorite", false], { favorite: false }],
  ["remove sets favorite to false", ["remove", "/favorite"], { favorite: false }],

  ["add sets all tags", ["add", "/tags", ["x"]], { tags: ["x"] }],
  ["replace sets all tags", ["replace", "/tags", []], { tags: [] }],
  ["remove empties the tags", ["remove", "/tags"], { tags: [] }],
  ["add inserts a tag before the tag at its index", ["add", "/tags/1", "x"], { tags: ["a", "x", "b"] }],
  ["add with the index - appends a tag", ["add", "/tags/-", "x"], { tags: ["a", "b", "x"] }],
  ["add with the index after the last tag appends a tag", ["add", "/tags/2", "x"], { tags: ["a", "b", "x"] }],
  ["replace replaces one tag", ["replace", "/tags/0", "x"], { tags: ["x", "b"] }],
  ["remove removes one tag", ["remove", "/tags/0"], { tags: ["b"] }],

  ["add sets all urls", ["add", "/urls", [TWO]], { urls: [TWO] }],
  ["replace sets all urls", ["replace", "/urls", [TWO]], { urls: [TWO] }],
  ["remove empties the urls", ["remove", "/urls"], { urls: [] }],
  ["add inserts a url before the url at its index", ["add", "/urls/0", { href: "" }], { urls: [{ href: "" }, ONE, TWO] }],
  ["add with the index - appends a url", ["add", "/urls/-", { href: "x" }], { urls: [ONE, TWO, { href: "x" }] }],
  ["replace replaces one url", ["replace", "/urls/0", { href: "x" }], { urls: [{ href: "x" }, TWO] }],
  ["remove removes one url", ["remove", "/urls/1"], { urls: [ONE] }],
  ["add sets an attribute of a url", ["add", "/urls/1/label", "two"], { urls: [ONE, { ...TWO, label: "two" }] }],
  ["replace sets an attribute of a url", ["replace", "/urls/1/href", ""], { urls: [ONE, { href: "" }] }],
  ["remove removes an attribute of a url", ["remove", "/urls/0/primary"], { urls: [{ href: ONE.href, label: "one" }, TWO] }],

  ["add of one section appends the section", ["add", "/sections", S3], { sections: [S1, S2, S3] }],
  ["add with - appends a section", ["add", "/sections/-", S3], { sections: [S1, S2, S3] }],
  ["add of an array sets all sections", ["add", "/sections", [S1]], { sections: [S1] }],
  ["replace sets all sections", ["replace", "/sections", [S2, S1]], { sections: [S2, S1] }],
  ["add with a new id appends a section", ["add", "/sections/s3", { label: "3" }], { sections: [S1, S2, S3] }],
  [
    "add with an existing id replaces the section",
    ["add", "/sections/s1", { label: "3" }],
    { sections: [{ ...S3, id: "s1" }, S2] },
  ],
  ["replace replaces a section", ["replace", "/sections/s2", { label: "3" }], { sections: [S1, { ...S3, id: "s2" }] }],
  ["remove removes an empty section", ["remove", "/sections/s2"], { sections: [S1] }],
  ["remove of a section keeps its fields, without one", ["remove", "/sections/s1"], { sections: [S2], ...fieldsWith(FREE) }],
  ["remove of all sections keeps all fields, without one", ["remove", "/sections"], { sections: [], ...fieldsWith(FREE) }],
  ["add sets the label of a section", ["add", "/sections/s1/label", "x"], { sections: [{ id: "s1", label: "x" }, S2] }],
  ["replace sets the label of a section", ["replace", "/sections/s2/label", "x"], { sections: [S1, { id: "s2", label: "x" }] }],
  ["remove empties the label of a section", ["remove", "/sections/s1/label"], { sections: [{ id: "s1", label: "" }, S2] }],

  ["add appends one field", ["add", "/fields", NEW], { fields: [USER, F1, F2, NEW_FIELD] }],
  ["add with - appends one field", ["add", "/fields/-", NEW], { fields: [USER, F1, F2, NEW_FIELD] }],
  ["replace sets all fields", ["replace", "/fields", [NEW]], { fields: [NEW_FIELD] }],
  ["remove removes all fields", ["remove", "/fields"], { fields: [] }],
  ["add with a new id appends a field", ["add", "/fields/new", { ...NEW, id: undefined }], { fields: [USER, F1, F2, NEW_FIELD] }],
  ["add with an existing id replaces the field", ["add", "/fields/f1", { value: "x" }], fieldsWith({ ...RESET, id: "f1" })],
  ["replace replaces a field", ["replace", "/fields/f2", { label: "L" }], fieldsWith(F1, { ...F2, label: "L", value: "" })],
  ["remove removes a field", ["remove", "/fields/username"], { fields: [F1, F2] }],
  ["add sets an attribute of a field", ["add", "/fields/f2/value", "x"], fieldsWith(F1, { ...F2, value: "x" })],
  ["replace sets an attribute of a field", ["replace", "/fields/f1/label", "x"], fieldsWith({ ...F1, label: "x" })],
  ["remove empties the value of a field", ["remove", "/fields/f2/value"], fieldsWith(F1, { ...F2, value: "" })],
  [
    "replace sets the type of a field, in any case",
    ["replace", "/fields/f2/type", "email"],
    fieldsWith(F1, { ...F2, type: "EMAIL" }),
  ],
  ["remove resets the type of a field to STRING", ["remove", "/fields/f1/type"], fieldsWith({ ...F1, type: "STRING" })],
  ["remove empties the purpose of a field", ["remove", "/fields/username/purpose"], { fields: [NO_PURPOSE, F1, F2] }],
  ["replace with an empty text does too", ["replace", "/fields/username/purpose", ""], { fields: [NO_PURPOSE, F1, F2] }],
  [
    "replace of the section moves a field",
    ["replace", "/fields/f1/section", { id: "s2" }],
    fieldsWith({ ...F1, section: { id: "s2" } }),
  ],
  ["remove of the section makes a field one without a section", ["remove", "/fields/f1/section"], fieldsWith(FREE)],
  [
    "add of an undeclared section to a field adds the section",
    ["add", "/fields/f2/section", S3],
    { ...fieldsWith(F1, { ...F2, section: { id: "s3" } }), sections: [S1, S2, S3] },
  ],
];

describe("PATCH with one operation", () => {
  it.each(OPERATIONS)("%s, and changes nothing else", async (_, operation, changes) => {
    const { before, reply, after } = await patchItem(operation);
    expect(reply.body).toEqual({ ...before, ...changes, version: 2, updatedAt: reply.body.updatedAt });
    expect([reply.status, after]).toEqual([200, reply.body]);
  });
});

describe("PATCH with add to -", () => {
  it.each(["fields", "sections"] as const)("appends each entry of %s with an id of its own", async (list) => {
    const values = ["one", "two", "two"].map((label) => ({ label }));
    const { reply, before, after } = await patchItem(...values.map((value): Op => ["add", `/${list}/-`, value]));
    const added = after[list].slice(before[list].length);
    expect([reply.status, added.map(({ label }: any) => label)]).toEqual([200, ["one", "two", "two"]]);
    expect(new Set(added.map(({ id }: any) => id)).size).toBe(3);
    expect(added.map(({ id }: any) => id)).not.toContain("-");
  });
});

describe("the op of an operation", () => {
  it.each([
    ["ADD", "REPLACE", "REMOVE"],
    ["Add", "Replace", "Remove"],
    ["aDD", "rEpLaCe", "removE"],
  ])("is accepted in any case: %s, %s, %s", async (add, replace, remove) => {
    const { items, call } = await sharedVault();
    const { body: before } = await call("POST", items, { body: ITEM });
    const body = [
      { op: add, path: "/tags/-", value: "c" },
      { op: replace, path: "/title", value: "New" },
      { op: remove, path: "/urls" },
    ];
    const { status, body: after } = await call("PATCH", `${items}/${before.id}`, { body });
    expect([status, after.tags, after.title, after.urls]).toEqual([200, ["a", "b", "c"], "New", []]);
  });
});

/** The order of operations, the path `/` and generated values of PATCH (contract 6.1, 6.4, 6.7, 6.10, 6.11 and 7.1). */

async function makeItem(item: object = LOGIN) {
  const { vault, items, call } = await sharedVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  return { vault, before, patch: (...operations: object[]) => call("PATCH", path, { body: operations }) };
}

describe("PATCH with several operations", () => {
  it("applies each operation to the result of the one before it, and raises the version by 1", async () => {
    const { patch } = await makeItem({ ...LOGIN, tags: ["a", "b", "c"] });
    const { body } = await patch(
      { op: "remove", path: "/tags/0" },
      { op: "replace", path: "/tags/0", value: "B" },
      { op: "add", path: "/tags/0", value: "first" },
      { op: "replace", path: "/title", value: "one" },
      { op: "replace", path: "/title", value: "two" },
    );
    expect(body).toMatchObject({ tags: ["first", "B", "c"], title: "two", version: 2 });
  });

  it("finds a field that an earlier operation created, by its id", async () => {
    const { patch } = await makeItem();
    const { body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", value: "1" } },
      { op: "replace", path: "/fields/x/value", value: "2" },
    );
    expect(body.fields).toMatchObject([{ id: "x", value: "2" }]);
  });

  it("finds a field that an earlier operation created, by the id that its purpose gives", async () => {
    const { patch } = await makeItem();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { purpose: "USERNAME", value: "ann" } },
      { op: "replace", path: "/fields/username/value", value: "bob" },
    );
    expect({ status, fields: body.fields }).toMatchObject({ status: 200, fields: [{ id: "username", value: "bob" }] });
  });

  it("finds a section that a field of an earlier operation added", async () => {
    const { patch } = await makeItem();
    const { status, body } = await patch(
      { op: "add", path: "/fields", value: { id: "x", section: { id: "s" } } },
      { op: "replace", path: "/sections/s/label", value: "Label" },
    );
    expect({ status, sections: body.sections }).toEqual({ status: 200, sections: [{ id: "s", label: "Label" }] });
  });

  it("decodes ~1 as / and ~0 as ~ in an id", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ id: "a/b~1" }] });
    const { body } = await patch({ op: "replace", path: "/fields/a~1b~01/value", value: "found" });
    expect(body.fields).toMatchObject([{ id: "a/b~1", value: "found" }]);
  });
});

describe("PATCH of /", () => {
  it("replaces the whole Item and resets the attributes that the value does not contain", async () => {
    const { before, patch } = await makeItem({ ...LOGIN, tags: ["a"], favorite: true, fields: [{ id: "x" }] });
    const { body } = await patch({ op: "replace", path: "/", value: { title: "New", category: "SERVER" } });
    const rest = { version: 2, updatedAt: body.updatedAt };
    expect(body).toEqual({ ...before, title: "New", category: "SERVER", tags: [], favorite: false, fields: [], ...rest });
  });

  it("keeps the category if the value has none", async () => {
    const { patch } = await makeItem({ ...LOGIN, category: "SERVER" });
    expect((await patch({ op: "replace", path: "/", value: { title: "New" } })).body.category).toBe("SERVER");
  });

  it("keeps the category that an earlier operation set", async () => {
    const { patch } = await makeItem();
    const { body } = await patch(
      { op: "replace", path: "/category", value: "SERVER" },
      { op: "replace", path: "/", value: { title: "New" } },
    );
    expect(body.category).toBe("SERVER");
  });

  it("ignores the read-only attributes of the value, so that clients can send an Item back as they read it", async () => {
    const { before, patch } = await makeItem({ ...LOGIN, fields: [{ id: "x", value: "1" }] });
    const { body } = await patch({
      op: "replace",
      path: "/",
      value: { ...before, title: "New", version: 77, state: "ARCHIVED" },
    });
    expect(body).toEqual({ ...before, title: "New", version: 2, updatedAt: body.updatedAt });
  });

  it("is the state to which later operations apply", async () => {
    const { patch } = await makeItem({ ...LOGIN, tags: ["a"] });
    const { body } = await patch(
      { op: "replace", path: "/", value: { title: "New", tags: ["x"] } },
      { op: "add", path: "/tags/-", value: "y" },
    );
    expect(body.tags).toEqual(["x", "y"]);
  });

  it("refuses a value that names another vault than the path", async () => {
    const { patch } = await makeItem();
    const value = { ...LOGIN, vault: { id: crypto.randomUUID() } };
    expect((await patch({ op: "replace", path: "/", value })).status).toBe(400);
  });
});

describe("a section that a field names", () => {
  const named = { ...LOGIN, fields: [{ id: "f", section: { id: "s" }, value: "x" }], sections: [{ id: "s", label: "before" }] };
  const label = { op: "replace", path: "/sections/s/label", value: "after" };

  it("is declared again, without its label, when the sections are replaced, and the next operation can name it", async () => {
    const { patch } = await makeItem(named);
    const { status, body } = await patch({ op: "replace", path: "/sections", value: [] }, label);
    expect([status, body.sections]).toEqual([200, [{ id: "s", label: "after" }]]);
  });

  it("is declared when the field gets it, and the next operation can name it", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ id: "f", value: "x" }] });
    const { body } = await patch({ op: "add", path: "/fields/f/section", value: { id: "s" } }, label);
    expect(body.sections).toEqual([{ id: "s", label: "after" }]);
  });

  it("is gone for the next operation when it was removed", async () => {
    const { patch } = await makeItem(named);
    expect((await patch({ op: "remove", path: "/sections/s" }, label)).status).toBe(400);
  });
});

describe("PATCH with generate", () => {
  const field = { id: "p", purpose: "PASSWORD" };
  const recipe = { length: 6, characterSets: ["DIGITS"] };

  it("generates a value for an added field without a value", async () => {
    const { patch } = await makeItem();
    const { body } = await patch({ op: "add", path: "/fields", value: { ...field, generate: true, recipe } });
    expect(body.fields).toMatchObject([{ value: expect.stringMatching(/^\d{6}$/), entropy: 19.93 }]);
  });

  it("generates a value for an existing field without a value, by its attributes generate and recipe", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [field] });
    const { body } = await patch(
      { op: "add", path: "/fields/p/generate", value: true },
      { op: "add", path: "/fields/p/recipe", value: recipe },
    );
    expect(body.fields[0].value).toMatch(/^\d{6}$/);
  });

  it("does not change a field that has a value", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, value: "mine" }] });
    expect((await patch({ op: "add", path: "/fields/p/generate", value: true })).body.fields[0].value).toBe("mine");
  });

  it("replaces a value that an earlier operation removes (contract 7.7)", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, generate: true }] });
    const rotate = async () =>
      (
        await patch(
          { op: "remove", path: "/fields/p/value" },
          { op: "add", path: "/fields/p/generate", value: true },
          { op: "add", path: "/fields/p/recipe", value: { length: 64 } },
        )
      ).body.fields[0].value;
    const [first, second] = [await rotate(), await rotate()];
    expect([first.length, second.length, first === second]).toEqual([64, 64, false]);
  });

  it("is not stored: a later removal of the value generates no new one", async () => {
    const { patch } = await makeItem({ ...LOGIN, fields: [{ ...field, generate: true }] });
    const { body } = await patch({ op: "remove", path: "/fields/p/value" });
    expect(body.fields[0].value).toBe("");
  });
});
