import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold } from "../../src/model/fold.ts";
import { runs } from "../support/runs.ts";
import { CHARACTER } from "../support/characters.ts";

/** Contract 16.3: names without regard to case. The table there is generated from the same pairs. */

const [contract = ""] = Object.values(
  import.meta.glob("../../docs/contract.md", { query: "?raw", import: "default", eager: true }),
);

const EQUAL: readonly (readonly string[])[] = [
  ["Database", "DATABASE", "dataBase"],
  ["ΟΔΟΣ", "οδος", "οδοσ"],
  ["Straße", "STRASSE", "STRAẞE", "strasse"],
  ["İ", "i̇", "I\u0307"],
  ["I", "i", "ı"],
  ["ſ", "s", "S"],
  ["K", "k", "\u212a"],
  ["ﬁ", "fi", "FI"],
  ["ＡＢ", "ab"],
  ["Café", "cafe\u0301", "CAFÉ"],
  ["ǅ", "ǆ", "Ǆ", "dž"],
  ["ᾳ", "ΑΙ", "αι"],
];

const DIFFERENT: readonly (readonly [string, string])[] = [
  ["İ", "i"],
  ["é", "e"],
  ["a b", "ab"],
  ["a-b", "a_b"],
  ["a", "a "],
  ["ß", "s"],
  ["А", "A"], // Cyrillic and Latin
];

const anyName = fc.string({ unit: CHARACTER, maxLength: 20 });

describe("the fold of a name", () => {
  it.each(EQUAL)("is one for %s and %s", (...names) => {
    expect(new Set(names.map(fold)).size).toBe(1);
  });

  it.each(DIFFERENT)("tells %s from %s", (a, b) => {
    expect(fold(a)).not.toBe(fold(b));
  });

  it("of ASCII is lower case", () => {
    const property = fc.property(fc.string({ unit: "binary-ascii" }), (name) => {
      expect(fold(name)).toBe(name.toLowerCase());
    });
    fc.assert(property);
  });

  it("does not change a folded character, and is the same for every case and normalization form of a character", () => {
    const wrong: string[] = [];
    // Beyond the scripts with cases, the short run takes one character of 61.
    for (let code = 0; code < 0x110000; code += code < 0x3000 ? 1 : runs(61, 1)) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      const folded = fold(character);
      const forms = [
        folded,
        character.toUpperCase(),
        character.toLowerCase(),
        character.normalize("NFD"),
        character.normalize("NFKC"),
      ];
      if (forms.some((form) => fold(form) !== folded)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it("is the same for every normalization form of a name", () => {
    const property = fc.property(anyName, (name) => {
      const folded = fold(name);
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) expect(fold(name.normalize(form))).toBe(folded);
      expect(fold(folded)).toBe(folded);
    });
    fc.assert(property, { numRuns: runs(100, 100_000) });
  });

  it("equals the table of contract 16.3", () => {
    const section = contract.slice(contract.indexOf("**16.3**"), contract.indexOf("**16.4**"));
    const rows = [...section.matchAll(/^\| (\S+(?:, \S+)*) +\| `(\S+)` +\|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [, names = "", folded] of rows)
      for (const name of names.split(", ")) expect([name, fold(name)]).toEqual([name, folded]);
  });
});
