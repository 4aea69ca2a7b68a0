import { describe, expect, it } from "vitest";
import { dotenv } from "../../../../cli/src/transfer/formats/dotenv.ts";
import { lossesOf, read, refusal, utf8, valuesOf } from "./reading.ts";
import { DOTENV } from "./text-fixture.ts";

describe("dotenv", () => {
  it("makes one Item with a concealed field per variable", async () => {
    const { items, losses } = await read(dotenv, utf8(DOTENV), { fileName: ".env.production" });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ title: ".env.production", category: "API_CREDENTIAL", sourceId: undefined });
    expect(valuesOf(items[0]!)).toEqual({
      PLAIN: "secret again",
      QUOTED: "secret # no comment",
      SINGLE: 'it is "quoted"',
      LINES: "first\n# second\nthird",
      EMPTY: "",
    });
    expect(new Set(items[0]!.fields.map(({ type }) => type))).toEqual(new Set(["CONCEALED"]));
    expect(lossesOf({ losses })).toEqual({
      comments: 3,
      "variables that the file sets again later": 1,
      "lines that set no variable": 1,
    });
  });

  it("makes a further Item of each 1,000 variables", async () => {
    const text = Array.from({ length: 1_001 }, (_, n) => `V${n}=${n}`).join("\n");
    const { items } = await read(dotenv, utf8(text), { fileName: "big.env" });
    expect(items.map(({ title, fields }) => [title, fields.length])).toEqual([
      ["big.env", 1000],
      ["big.env 2", 1],
    ]);
  });

  it.each([
    ["", "The file: has no variables"],
    ["# only", "The file: has no variables"],
    ['A="secret\nmore', "Line 1: has a quote that is not closed"],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(dotenv, utf8(text))).toBe(message);
  });

  it("refuses bytes that are no text", async () => {
    expect(await refusal(dotenv, Uint8Array.from([0x41, 0x3d, 0xff, 0xfe]))).toBe("The file: is not text in UTF-8");
  });

  it.each([".env", ".env.local", "prod.env", ".dev.vars"])("is recognized by the name %s", (name) => {
    expect([dotenv.matches(utf8(""), name), dotenv.matches(utf8(""), "environment.txt")]).toEqual([true, false]);
  });
});
