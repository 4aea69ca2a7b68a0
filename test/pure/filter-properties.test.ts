import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilter } from "../../src/model/filter.ts";
import { parseQuery } from "../../src/model/query.ts";
import { runs } from "../support/runs.ts";
import { CHARACTER } from "../support/characters.ts";

/** Contract 5.7 and 5.9: a title filter is read correctly for every title and for the URL encodings of JavaScript and Go. */

/** Go's url.QueryEscape: https://pkg.go.dev/net/url#QueryEscape. */
const queryEscape = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    if (/[A-Za-z0-9_.~-]/.test(character)) return character;
    return character === " " ? "+" : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");

describe("parseFilter", () => {
  const specialCharacters = fc.constantFrom(
    '"',
    "\\",
    "&",
    "%",
    "+",
    " ",
    "#",
    "=",
    "'",
    "%20",
    "%2B",
    "&filter=",
    "\ufeff",
    "\n",
    "\0",
    "é",
    "😀",
  );
  const text = fc
    .array(fc.oneof(specialCharacters, fc.string({ unit: CHARACTER, maxLength: 3 })), { maxLength: 12 })
    .map((parts) => parts.join(""));
  const wellFormed = text.filter((value) => value.isWellFormed());

  it.each([
    ["encodeURIComponent", encodeURIComponent],
    ["Go's QueryEscape", queryEscape],
  ])("reads every title that %s encoded: as it is in the first reading, with its escapes undone in a later one", (_, encode) => {
    fc.assert(
      fc.property(wellFormed, (value) => {
        for (const [escaped, places] of [
          [value, [0]],
          [value.replaceAll(/["\\]/g, "\\$&"), [0, 1]],
          [value.replaceAll('"', '\\"'), [0, 1, 2]],
        ] as const) {
          const readings = parseFilter(encode(`title eq "${escaped}"`), "items");
          const titles = readings.ok ? readings.value.map(([term]) => term!.value) : [];
          expect(places).toContain(titles.indexOf(value));
          expect(titles.length).toBeLessThanOrEqual(escaped.includes("\\") ? 3 : 1);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("returns a result and does not throw for any query", () => {
    const piece = fc.constantFrom(
      "filter=",
      "title eq ",
      "tag%20eq%20",
      '"',
      "%22",
      "%",
      "%2",
      "%ff%fe",
      "&",
      "+",
      "\\",
      "\ud800",
      "\udc00",
    );
    const query = fc.array(fc.oneof(piece, fc.string({ unit: CHARACTER })), { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(query, fc.constantFrom("items" as const, "vaults" as const), (raw, list) => {
        expect(typeof parseFilter(parseQuery(raw).filter, list).ok).toBe("boolean");
      }),
      { numRuns: runs(300) },
    );
  });
});
