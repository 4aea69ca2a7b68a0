import { parseEnv } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDotenv, quote } from "../../../../packages/transfer/src/dotenv.ts";
import { dotenv } from "../../../../packages/transfer/src/formats/dotenv.ts";
import { lossesOf, read, refusal, runs, utf8, valuesOf } from "./reading.ts";
import { DOTENV } from "./text-fixture.ts";

/** The variables of a text; `undefined` when it is refused. */
function parsed(text: string): Record<string, string> | undefined {
  try {
    return Object.fromEntries(parseDotenv(text, "file"));
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

  it("keeps variables that shells or programs obey, and names them in the report", async () => {
    const { items, losses } = await read(dotenv, utf8("PATH=/x\nA=1\nLD_PRELOAD=y\n"));
    expect(valuesOf(items[0]!)).toEqual({ PATH: "/x", A: "1", LD_PRELOAD: "y" });
    expect(losses).toEqual([
      {
        what: "names of variables that shells or programs obey (kept; an export to .env renames them)",
        count: 2,
        examples: ["PATH", "LD_PRELOAD"],
      },
    ]);
  });

  it.each<[string, Record<string, string>]>([
    ["A= \nB=2", { A: "", B: "2" }],
    ["A=\t\n\n\tB=\t2\t", { A: "", B: "2" }],
    ["__proto__=x\nconstructor=y", { ["__proto__"]: "x", constructor: "y" }],
    ["\uFEFFA=1\r\nB='a\r\nb'\r\n", { A: "1", B: "a\nb" }],
    ["A=C:\\x\\\nB=a=b=c", { A: "C:\\x\\", B: "a=b=c" }],
    ['A="a\\nb"\nB=\'a\\nb\'\nC=`x"y`', { A: "a\nb", B: "a\\nb", C: 'x"y' }],
    ["export A=1\nexportB=2\na.b=3\nÄ=ö", { A: "1", exportB: "2", "a.b": "3", Ä: "ö" }],
    ["A='it\nB=it'", { A: "it\nB=it" }],
    [`A="{\\"a\\": \\"\\\\n\\"}"\nB="a\\tb\\r\\$C \\d" # c`, { A: '{"a": "\\n"}', B: "a\tb\r$C \\d" }],
    ["A='it'\\''s'\nB='it'\"'\"'s'\nC='Let\\'s go!'#c", { A: "it's", B: "it's", C: "Let's go!" }],
    ["A='C:\\x\\'\nB=C:\\'\\n\nC='${A}\\n'", { A: "C:\\x\\", B: "C:\\'\\n", C: "${A}\\n" }],
    ['A=\'{\r\n  "a": 1\r\n}\'\r\nB="-----\nx\\"\n-----"', { A: '{\n  "a": 1\n}', B: '-----\nx"\n-----' }],
    ["A=abc#def\nB=#x\nC= #x\nD=a#b #c\nE=a\t# c", { A: "abc#def", B: "#x", C: "", D: "a#b", E: "a" }],
  ])("reads %j", async (text, values) => {
    const { items } = await read(dotenv, utf8(text));
    expect(Object.fromEntries(items[0]!.fields.map(({ label, value }) => [label, value]))).toEqual(values);
  });

  it("reads what Node reads, where a blank precedes each comment and no quote is escaped or joined", () => {
    // Node 24 takes the next line as the value of a variable without one, leaves `__proto__` out, and reads an indented comment after another one as a variable.
    const part = fc.constantFrom("A", "B_1", "=", "=", "'", '"', "`", " #", "x y", "\\n", "\n", "\n", "export ");
    const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (content) => {
        const own = parsed(content);
        fc.pre(own !== undefined && !/=\s*(\n|$)|^\s*(export )*\s*[=#]|['"]['"]/m.test(content));
        expect(own).toEqual(parseEnv(content));
      }),
      { numRuns: runs(200) },
    );
  });

  /** How programs write a value, and the values that they can write. */
  const WRITERS: Readonly<Record<string, { write: (value: string) => string | undefined; can?: (value: string) => boolean }>> = {
    "--format dotenv": { write: quote },
    "Docker Compose in double quotes": {
      write: (value) =>
        `"${value
          .replaceAll(/[\\"$]/g, String.raw`\$&`)
          .replaceAll("\n", String.raw`\n`)
          .replaceAll("\r", String.raw`\r`)
          .replaceAll("\t", String.raw`\t`)}"`,
    },
    "Ruby, with line breaks as they are,": {
      write: (value) => `"${value.replaceAll(/[\\"$`]/g, String.raw`\$&`)}"`,
      can: (value) => !value.includes("\r"),
    },
    JSON: { write: (value) => JSON.stringify(value) },
    "a shell": { write: (value) => `'${value.replaceAll("'", String.raw`'\''`)}'`, can: (value) => !/\r|\\/.test(value) },
    "shlex of Python": { write: (value) => `'${value.replaceAll("'", `'"'"'`)}'`, can: (value) => !/\r|\\/.test(value) },
    "Docker Compose and python-dotenv in single quotes": {
      write: (value) => `'${value.replaceAll("'", String.raw`\'`)}'`,
      can: (value) => !/[\r\\]/.test(value) && !/'[\s#"]|'$/.test(value),
    },
  };

  it.each(Object.entries(WRITERS))("reads back whole what %s writes", (_, { write, can = () => true }) => {
    const piece = fc.constantFrom(
      "'",
      '"',
      "`",
      "\\",
      "$A",
      "#",
      " #",
      "=",
      "\n",
      "\nB=",
      "\r",
      "\t",
      "é",
      "a",
      "{",
      "}",
      " ",
      "n",
    );
    const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (values) => {
        const lines = values.filter(can).flatMap((one, place) => {
          const written = write(one);
          return written === undefined ? [] : [{ name: `V${place}`, one, written }];
        });
        const file = lines.map(({ name, written }) => `${name}=${written} # it's a comment\n`).join("");
        expect(parsed(file)).toEqual(Object.fromEntries(lines.map(({ name, one }) => [name, one])));
      }),
      { numRuns: runs(300) },
    );
  });

  it("never reads another value than the one that was written in single quotes with an escape: it refuses the file", () => {
    const piece = fc.constantFrom("'", "#", " #", "=", "\n", "\nB=", "a", " ", '"');
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 8 }), { minLength: 1, maxLength: 3 }), (values) => {
        const written = values.map((pieces, place) => [`V${place}`, pieces.join("")] as const);
        const own = parsed(written.map(([name, value]) => `${name}='${value.replaceAll("'", String.raw`\'`)}'\n`).join(""));
        expect(own ?? Object.fromEntries(written)).toEqual(Object.fromEntries(written));
      }),
      { numRuns: runs(1_000, 20_000) },
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

  it("names the variables and the lines of which something is not carried over", async () => {
    const { losses } = await read(dotenv, utf8("A=a#b\nB='c' # d\nA=e\nno variable\nexport C"));
    expect(Object.fromEntries(losses.map(({ what, examples }) => [what, examples]))).toEqual({
      "values with a # after which Node and others read a comment (kept whole)": ["A"],
      comments: ["B"],
      "variables that the file sets again later": ["A"],
      "lines that set no variable": ["line 4", "line 5"],
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
    ["", "The file has no variables"],
    ["# only", "The file has no variables"],
    ['A="secret\nmore', "The file: line 1 has a quote that is not closed"],
    ["A=1\nB='it's'\n", "The file: line 2 has text after a quoted value"],
    ["A=1\nB=\0\n", "The file: line 2 has a NUL character, which no variable can hold"],
    [
      "\nA='secret\\'\nB=' # x'",
      "The file: line 2 has a backslash before a quote that may be the last one: write the value in double quotes",
    ],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(dotenv, utf8(text))).toBe(message);
  });

  it("refuses bytes that are no text", async () => {
    expect(await refusal(dotenv, Uint8Array.from([0x41, 0x3d, 0xff, 0xfe]))).toBe("The file is not UTF-8 text");
  });

  it.each([".env", ".env.local", "prod.env", ".dev.vars"])("is recognized by the name %s", (name) => {
    expect([dotenv.matches(utf8(""), name), dotenv.matches(utf8(""), "environment.txt")]).toEqual([true, false]);
  });
});
