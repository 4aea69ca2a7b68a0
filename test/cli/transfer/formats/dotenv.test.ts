import { parseEnv } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dotenv } from "../../../../transfer/src/formats/dotenv.ts";
import { parseDotenv } from "../../../../transfer/src/dotenv.ts";
import { lossesOf, read, refusal, runs, utf8, valuesOf } from "./reading.ts";
import { DOTENV } from "./text-fixture.ts";

/** The variables of a text; `undefined` when it is refused. */
function parsed(text: string): Record<string, string> | undefined {
  try {
    return Object.fromEntries(parseDotenv(text));
  } catch {
    return undefined;
  }
}

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

  it.each<[string, Record<string, string>]>([
    ["A= \nB=2", { A: "", B: "2" }],
    ["A=\t\n\n\tB=\t2\t", { A: "", B: "2" }],
    ["__proto__=x\nconstructor=y", { ["__proto__"]: "x", constructor: "y" }],
    ["\uFEFFA=1\r\nB='a\r\nb'\r\n", { A: "1", B: "a\nb" }],
    ["A=C:\\x\\\nB=a=b=c", { A: "C:\\x\\", B: "a=b=c" }],
    ['A="a\\nb"\nB=\'a\\nb\'\nC=`x"y`', { A: "a\nb", B: "a\\nb", C: 'x"y' }],
    ["export A=1\nexportB=2\na.b=3\nÄ=ö", { A: "1", exportB: "2", "a.b": "3", Ä: "ö" }],
    ["A='it\nB=it's'", { A: "it\nB=it" }],
    ["A=abc#def\nB=#x\nC= #x\nD=a#b #c\nE=a\t# c", { A: "abc#def", B: "#x", C: "", D: "a#b", E: "a" }],
  ])("reads %j", async (text, values) => {
    const { items } = await read(dotenv, utf8(text));
    expect(Object.fromEntries(items[0]!.fields.map(({ label, value }) => [label, value]))).toEqual(values);
  });

  it("reads what Node reads, where a blank precedes each comment", () => {
    // Node 24 takes the next line as the value of a variable without one, leaves `__proto__` out, and reads an indented comment after another one as a variable.
    const part = fc.constantFrom("A", "B_1", "=", "=", "'", '"', "`", " #", "x y", "\\n", "\n", "\n", "export ");
    const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (content) => {
        const own = parsed(content);
        fc.pre(own !== undefined && !/=\s*(\n|$)|^\s*(export )*\s*[=#]/m.test(content));
        expect(own).toEqual(parseEnv(content));
      }),
      { numRuns: runs(200) },
    );
  });

  it("keeps a value whole in which no blank precedes a #, and counts it", async () => {
    const transfer = await read(dotenv, utf8("PASSWORD=abc#def # comment\nQUOTED='a#b'"));
    expect(valuesOf(transfer.items[0]!)).toEqual({ PASSWORD: "abc#def", QUOTED: "a#b" });
    expect(lossesOf(transfer)).toEqual({
      comments: 1,
      "values with a # after which Node and others read a comment (kept whole)": 1,
    });
  });

  it("counts what follows a quoted value", async () => {
    expect(lossesOf(await read(dotenv, utf8("A='a'b\nB=\"c\" # d")))).toEqual({ comments: 1, "texts after a quoted value": 1 });
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
    ['A="secret\nmore', "Line 1 has a quote that is not closed"],
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
