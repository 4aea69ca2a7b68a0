import { describe, expect, it } from "vitest";
import { parseFilter } from "../../src/model/filter.ts";
import { parseQuery } from "../../src/model/query.ts";

/** Contract 1.5: filters, as the clients of this world write them into the query. */

const title = (value: string) => ({ ok: true, value: [[{ words: "title eq", value }]] });
const REFUSED = { ok: false, failure: { kind: "filter" } };

describe("parseFilter reads a title", () => {
  it.each([
    ["Go", "filter=title+eq+%22My+Item%22", "My Item"],
    ["Go, with a plus in it", "filter=title+eq+%22a%2Bb+c%22", "a+b c"],
    ["Go, with an escape in it", "filter=title+eq+%22100%2520%22", "100%20"],
    ["Go, with no blank in it", "filter=title+eq+%22a%2Bb%22", "a+b"],
    ["JavaScript", "filter=title%20eq%20%22My%20Item%22", "My Item"],
    ["JavaScript, with a plus in it", "filter=title%20eq%20%22a%2Bb%22", "a+b"],
    ["JavaScript that does not escape a plus", 'filter=title%20eq%20"a+b"', "a+b"],
    ["JavaScript that escapes nothing but blanks", 'filter=title%20eq%20"A%20&%20B=C"', "A & B=C"],
    ["Python's quote", "filter=title%20eq%20%22a/b%22", "a/b"],
    ["Python's quote_plus", "filter=title+eq+%22a%2Fb+c%22", "a/b c"],
    ["a shell, blanks as they are", 'filter=title eq "a+b c"', "a+b c"],
    ["small hexadecimal digits", "filter=title%20eq%20%22%c3%a9%22", "é"],
    ["four bytes of UTF-8", "filter=title%20eq%20%22%F0%9F%98%80%22", "😀"],
    ["a % alone", 'filter=title%20eq%20"100%"', "100%"],
    ["a % before no hexadecimal digits", 'filter=title%20eq%20"%zz%4"', "%zz%4"],
    ["a bare quote inside", 'filter=title%20eq%20"say%20"hi""', 'say "hi"'],
    ["an escaped quote inside", "filter=title%20eq%20%22say%20%5C%22hi%5C%22%22", 'say "hi"'],
    ["a backslash at the end", "filter=title%20eq%20%22C:%5C%22", "C:\\"],
    ["the empty title", "filter=title+eq+%22%22", ""],
    ["one quote", "filter=title+eq+%22%22%22", '"'],
    ["blanks around it", "filter=++title++eq+%22x%22+", "x"],
    ["blanks in the title's ends", "filter=title+eq+%22+x+%22", " x "],
    ["a line break", "filter=title+eq+%22a%0Ab%22", "a\nb"],
    ["other parameters around it", "limit=5&filter=title+eq+%22x%22&offset=2", "x"],
    ["what looks like a parameter in it", 'filter=title%20eq%20"a&filter=b"', "a&filter=b"],
    ["bytes that are no UTF-8", "filter=title%20eq%20%22%FF%22", "\ufffd"],
    ["a byte order mark inside", "filter=title%20eq%20%22a%EF%BB%BFb%22", "a\ufeffb"],
  ])("as %s sends it", (_, query, value) => {
    expect(parseFilter(parseQuery(query).filter, "items")).toEqual(title(value));
  });
});

describe("parseFilter", () => {
  it.each([
    ["items", "title eq", "title eq"],
    ["items", "TITLE Eq", "title eq"],
    ["items", "Title CO", "title co"],
    ["items", "tAg eQ", "tag eq"],
    ["vaults", "NAME eq", "name eq"],
    ["vaults", "title EQ", "title eq"],
  ] as const)("knows, of %s, %s in any case", (list, words, known) => {
    expect(parseFilter(encodeURIComponent(`${words} "X"`), list)).toEqual({
      ok: true,
      value: [[{ words: known, value: "X" }]],
    });
  });

  it.each([
    ["items", "name eq"],
    ["items", "tag co"],
    ["items", "title ne"],
    ["items", "title"],
    ["items", "constructor eq"],
    ["items", "not title eq"],
    ["vaults", "title co"],
    ["vaults", "tag eq"],
  ] as const)("refuses, of %s, %s", (list, words) => {
    expect(parseFilter(encodeURIComponent(`${words} "x"`), list)).toEqual(REFUSED);
  });

  it.each([
    "",
    "x",
    "title eq 'x'",
    "title eq x",
    'title eq "x',
    'title eq x"',
    'title eq "x" or',
    'title eq "x" and title eq y',
    'titleeq"x"',
    '"x"',
  ])("refuses %j", (filter) => {
    expect(parseFilter(encodeURIComponent(filter), "items")).toEqual(REFUSED);
  });

  it("finds no filter where none is", () => {
    for (const query of ["", "limit=5", "filters=x", "xfilter=title", "FILTER=x"]) {
      expect(parseFilter(parseQuery(query).filter, "items")).toEqual({ ok: true, value: [[]] });
    }
  });

  it("takes 4 KiB of UTF-8, and names that limit above it", () => {
    const [most, more] = [2048, 2049].map((length) => `filter=title%20eq%20"${"%C3%A9".repeat(length)}"`);
    expect(parseFilter(parseQuery(most!).filter, "items")).toEqual(title("é".repeat(2048)));
    expect(parseFilter(parseQuery(more!).filter, "items")).toMatchObject({
      ok: false,
      failure: { kind: "invalid", detail: expect.stringContaining("4096") },
    });
  });
});
