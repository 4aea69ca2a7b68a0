import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "../../packages/cli/src/api/shapes.ts";
import { isId, onlyOne } from "../../packages/cli/src/api/find.ts";
import { safeName } from "../../packages/cli/src/files/get.ts";
import { parseMode } from "../../packages/cli/src/frame/output-file.ts";
import { withKnownAttributes } from "../../packages/cli/src/items/edit.ts";
import { newField, parseItem, versionOf } from "../../packages/cli/src/items/input.ts";
import { isSecret } from "../../packages/cli/src/items/present.ts";
import { parseFieldSource } from "../../packages/cli/src/items/sources.ts";
import { secondsOf } from "../../packages/cli/src/frame/duration.ts";
import { parsePermission, parseScope } from "../../packages/cli/src/tokens/issue.ts";
import { parseEventStream } from "../../packages/client/src/server-sent-events.ts";
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

  it("repeats no part of a value that stands on the command line", () => {
    const fault = (() => {
      try {
        return parseFieldSource("password=hunter2");
      } catch (error) {
        return JSON.stringify([error, (error as Error).message]);
      }
    })();
    expect(fault).not.toContain("hunter2");
  });
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
  [undefined, 0o600],
  ["0640", 0o640],
  ["644", 0o644],
])("--file-mode %s", (text, mode) => expect(parseMode(text)).toBe(mode));

it.each(["rw", "0999", "17777", ""])("--file-mode refuses %j", (text) => expect(() => parseMode(text)).toThrow("octal"));

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

describe("server-sent events", () => {
  const TEXT =
    'id: 1\n\n: comment\n\nid: 2\nevent: item.created\ndata: {"item":"ü"}\n\nid: 3\r\nevent: x\r\ndata: a\r\ndata: b\r\n\r\nid: 4\ndata: cut';

  it("are read however the bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: Buffer.byteLength(TEXT) })), async (places) => {
        const bytes = Buffer.from(TEXT);
        const ends = [...places.toSorted((one, other) => one - other), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const events = [];
        for await (const event of parseEventStream((async function* () { yield* chunks; })())) events.push(event); // oxfmt-ignore
        expect(events).toEqual([
          { id: "1", event: "message", data: "" },
          { id: "2", event: "item.created", data: '{"item":"ü"}' },
          { id: "3", event: "x", data: "a\nb" },
        ]);
      }),
    );
  });
});
