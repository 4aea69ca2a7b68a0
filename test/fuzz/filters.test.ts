import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemPasses, parseFilter, passingVaults } from "../../src/model/filter.ts";
import type { Summary } from "../../src/model/item.ts";
import type { NamedVault } from "../../src/model/vault.ts";
import { runs } from "../support/runs.ts";
import { readingsOf } from "./reference/filter.ts";

/** Contract 5: compares the readings of random filters with those of a reference parser, and tests which Items pass. */

const valuePart = fc.constantFrom(
  "a",
  "b c",
  " ",
  "and",
  '"',
  '\\"',
  "\\",
  " and ",
  '" and ',
  '" AND  Title EQ  "',
  'x" and tag eq "y',
  '" OR  title eq "',
  '" or ',
  "é😀",
);
const joined = (pieces: fc.Arbitrary<string>, maxLength: number) => fc.array(pieces, { maxLength }).map((all) => all.join(""));
const termText = fc.oneof(
  fc
    .tuple(fc.constantFrom('title eq "', 'tag eq "', 'TITLE  co "'), joined(valuePart, 3))
    .map(([start, value]) => `${start}${value}"`),
  fc.constantFrom('category eq "LOGIN"', "favorite eq true", 'Category eq "ssh_KEY"', "favorite EQ False"),
);
const severalTerms = fc.tuple(
  termText,
  joined(
    fc.tuple(fc.constantFrom(" and ", " AND\t"), termText).map(([and, next]) => and + next),
    2,
  ),
);
const malformedPart = fc.constantFrom(
  'title eq "',
  'tag eq "',
  '"',
  "title eq ",
  'name eq "x"',
  'category eq "NOPE"',
  "favorite eq 1",
  " ",
);
const filter = fc.oneof(
  { weight: 3, arbitrary: severalTerms.map(([first, further]) => first + further) },
  { weight: 1, arbitrary: joined(fc.oneof(malformedPart, valuePart, termText), 6) },
);

describe("parseFilter, for random texts", () => {
  it("returns the readings that the reference parser returns, or refuses", () => {
    const counts = { refused: 0, oneTerm: 0, severalTerms: 0, twoReadings: 0 };
    fc.assert(
      fc.property(filter, (text) => {
        const parsed = parseFilter(encodeURIComponent(text), "items");
        const readings = readingsOf(text);
        counts[
          readings ? (readings.length > 1 ? "twoReadings" : readings[0]!.length > 1 ? "severalTerms" : "oneTerm") : "refused"
        ]++;
        expect(parsed.ok ? parsed.value.map((reading) => reading.map(({ words, value }) => [words, value])) : undefined).toEqual(
          readings,
        );
      }),
      { numRuns: runs(3000) },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(runs(3000) / 50);
  });
});

const word = fc.constantFrom("", "a", "A", "ab", "é", '"', "a and b", "\\", "%", "+", "&", "true", "LOGIN");
const REST = { id: "", vault: "", version: 1, urls: [], createdAt: 0, updatedAt: 0, lastEditedBy: "" };
const item: fc.Arbitrary<Summary> = fc
  .record({
    title: word,
    tags: fc.array(word, { maxLength: 3 }),
    category: fc.constantFrom("LOGIN", "SSH_KEY", "CUSTOM"),
    favorite: fc.boolean(),
  })
  .map((generated): Summary => Object.assign(generated, REST));
/** The text of a term, and whether an Item passes it. */
const term = fc.oneof(
  word.map((value) => ({ text: `title eq "${escaped(value)}"`, passes: ({ title }: Summary) => title === value })),
  word.map((value) => ({
    text: `Title CO "${escaped(value)}"`,
    passes: ({ title }: Summary) => title.split(value).length > 1 || value === "",
  })),
  word.map((value) => ({
    text: `tag  eq "${escaped(value)}"`,
    passes: ({ tags }: Summary) => tags.some((tag) => tag === value),
  })),
  fc.constantFrom("LOGIN", "ssh_key", "Custom").map((value) => ({
    text: `category eq "${value}"`,
    passes: ({ category }: Summary) => category === value.toUpperCase(),
  })),
  fc.boolean().map((value) => ({ text: `favorite eq ${value}`, passes: ({ favorite }: Summary) => favorite === value })),
);
const escaped = (value: string) => value.replaceAll(/["\\]/g, "\\$&");

describe("an Item", () => {
  it("passes a filter if and only if it passes each of its terms", () => {
    const counts = { passed: 0, excluded: 0 };
    const terms = fc.array(term, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(item, terms, (one, all) => {
        const parsed = parseFilter(encodeURIComponent(all.map(({ text }) => text).join(" and ")), "items");
        // Of the readings of so many terms, the second undoes the escapes, if there are any.
        const readings = parsed.ok ? parsed.value.filter(({ length }) => length === all.length) : [];
        const reading = readings[1] ?? readings[0];
        const passes = all.every((each) => each.passes(one));
        counts[passes ? "passed" : "excluded"]++;
        expect(reading && itemPasses([reading], one)).toBe(passes);
      }),
      { numRuns: runs(1000) },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(50);
  });
});

describe("a Vault", () => {
  it("passes a filter if its name equals the value of the filter without regard to case", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "A", "é", "É", "İ", "ß", " ", '"'), maxLength: 4 });
    fc.assert(
      fc.property(letters, letters, fc.constantFrom("name", "Title"), (name, filterValue, attribute) => {
        const parsed = parseFilter(encodeURIComponent(`${attribute} eq "${filterValue}"`), "vaults");
        const passing = parsed.ok && passingVaults(parsed.value, [{ name } as NamedVault]);
        expect(passing && passing.length > 0).toBe(name.toLowerCase() === filterValue.toLowerCase());
      }),
      { numRuns: runs(500) },
    );
  });
});
