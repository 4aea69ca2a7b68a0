import { describe, expect, it } from "vitest";
import { shareVault } from "../support/service.ts";

/** Every path of contract 6.3 with each operation that succeeds on it. */

const sharedVault = shareVault();

const ONE = { href: "https://one.test", label: "one", primary: true };
const TWO = { href: "https://two.test" };
const USER = { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "ann" };
const F1 = { id: "f1", section: { id: "s1" }, type: "EMAIL", label: "One", value: "1" };
const F2 = { id: "f2", type: "STRING", label: "Two", value: "2" };
const S1 = { id: "s1", label: "First" };
const S2 = { id: "s2", label: "Second" };
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

  [
    "add of one section appends the section",
    ["add", "/sections", { id: "s3", label: "3" }],
    { sections: [S1, S2, { id: "s3", label: "3" }] },
  ],
  [
    "add with - appends a section",
    ["add", "/sections/-", { id: "s3", label: "3" }],
    { sections: [S1, S2, { id: "s3", label: "3" }] },
  ],
  ["add of an array sets all sections", ["add", "/sections", [S1]], { sections: [S1] }],
  ["replace sets all sections", ["replace", "/sections", [S2, S1]], { sections: [S2, S1] }],
  [
    "add with a new id appends a section",
    ["add", "/sections/s3", { label: "3" }],
    { sections: [S1, S2, { id: "s3", label: "3" }] },
  ],
  [
    "add with an existing id replaces the section",
    ["add", "/sections/s1", { label: "3" }],
    { sections: [{ id: "s1", label: "3" }, S2] },
  ],
  ["replace replaces a section", ["replace", "/sections/s2", { label: "3" }], { sections: [S1, { id: "s2", label: "3" }] }],
  ["remove removes an empty section", ["remove", "/sections/s2"], { sections: [S1] }],
  [
    "remove of a section keeps its fields, without a section",
    ["remove", "/sections/s1"],
    { sections: [S2], fields: [USER, { ...F1, section: undefined }, F2] },
  ],
  [
    "remove of all sections keeps all fields, without a section",
    ["remove", "/sections"],
    { sections: [], fields: [USER, { ...F1, section: undefined }, F2] },
  ],
  ["add sets the label of a section", ["add", "/sections/s1/label", "x"], { sections: [{ id: "s1", label: "x" }, S2] }],
  ["replace sets the label of a section", ["replace", "/sections/s2/label", "x"], { sections: [S1, { id: "s2", label: "x" }] }],
  ["remove empties the label of a section", ["remove", "/sections/s1/label"], { sections: [{ id: "s1", label: "" }, S2] }],

  ["add appends one field", ["add", "/fields", NEW], { fields: [USER, F1, F2, NEW_FIELD] }],
  ["add with - appends one field", ["add", "/fields/-", NEW], { fields: [USER, F1, F2, NEW_FIELD] }],
  ["replace sets all fields", ["replace", "/fields", [NEW]], { fields: [NEW_FIELD] }],
  ["remove removes all fields", ["remove", "/fields"], { fields: [] }],
  ["add with a new id appends a field", ["add", "/fields/new", { ...NEW, id: undefined }], { fields: [USER, F1, F2, NEW_FIELD] }],
  [
    "add with an existing id replaces the field",
    ["add", "/fields/f1", { value: "x" }],
    { fields: [USER, { ...F2, id: "f1", label: "", value: "x" }, F2] },
  ],
  [
    "replace replaces a field",
    ["replace", "/fields/f2", { label: "L" }],
    { fields: [USER, F1, { ...F2, label: "L", value: "" }] },
  ],
  ["remove removes a field", ["remove", "/fields/username"], { fields: [F1, F2] }],
  ["add sets an attribute of a field", ["add", "/fields/f2/value", "x"], { fields: [USER, F1, { ...F2, value: "x" }] }],
  ["replace sets an attribute of a field", ["replace", "/fields/f1/label", "x"], { fields: [USER, { ...F1, label: "x" }, F2] }],
  ["remove empties the value of a field", ["remove", "/fields/f2/value"], { fields: [USER, F1, { ...F2, value: "" }] }],
  [
    "replace sets the type of a field, in any case",
    ["replace", "/fields/f2/type", "email"],
    { fields: [USER, F1, { ...F2, type: "EMAIL" }] },
  ],
  [
    "remove resets the type of a field to STRING",
    ["remove", "/fields/f1/type"],
    { fields: [USER, { ...F1, type: "STRING" }, F2] },
  ],
  [
    "remove empties the purpose of a field",
    ["remove", "/fields/username/purpose"],
    { fields: [{ ...USER, purpose: undefined }, F1, F2] },
  ],
  [
    "replace with an empty text empties the purpose of a field",
    ["replace", "/fields/username/purpose", ""],
    { fields: [{ ...USER, purpose: undefined }, F1, F2] },
  ],
  [
    "replace of the section moves a field to another section",
    ["replace", "/fields/f1/section", { id: "s2" }],
    { fields: [USER, { ...F1, section: { id: "s2" } }, F2] },
  ],
  [
    "remove of the section makes a field one without a section",
    ["remove", "/fields/f1/section"],
    { fields: [USER, { ...F1, section: undefined }, F2] },
  ],
  [
    "add of an undeclared section to a field adds the section",
    ["add", "/fields/f2/section", { id: "s3", label: "3" }],
    { fields: [USER, F1, { ...F2, section: { id: "s3" } }], sections: [S1, S2, { id: "s3", label: "3" }] },
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
