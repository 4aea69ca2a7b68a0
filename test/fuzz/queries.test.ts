import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFilter, parseCount, parsePage, parseQuery } from "../../src/model/query.ts";
import { runs } from "../support/runs.ts";

/** Contract 5.7: the raw query of a list, with a filter in incomplete percent-encoding and other parameters. */

const name = fc.constantFrom("limit", "cursor", "x", "Filter", "filters", "a filter", "");
const value = fc.string({ unit: fc.constantFrom("a", "1", " ", "+", "&", "=", "%", "é", "?", "/", "filter="), maxLength: 6 });
const parameters = fc.array(fc.tuple(name, value), { maxLength: 3 });
const write = (all: [string, string][]) => all.map(([one, other]) => `${encodeURIComponent(one)}=${encodeURIComponent(other)}`);

const title = fc.string({ unit: fc.constantFrom('"', "&", "%", "=", " ", "a", "é", "filter=", "&limit=1"), maxLength: 6 });
/** A filter in the encodings that clients use: complete, incomplete or none. */
const encodedTitle = fc.tuple(
  title,
  fc.constantFrom<(text: string) => string>(
    encodeURIComponent,
    encodeURI,
    (text) => text.replaceAll(" ", "+"),
    (text) => text,
  ),
);

describe("a query", () => {
  it("is split into the filter and the other parameters, for any values and any order", () => {
    fc.assert(
      fc.property(parameters, encodedTitle, parameters, (before, [text, encode], after) => {
        const filter = encode(`title eq "${text}"`);
        const raw = [...write(before), `filter=${filter}`, ...write(after)].join("&");
        const query = parseQuery(raw);
        expect(query.filter).toBe(filter);
        expect([...query.rest]).toEqual([...before, ...after]);
      }),
      { numRuns: runs(200) },
    );
  });

  it("without a parameter filter is parsed as URLSearchParams does", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "&", "=", "%", "%22", "+", '"', "filter", "filte", "é"), maxLength: 12 });
    fc.assert(
      fc.property(text, (raw) => {
        const { filter, rest } = parseQuery(raw);
        const hasFilter = raw.split("&").some((part) => part.startsWith("filter="));
        expect([filter !== undefined, ...(hasFilter ? [] : rest)]).toEqual([
          hasFilter,
          ...(hasFilter ? [] : new URLSearchParams(raw)),
        ]);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Reference implementation: each escape becomes its byte, and each other character its bytes in UTF-8. */
function decodeReference(raw: string): string {
  const plus = raw.includes("%20") || raw.includes(" ");
  const bytes: number[] = [];
  for (let at = 0; at < raw.length;) {
    const escape = /^%[0-9a-fA-F]{2}/.exec(raw.slice(at))?.[0];
    const character = escape ?? String.fromCodePoint(raw.codePointAt(at)!);
    at += character.length;
    if (escape) bytes.push(parseInt(escape.slice(1), 16));
    else bytes.push(...new TextEncoder().encode(character === "+" && !plus ? " " : character));
  }
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

describe("decodeFilter", () => {
  it("decodes any text as the reference implementation does", () => {
    const unit = fc.constantFrom(
      "%",
      "%2",
      "%20",
      "%22",
      "%2B",
      "%C3",
      "%A9",
      "%f0",
      "%9F",
      "%EF%BB%BF",
      "+",
      " ",
      "a",
      "2",
      "é",
      "😀",
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 10 }), (raw) => {
        expect(decodeFilter(raw)).toBe(decodeReference(raw));
      }),
      { numRuns: runs(300) },
    );
  });
});

const number = fc.oneof(
  fc.integer().map(String),
  fc.nat(1200).map(String),
  fc.constantFrom("", "00", "01", "1e3", "1.0", " 1", "1 ", "+1", "٣", "0x10", "999999999999999", "1000000000000000", "NaN"),
  fc.string({ maxLength: 4 }),
);

describe("limit and cursor", () => {
  it("accept only integers within their bounds, written in digits", () => {
    fc.assert(
      fc.property(number, fc.nat(20), fc.nat(1200), (text, least, more) => {
        const count = { name: "n", minimum: least, maximum: least + more };
        const parsed = parseCount(new URLSearchParams({ n: text }), count);
        const valid = /^[0-9]+$/.test(text) && text.length <= 15 && Number(text) >= least && Number(text) <= least + more;
        expect(parsed.ok ? parsed.value : parsed.failure.kind).toBe(valid ? Number(text) : "invalid");
      }),
      { numRuns: runs(200) },
    );
  });

  it("give a page or an invalid failure, for any text", () => {
    const cursor = fc.oneof(fc.uuid(), fc.stringMatching(/^[a-z0-9]{26}$/), fc.string({ maxLength: 40 }));
    fc.assert(
      fc.property(number, cursor, (limit, after) => {
        const page = parsePage({ filter: undefined, rest: new URLSearchParams({ limit, cursor: after }) });
        const kind = page.ok ? typeof page.value.limit + typeof page.value.after : page.failure.kind;
        expect(["numberstring", "invalid"]).toContain(kind);
      }),
      { numRuns: runs(100) },
    );
  });
});
