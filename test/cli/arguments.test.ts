import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isId, onlyOne } from "../../packages/cli/src/api/find.ts";
import type { Item } from "../../packages/cli/src/api/shapes.ts";
import { safeName } from "../../packages/cli/src/files/get.ts";
import { secondsOf } from "../../packages/cli/src/frame/duration.ts";
import { operationsOf, withKnownAttributes } from "../../packages/cli/src/items/edit.ts";
import { newField, parseItem, versionOf } from "../../packages/cli/src/items/input.ts";
import { isSecret } from "../../packages/cli/src/items/present.ts";
import { parseFieldSource } from "../../packages/cli/src/items/sources.ts";
import { parsePermission, parseScope } from "../../packages/cli/src/tokens/issue.ts";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";

/** The parsers of what stands on a command line, and of what the service sends. */

describe("--field", () => {
  it.each([
    ["password=-", { label: "password", type: undefined, source: { from: "stdin" } }],
    ["api key[string]=@a=b.txt", { label: "api key", type: "string", source: { from: "file", path: "a=b.txt" } }],
    ["pin=prompt", { label: "pin", type: undefined, source: { from: "prompt" } }],
    ["pin=generate", { label: "pin", type: undefined, source: { from: "generate", recipe: {} } }],
    [
      "pin=generate:8,digits,letters",
      {
        label: "pin",
        type: undefined,
        source: { from: "generate", recipe: { length: 8, characterSets: ["DIGITS", "LETTERS"] } },
      },
    ],
  ])("reads %s", (text, expected) => expect(parseFieldSource(text)).toEqual(expected));

  it.each(["pin=1234", "pin=generated", "pin=generate:8,all", "pin=", "pin=@", "pin", "=-"])("refuses %s", (text) =>
    expect(() => parseFieldSource(text)).toThrow(expect.objectContaining({ exit: "usage" })),
  );
});

describe("tables", () => {
  it("hide the values of every type that is not known to be harmless, also of one of a later release", () => {
    const secrets = FIELD_TYPE_NAMES.filter((type) => isSecret({ type, purpose: "" }));
    expect(secrets).toEqual(["CONCEALED", "OTP", "SSHKEY", "CREDIT_CARD_NUMBER"]);
    expect(isSecret({ type: "PASSKEY", purpose: "" })).toBe(true);
  });

  it.each(["PASSWORD", "NOTES"])("hide the value of purpose %s", (purpose) =>
    expect(isSecret({ type: "STRING", purpose })).toBe(true),
  );
});

describe("names", () => {
  it.each([
    ["3fa85f64-5717-4562-b3fc-2c963f66afa6", true],
    ["3FA85F64-5717-4562-B3FC-2C963F66AFA6", true],
    ["h6uf6zcxc5cwfm74fsld6zvpuy", true],
    ["abcdefghijklmnopqrstuvwxyz", false],
    ["Database", false],
  ])("%s is an id: %s", (text, expected) => expect(isId(text)).toBe(expected));

  it("that several things have are a conflict with their ids", () =>
    expect(() => onlyOne([{ id: "a" }, { id: "b" }], "vault", "Demo\u001B")).toThrow(
      expect.objectContaining({
        exit: "conflict",
        message: String.raw`Several vaults are named "Demo\\x1b"`,
        hint: "Use an id:\n  a\n  b",
      }),
    ));
});

describe("the name of a download", () => {
  it.each([
    ["a.txt", "a.txt"],
    ["../../etc/passwd", "passwd"],
    [String.raw`..\..\boot.ini`, "boot.ini"],
    ["/etc/passwd", "passwd"],
  ])("of %s is %s", (name, expected) => expect(safeName(name)).toBe(expected));

  it.each(["", ".", "..", "a/", "../..", "a\u0000b", "a\nb", "x".repeat(256)])("cannot be %j", (name) =>
    expect(() => safeName(name)).toThrow(expect.objectContaining({ exit: "usage" })),
  );

  it("never leaves its folder", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(".", "/", "\\", "a", "\0") }), (name) => {
        let safe = "";
        try {
          safe = safeName(name);
        } catch {
          return;
        }
        expect(safe).toMatch(/^[^/\\\0]+$/);
        expect([".", ".."]).not.toContain(safe);
      }),
    );
  });
});

it.each([
  ["0", 0],
  ["45s", 45],
  ["30m", 1800],
  ["12h", 43_200],
  ["90d", 7_776_000],
])("the time %s has %d seconds", (text, seconds) => expect(secondsOf("--overlap", text)).toBe(seconds));

it.each(["", "45", "h", "-1h", "1w", "1.5h", "1 h"])("%j is no time", (text) =>
  expect(() => secondsOf("--overlap", text)).toThrow("--overlap"),
);

