import { describe, expect, it } from "vitest";
import { parseFilter } from "../../src/model/filter.ts";
import { parseQuery } from "../../src/model/query.ts";

/** Contract 5: filters, in the URL encodings that clients use. */

/** The result of parseFilter with these titles as readings, the preferred one first. */
const titleFilter = (...titles: string[]) => ({ ok: true, value: titles.map((value) => [{ words: "title eq", value }]) });
const REFUSED = { ok: false, failure: { kind: "filter" } };

describe("parseFilter parses a title eq filter", () => {
  it.each([
    ["Go", "filter=title+eq+%22My+Item%22", "My Item"],
    ["Go, with a plus in the title", "filter=title+eq+%22a%2Bb+c%22", "a+b c"],
    ["Go, with a percent escape in the title", "filter=title+eq+%22100%2520%22", "100%20"],
    ["Go, without a blank in the title", "filter=title+eq+%22a%2Bb%22", "a+b"],
    ["JavaScript", "filter=title%20eq%20%22My%20Item%22", "My Item"],
    ["JavaScript, with a plus in the title", "filter=title%20eq%20%22a%2Bb%22", "a+b"],
    ["JavaScript, with an unescaped plus in the title", 'filter=title%20eq%20"a+b"', "a+b"],
    ["JavaScript, with only the blanks escaped", 'filter=title%20eq%20"A%20&%20B=C"', "A & B=C"],
    ["Python's quote", "filter=title%20eq%20%22a/b%22", "a/b"],
    ["Python's quote_plus", "filter=title+eq+%22a%2Fb+c%22", "a/b c"],
    ["a shell, with unescaped blanks", 'filter=title eq "a+b c"', "a+b c"],
    ["an encoder with lower-case hexadecimal digits", "filter=title%20eq%20%22%c3%a9%22", "é"],
    ["an encoder of a character of four bytes of UTF-8", "filter=title%20eq%20%22%F0%9F%98%80%22", "😀"],
    ["a client that does not escape a final %", 'filter=title%20eq%20"100%"', "100%"],
    ["a client that does not escape a % without hexadecimal digits after it", 'filter=title%20eq%20"%zz%4"', "%zz%4"],
    ["a client that does not escape a quote in the title", 'filter=title%20eq%20"say%20"hi""', 'say "hi"'],
    ["a client with a backslash at the end of the title", "filter=title%20eq%20%22C:%5C%22", "C:\\"],
    ["a client with an empty title", "filter=title+eq+%22%22", ""],
    ["a client with a title of one quote", "filter=title+eq+%22%22%22", '"'],
    ["a client with blanks around the filter", "filter=++title++eq+%22x%22+", "x"],
    ["a client with blanks at the ends of the title", "filter=title+eq+%22+x+%22", " x "],
    ["a client with a line break in the title", "filter=title+eq+%22a%0Ab%22", "a\nb"],
    ["a client with other parameters before and after the filter", "limit=5&filter=title+eq+%22x%22&offset=2", "x"],
    ["a client with an unescaped parameter in the title", 'filter=title%20eq%20"a&filter=b"', "a&filter=b"],
    ["a client with bytes that are not UTF-8", "filter=title%20eq%20%22%FF%22", "\ufffd"],
    ["a client with a byte order mark in the title", "filter=title%20eq%20%22a%EF%BB%BFb%22", "a\ufeffb"],
  ])("as encoded by %s", (_, query, value) => {
    expect(parseFilter(parseQuery(query).filter, "items")).toEqual(titleFilter(value));
  });
});

describe("parseFilter reads a value with backslashes literally first, then with its escapes undone", () => {
  it.each([
    ["an escaped quote", 'say \\"hi\\"', ['say \\"hi\\"', 'say "hi"']],
    ["an escaped backslash", String.raw`DOMAIN\\user`, [String.raw`DOMAIN\\user`, String.raw`DOMAIN\user`]],
    ["a bare backslash, which escapes nothing", String.raw`DOMAIN\user`, [String.raw`DOMAIN\user`]],
    ["a bare backslash at the end", "C:\\", ["C:\\"]],
    ["both", String.raw`\\\"`, [String.raw`\\\"`, String.raw`\"`, String.raw`\\"`]],
    ["a run of backslashes", String.raw`\\\\x`, [String.raw`\\\\x`, String.raw`\\x`]],
    ["backslashes before a bare quote", String.raw`a\\"b`, [String.raw`a\\"b`, String.raw`a\"b`]],
  ])("%s", (_, value, titles) => {
    expect(parseFilter(encodeURIComponent(`title eq "${value}"`), "items")).toEqual(titleFilter(...titles));
    expect(parseFilter(encodeURIComponent(`title eq "${value}"`), "vaults")).toEqual(titleFilter(...titles));
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
  ] as const)("accepts for %s the term %s in any case", (list, words, canonical) => {
    expect(parseFilter(encodeURIComponent(`${words} "X"`), list)).toEqual({
      ok: true,
      value: [[{ words: canonical, value: "X" }]],
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
  ] as const)("refuses for %s the term %s", (list, words) => {
    expect(parseFilter(encodeURIComponent(`${words} "x"`), list)).toEqual(REFUSED);
  });

  it.each([
    '""',
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

  it("returns no terms for a query without the parameter filter", () => {
    for (const query of ["", "limit=5", "filters=x", "xfilter=title", "FILTER=x"]) {
      expect(parseFilter(parseQuery(query).filter, "items")).toEqual({ ok: true, value: [[]] });
    }
  });

  it("measures a value without its escapes", () => {
    expect(parseFilter(encodeURIComponent(`title eq "${'\\"'.repeat(4080)}"`), "items")).toMatchObject({ ok: true });
    expect(parseFilter(encodeURIComponent(`title eq "${"\\\\x".repeat(2049)}"`), "items")).toMatchObject({
      ok: false,
      failure: { kind: "invalid", detail: expect.stringContaining("4096") },
    });
  });

  it("accepts a value of 4 KiB of UTF-8, and refuses a longer one with a message that names the limit", () => {
    const [longest, tooLong] = [2048, 2049].map((length) => `filter=title%20eq%20"${"%C3%A9".repeat(length)}"`);
    expect(parseFilter(parseQuery(longest!).filter, "items")).toEqual(titleFilter("é".repeat(2048)));
    expect(parseFilter(parseQuery(tooLong!).filter, "items")).toMatchObject({
      ok: false,
      failure: { kind: "invalid", detail: expect.stringContaining("4096") },
    });
  });
});
