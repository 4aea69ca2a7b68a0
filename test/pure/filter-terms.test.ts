import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilter } from "../../src/model/filter.ts";
import { runs } from "../support/runs.ts";

/** Contract 5.1, 5.2 and 5.4 to 5.6: filters by category and favorite, and filters of several terms. Connect does not have them. */

const parse = (filter: string) => parseFilter(encodeURIComponent(filter), "items");
type Terms = [words: string, value: string][];
/** The result of parseFilter with these readings, the preferred one first. */
const readings = (...all: Terms[]) => ({
  ok: true,
  value: all.map((terms) => terms.map(([words, value]) => ({ words, value }))),
});
const terms = (...all: Terms) => readings(all);
/** The last reading: several terms, with the escapes of quotes undone. */
const lastReading = (filter: string) => {
  const parsed = parse(filter);
  return parsed.ok ? { ok: true, value: parsed.value.slice(-1) } : parsed;
};
const REFUSED = { ok: false, failure: { kind: "filter" } };

describe("a term of a filter", () => {
  it.each([
    ['category eq "LOGIN"', "category eq", "LOGIN"],
    ['CATEGORY EQ "ssh_key"', "category eq", "ssh_key"],
    ["favorite eq true", "favorite eq", "true"],
    ["favorite eq FALSE", "favorite eq", "FALSE"],
    [" favorite  eq  true ", "favorite eq", "true"],
  ])("is accepted: %s", (filter, words, value) => {
    expect(parse(filter)).toEqual(terms([words, value]));
  });

  it.each([
    'category eq "NOPE"',
    'category eq ""',
    "category eq LOGIN",
    'category co "LOGIN"',
    'category eq "constructor"',
    "favorite eq yes",
    "favorite eq 1",
    'favorite eq "true"',
    "favorite eq",
    "favorite ne true",
    "favorite eq true false",
  ])("is refused: %s", (filter) => {
    expect(parse(filter)).toEqual(REFUSED);
  });
});

describe("several terms with and between them", () => {
  it.each([
    ['title eq "a" and tag eq "b"', terms(["title eq", "a"], ["tag eq", "b"])],
    ['title co "a" AND favorite eq true', terms(["title co", "a"], ["favorite eq", "true"])],
    ['favorite eq true and category eq "LOGIN"', terms(["favorite eq", "true"], ["category eq", "LOGIN"])],
    ['tag eq "a" and tag eq "b" and tag eq "c"', terms(["tag eq", "a"], ["tag eq", "b"], ["tag eq", "c"])],
    ['tag eq "a"  and  title eq "b"', terms(["tag eq", "a"], ["title eq", "b"])],
    ['title eq "a \\"b\\"" and tag eq "c"', terms(["title eq", 'a "b"'], ["tag eq", "c"])],
    ['title eq "a "b"" and tag eq "c "d""', terms(["title eq", 'a "b"'], ["tag eq", 'c "d"'])],
  ])("are parsed: %s", (filter, expected) => {
    expect(lastReading(filter)).toEqual(expected);
  });

  it("have two readings when the first term is title eq: first one title, then several terms", () => {
    const title: Terms = [["title eq", 'a" and tag eq "b']];
    expect(parse('title eq "a" and tag eq "b"')).toEqual(
      readings(title, [
        ["title eq", "a"],
        ["tag eq", "b"],
      ]),
    );
    for (const filter of ['tag eq "b" and title eq "a"', 'title co "a" and tag eq "b"', 'title eq "a" and favorite eq true']) {
      expect(parse(filter)).toMatchObject({ value: { length: 1 } });
    }
  });

  it.each([
    ["and without quotes", 'title eq "rock and tag eq roll"', "rock and tag eq roll"],
    ["a quote before an and that is not followed by a term", 'title eq "a" and b"', 'a" and b'],
    ["an unknown attribute", 'title eq "a" and name eq "b"', 'a" and name eq "b'],
    ["a term with an unknown category", 'title eq "a" and category eq "NOPE"', 'a" and category eq "NOPE'],
    ["escaped quotes", 'title eq "a\\" and tag eq \\"b"', 'a" and tag eq "b'],
  ])("are not recognized in a title that contains %s", (_, filter, title) => {
    expect(lastReading(filter)).toEqual(terms(["title eq", title]));
  });

  it("are recognized after an escaped backslash, not after an escaped quote", () => {
    expect(parse(String.raw`tag eq "C:\\" and tag eq "b"`)).toEqual(
      readings(
        [
          ["tag eq", String.raw`C:\\`],
          ["tag eq", "b"],
        ],
        [
          ["tag eq", "C:\\"],
          ["tag eq", "b"],
        ],
      ),
    );
    expect(parse(String.raw`tag eq "C:\" and tag eq "b"`)).toMatchObject({ value: [{ length: 1 }, { length: 1 }] });
  });

  it("have at most six readings, with a title of backslashes and quotes", () => {
    expect(parse(String.raw`title eq "\\\"" and tag eq "b"`)).toMatchObject({ value: { length: 6 } });
  });

  it.each([
    'title eq "a" and',
    'title eq "a" and ',
    'and title eq "a"',
    'title eq "a" or favorite eq true',
    'title eq "a" favorite eq true',
    'favorite eq true and and tag eq "b"',
    'favorite eq true and name eq "b"',
  ])("are refused: %s", (filter) => {
    expect(parse(filter)).toEqual(REFUSED);
  });

  it.each([
    ["quotes and backslashes", /["\\]/g, 1],
    ["quotes", /"/g, 2],
  ])("are parsed to the same terms, for any values with escaped %s", (_, escaped, place) => {
    const text = fc
      .string({
        unit: fc.oneof(fc.constantFrom('"', "\\", " and "), fc.string({ unit: "grapheme", maxLength: 1 })),
        maxLength: 20,
      })
      // A filter whose backslashes are not escaped cannot contain a value that ends in one, or has one before a quote.
      .filter((value) => value.isWellFormed() && (place === 1 || !/\\(?:"|$)/.test(value)));
    const words = fc.constantFrom("title co", "tag eq");
    fc.assert(
      fc.property(fc.array(fc.tuple(words, text), { minLength: 1, maxLength: 4 }), (expected) => {
        const filter = expected.map(([word, value]) => `${word} "${value.replaceAll(escaped, "\\$&")}"`).join(" and ");
        const parsed = parse(filter);
        const found = parsed.ok ? parsed.value.map((reading) => reading.map(({ words: word, value }) => [word, value])) : [];
        expect(found.length).toBeLessThanOrEqual(3);
        expect(found.slice(0, place + 1)).toContainEqual(expected);
      }),
      { numRuns: runs(250) },
    );
  });
});