const ITEM = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

it.each([
  ["Production", "Production", "r"],
  ["Production=rwd", "Production", "rwd"],
  ["a=b=w", "a=b", "w"],
  ["Production=wr", "Production", "rw"],
  ["Production=dwlr", "Production", "rwd"],
  ["Production=wl", "Production", "lw"],
  [`Production=lw:${ITEM}`, "Production", { permissions: "lw", items: [ITEM] }],
  [`a:b=r:${ITEM},${ITEM}`, "a:b", { permissions: "r", items: [ITEM, ITEM] }],
])("--vault %s", (text, vault, scope) => expect(parseScope(text)).toEqual([vault, scope]));

it.each(["Production=r:", "Production=r:Database", `Production=r:${ITEM},`])("--vault %s is refused", (text) =>
  expect(() => parseScope(text)).toThrow("--vault"),
);

it("a person has no scope of Items", () => expect(() => parsePermission(`Production=r:${ITEM}`)).toThrow("whole vaults"));

it("JSON may begin with a byte order mark and have CRLF", () =>
  expect(parseItem('\uFEFF{\r\n  "a": "\uFEFF"\r\n}\r\n', "stdin")).toEqual({ a: "\uFEFF" }));

describe("JSON that replaces an Item", () => {
  const item = { id: "i", title: "t", later: 1, fields: [{ id: "f", value: "v", passkey: {} }] } as unknown as Item;

  it.each([
    ["what the Item has, also of a later service", { ...item }],
    ["what it can have", { tags: [], fields: [{ generate: true, recipe: {} }] }],
    ["what is no field, which the service refuses", { fields: [null, 1] }],
  ])("may have %s", (_name, json) => expect(withKnownAttributes(json, item)).toBe(json));

  it.each([
    ['"titel" is not an attribute of the item', { titel: "t" }],
    ['"valeu" is not an attribute of field 2', { fields: [{ value: "" }, { valeu: "hunter2" }] }],
  ])("is refused: %s", (message, json) => expect(() => withKnownAttributes(json, item)).toThrow(message));
});

it.each(["..", "1/restore", "", "x"])("--version refuses %j", (text) => expect(() => versionOf(text)).toThrow("--version"));

it.each(["constructor", "__proto__", "toString"])("the label %s is that of a secret", (label) =>
  expect(newField({ label, type: undefined, source: { from: "stdin" }, value: { value: "v" } })).toEqual({
    label,
    type: "CONCEALED",
    value: "v",
  }),
);

it("a fault in JSON has its place, where it is known, and no part of the text", () => {
  expect(() => parseItem('{\n  "a": hunter2\n}', "stdin")).toThrow(/^stdin is not JSON$/);
  expect(() => parseItem('{\n  "a": "hunter2" "b"\n}', "stdin")).toThrow(/^stdin is not JSON \(line 2, column 18\)$/);
  expect(() => parseItem("[]", "stdin")).toThrow("stdin is not an item");
});

const field = (id: string, label: string, purpose = "") => ({ id, label, purpose, type: "STRING", value: "old" });

const EDITED = {
  fields: [field("username", "User", "USERNAME"), field("password", "Passwort", "PASSWORD"), field("a/b~c", "host"), field("x", "pin"), field("y", "pin")],
} as unknown as Item; // oxfmt-ignore

const set = (text: string) => operationsOf(EDITED, {}, [{ ...parseFieldSource(text), value: { value: "new" } }]);

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
    expect(operationsOf(EDITED, {}, fields)).toEqual([
      { op: "remove", path: "/fields/a~1b~0c/value" },
      { op: "add", path: "/fields/a~1b~0c/recipe", value: { length: 8 } },
      { op: "add", path: "/fields/a~1b~0c/generate", value: true },
    ]);
  });

  it("refuses a label of several fields, and one to remove that no field has", () => {
    expect(() => set("pin=-")).toThrow(expect.objectContaining({ exit: "conflict" }));
    expect(() => operationsOf(EDITED, { "remove-field": ["none"] }, [])).toThrow(expect.objectContaining({ exit: "notFound" }));
  });

  it("replaces the attributes that are given", () => {
    expect(operationsOf(EDITED, { title: "t", tag: ["a"], url: ["https://a", "https://b"], favorite: "false" }, [])).toEqual([
      { op: "replace", path: "/title", value: "t" },
      { op: "replace", path: "/tags", value: ["a"] },
      { op: "replace", path: "/urls", value: [{ href: "https://a", primary: true }, { href: "https://b" }] },
      { op: "replace", path: "/favorite", value: false },
    ]);
  });
});
