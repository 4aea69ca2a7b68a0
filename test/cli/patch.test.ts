import { describe, expect, it } from "vitest";
import type { Item } from "../../packages/cli/src/api/shapes.ts";
import { operationsOf } from "../../packages/cli/src/items/edit.ts";
import { parseFieldSource } from "../../packages/cli/src/items/sources.ts";

const field = (id: string, label: string, purpose = "") => ({ id, label, purpose, type: "STRING", value: "old" });

const ITEM = {
  fields: [field("username", "User", "USERNAME"), field("password", "Passwort", "PASSWORD"), field("a/b~c", "host"), field("x", "pin"), field("y", "pin")],
} as unknown as Item; // oxfmt-ignore

const set = (text: string) => operationsOf(ITEM, {}, [{ ...parseFieldSource(text), value: { value: "new" } }]);

describe("item edit by options", () => {
  it.each([
    ["by id", "username=-", [{ op: "replace", path: "/fields/username/value", value: "new" }]],
    ["by label, with its id escaped", "host=-", [{ op: "replace", path: "/fields/a~1b~0c/value", value: "new" }]],
    [
      "with another type",
      "host[concealed]=-",
      [
        { op: "replace", path: "/fields/a~1b~0c/type", value: "CONCEALED" },
        { op: "replace", path: "/fields/a~1b~0c/value", value: "new" },
      ],
    ],
    [
      "that is new as a secret",
      "token=-",
      [{ op: "add", path: "/fields", value: { label: "token", type: "CONCEALED", value: "new" } }],
    ],
    ["that is new with its purpose", "notes=-", [{ op: "add", path: "/fields", value: { purpose: "NOTES", value: "new" } }]],
  ])("sets a field %s", (_name, text, operations) => expect(set(text)).toEqual(operations));

  it("sets the field of a purpose, whatever its id and label", () => {
    const item = { fields: [field("f1", "Kennwort", "PASSWORD")] } as unknown as Item;
    const fields = [{ ...parseFieldSource("password=-"), value: { value: "new" } }];
    expect(operationsOf(item, {}, fields)).toEqual([{ op: "replace", path: "/fields/f1/value", value: "new" }]);
  });

  it("adds a field rather than change one that has no purpose", () => {
    const item = { fields: [{ id: "f1", label: "other", type: "STRING", value: "old" }] } as unknown as Item;
    const fields = [{ ...parseFieldSource("constructor=-"), value: { value: "new" } }];
    const value = { label: "constructor", type: "CONCEALED", value: "new" };
    expect(operationsOf(item, {}, fields)).toEqual([{ op: "add", path: "/fields", value }]);
  });

  it("removes a value before the service makes a new one", () => {
    const fields = [{ ...parseFieldSource("host=generate:8"), value: { generate: true, recipe: { length: 8 } } as const }];
    expect(operationsOf(ITEM, {}, fields)).toEqual([
      { op: "remove", path: "/fields/a~1b~0c/value" },
      { op: "add", path: "/fields/a~1b~0c/recipe", value: { length: 8 } },
      { op: "add", path: "/fields/a~1b~0c/generate", value: true },
    ]);
  });

  it("refuses a label of several fields, and one to remove that no field has", () => {
    expect(() => set("pin=-")).toThrow(expect.objectContaining({ exit: "conflict" }));
    expect(() => operationsOf(ITEM, { "remove-field": ["none"] }, [])).toThrow(expect.objectContaining({ exit: "notFound" }));
  });

  it("replaces the attributes that are given", () => {
    expect(operationsOf(ITEM, { title: "t", tag: ["a"], url: ["https://a", "https://b"], favorite: "false" }, [])).toEqual([
      { op: "replace", path: "/title", value: "t" },
      { op: "replace", path: "/tags", value: ["a"] },
      { op: "replace", path: "/urls", value: [{ href: "https://a", primary: true }, { href: "https://b" }] },
      { op: "replace", path: "/favorite", value: false },
    ]);
  });
});
